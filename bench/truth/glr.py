"""A generalised likelihood ratio for one step of the mean, applied again to both parts.

With normal noise of known deviation σ the root of twice the log of the ratio is

    |mean after − mean before| / (σ·√(1/a + 1/b)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bench.truth.series import Values
from mitigauge.core.stats.change_points import wild
from mitigauge.core.stats.dependence import long_run_variance

THRESHOLD = 5.4
LOWER = 4.8
SHORTEST = 3
_ROBUST = 1.4826
_TINY = float(np.finfo(float).tiny)

Deviation = Callable[[Values, int], float]
"""Of a stretch that may be split at a place: what its noise deviates by."""


def places(values: Values, threshold: float = THRESHOLD) -> list[int]:
    """Where the mean steps.

    One deviation for the whole series, told robustly from differences of neighbours, which a few
    steps hardly touch.
    """
    differences = np.diff(values)
    off = np.abs(differences - np.median(differences))
    # Where more than half of them are the same, their median says nothing of the noise.
    apart = _ROBUST * float(np.median(off)) or float(differences.std())
    noise = apart / math.sqrt(2.0)
    return _split(values, 0, threshold, lambda _part, _middle: noise)


def places_when_alike(values: Values, threshold: float = THRESHOLD) -> list[int]:
    """Where the mean steps, with what our own detector knows besides.

    Wild values leave, and the noise is that of an autoregression's mean, of each stretch anew.
    """
    normal = np.flatnonzero(~wild(values, 0.0))
    found = _split(values[normal], 0, threshold, _of_alike)
    return [int(normal[place]) for place in found]


def _of_alike(values: Values, middle: int) -> float:
    sides = values[:middle], values[middle:]
    levels = np.concatenate([np.full(len(side), side.mean()) for side in sides])
    return math.sqrt(long_run_variance(values, levels))


def _split(values: Values, first: int, threshold: float, deviation: Deviation) -> list[int]:
    if len(values) < 2 * SHORTEST:
        return []
    ratios = _ratios(values)
    best = int(np.argmax(ratios))
    middle = SHORTEST + best
    if ratios[best] <= threshold * max(deviation(values, middle), _TINY):
        return []
    before = _split(values[:middle], first, threshold, deviation)
    after = _split(values[middle:], first + middle, threshold, deviation)
    return [*before, first + middle, *after]


def _ratios(values: Values) -> Values:
    """For a deviation of 1, of each place that leaves enough values on both sides."""
    size = len(values)
    left = np.arange(SHORTEST, size - SHORTEST + 1)
    sums = np.cumsum(values - values.mean())[left - 1]
    return np.asarray(np.abs(sums) * np.sqrt(1.0 / left + 1.0 / (size - left)))
