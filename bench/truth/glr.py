"""A generalised likelihood ratio for one step of the mean, without what ours knows besides.

With normal noise of known deviation σ the root of twice the log of the ratio is

    |mean after − mean before| / (σ·√(1/a + 1/b)).
"""

from __future__ import annotations

import math

import numpy as np

from bench.truth.series import Values

THRESHOLD = 5.4
SHORTEST = 3
_ROBUST = 1.4826
_TINY = float(np.finfo(float).tiny)


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
    return _split(values, 0, threshold * max(noise, _TINY))


def _split(values: Values, first: int, reach: float) -> list[int]:
    if len(values) < 2 * SHORTEST:
        return []
    ratios = _ratios(values)
    best = int(np.argmax(ratios))
    middle = SHORTEST + best
    if ratios[best] <= reach:
        return []
    before = _split(values[:middle], first, reach)
    after = _split(values[middle:], first + middle, reach)
    return [*before, first + middle, *after]


def _ratios(values: Values) -> Values:
    """For a deviation of 1, of each place that leaves enough values on both sides."""
    size = len(values)
    left = np.arange(SHORTEST, size - SHORTEST + 1)
    sums = np.cumsum(values - values.mean())[left - 1]
    return np.asarray(np.abs(sums) * np.sqrt(1.0 / left + 1.0 / (size - left)))
