"""On which scale a metric is compared, and how differences there become percent.

Times, rates and sizes act by factors, so they are compared on the log scale. A
count or a proportion may be zero or near a bound, where logarithms are infinite
or mislead; these, and whatever shows a value ≤ 0, are compared on the linear
scale, in percent of the baseline's mean. All arms of a case share one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.boot_means import Floats

Scale = Literal["log", "linear"]

LINEAR_UNITS = frozenset({"count", "counts", "percent", "%", "ratio", "proportion"})


@dataclass(frozen=True, slots=True)
class ScaledCases:
    """Boot means of several cases, ready for the model.

    ``y[case, arm, block]`` is the logarithm, or the value over ``magnitude``, the
    case's largest absolute value, so that no unit is too large or too small.
    """

    y: Floats
    log: NDArray[np.bool_]
    magnitude: Floats

    def means(self, blocks: slice) -> Floats:
        """Means ``[case, arm]`` in the metric's unit, geometric on the log scale; NaN: no boot."""
        y = self.y[:, :, blocks]
        there = ~np.isnan(y)
        count = there.sum(axis=2)
        total = np.where(there, y, 0.0).sum(axis=2)
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        log = self.log[:, None]
        # The cap is the largest exponent that a float holds.
        geometric = np.exp(np.minimum(np.where(log, mean, 0.0), 709.78))
        return np.where(log, geometric, np.where(log, 0.0, mean) * self.magnitude[:, None])

    def percent(self, difference: Floats, baseline_mean: Floats) -> Floats:
        """*difference* ``[case, …]`` of y in percent of the baseline; NaN: its mean is 0."""
        # The cap keeps absurd intervals (two wild boots) finite.
        factor = 100.0 * np.expm1(np.clip(difference, -600.0, 600.0))
        share = np.abs(baseline_mean) / self.magnitude
        base = np.where(share > 1e-12, share, np.nan)[:, None]
        share_of_base = np.where(difference == 0, 0.0, 100.0 * difference / base)
        return np.where(self.log[:, None], factor, share_of_base)


def scale_cases(values: Floats, units: Sequence[str]) -> ScaledCases:
    """Choose each case's scale for *values* ``[case, arm, block]`` (NaN: no boot that counts)."""
    linear_unit = np.array([unit.strip().lower() in LINEAR_UNITS for unit in units], dtype=np.bool_)
    there = ~np.isnan(values)
    positive = ~((values <= 0) & there).any(axis=(1, 2))
    log = positive & ~linear_unit
    largest = np.abs(np.where(there, values, 0.0)).max(axis=(1, 2), initial=0.0)
    magnitude = np.where(largest > 0, largest, 1.0)
    by_log = log[:, None, None]
    logarithm = np.log(np.where(by_log & there, values, 1.0))
    y = np.where(by_log, logarithm, values / magnitude[:, None, None])
    return ScaledCases(np.where(there, y, np.nan), log, magnitude)
