"""The mean of an arm's boots with its interval: Student's t over boot means, on the metric's scale.

Times, rates and sizes act by factors, so their mean is geometric and its interval one of factors;
counts and proportions are taken as they are, and so is whatever has a value ≤ 0 (stats/scale.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.scale import LINEAR_UNITS
from mitigauge.core.stats.terms import INTERVAL_LEVEL

# The largest exponent that a float holds.
LARGEST_EXPONENT = 709.78


@dataclass(frozen=True, slots=True)
class BootInterval:
    """A mean over boots, in the metric's unit; no interval of one boot."""

    mean: float
    low: float | None
    high: float | None
    boots: int


def boot_interval(means: Sequence[float], unit: str) -> BootInterval:
    """The mean of boot *means*, of which there is one at least, with its 95 % interval."""
    return mean_interval(means, on_log=by_factors(unit, means))


def mean_interval(means: Sequence[float], *, on_log: bool) -> BootInterval:
    """The same on a scale that the caller chose: *on_log* needs values above 0."""
    y = np.log(means) if on_log else np.asarray(means, dtype=np.float64)
    mean = float(y.mean())
    low = high = None
    if len(y) > 1:
        t = float(special.stdtrit(len(y) - 1, 0.5 + INTERVAL_LEVEL / 2))
        reach = t * float(y.std(ddof=1)) / math.sqrt(len(y))
        low, high = mean - reach, mean + reach
    back = _from_log if on_log else float
    return BootInterval(
        back(mean),
        None if low is None else back(low),
        None if high is None else back(high),
        len(y),
    )


def by_factors(unit: str, values: Iterable[float]) -> bool:
    """Whether a metric is compared on the log scale, as verdicts do it."""
    return unit.strip().lower() not in LINEAR_UNITS and all(value > 0 for value in values)


def _from_log(y: float) -> float:
    return math.exp(min(y, LARGEST_EXPONENT))
