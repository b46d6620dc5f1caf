"""How much a mean scatters when neighbours in time are alike.

Runs that follow each other share a state of the host, so their values are alike, and random orders
of them promise less scatter between two stretches than there is. For a first-order autoregression
with variance σ² and correlation φ the mean of n values has the variance

    σ² / n · (1 + φ) / (1 − φ).

φ is told twice, and the smaller answer is taken: from what is left of the values when their levels
are taken away, which further steps of the level spoil upwards, and from differences, which a few
steps hardly touch but which few values tell poorly. E(x[t] − x[t−1])² = 2σ²·(1 − φ) and
E(x[t] − x[t−2])² = 2σ²·(1 − φ²), so that their ratio is 1 + φ, and the first one tells σ².
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.boot_means import Floats

# Fewer values say nothing of a correlation.
_FEWEST = 12
_LARGEST_CORRELATION = 0.9
_FEWEST_BLOCKS = 8
# Of a normal distribution, above it lies 1 %.
_ONE_SIDED_STEPS = 2.326
# Of a square on a scale where boots are around 1, or logarithms around 0.
_ROUNDING = 1e-18
# The largest fifth of the squares is left out; of normal noise the others' mean is this share.
_KEPT = 0.8
_SHARE_OF_KEPT = 0.4377


def correlation(values: Floats, levels: Floats) -> float:
    """Correlation φ of neighbours, from 0 to 0.9; 0 where there are too few values.

    *levels*: of each value, the mean of the stretch that it is in.
    """
    if len(values) < _FEWEST:
        return 0.0
    rest = values - levels
    total = float(rest @ rest)
    if total <= 0.0:
        return 0.0
    left = float(rest[1:] @ rest[:-1]) / total
    return float(np.clip(min(left, _from_differences(values)), 0.0, _LARGEST_CORRELATION))


def _from_differences(values: Floats) -> float:
    one, two = (_mean_square(values[lag:] - values[:-lag]) for lag in (1, 2))
    if one <= 0.0:
        return 0.0
    return two / one - 1.0


def long_run_variance(values: Floats, levels: Floats) -> float:
    """σ²·(1 + φ) / (1 − φ): n times the variance of the mean of n values between two changes."""
    if len(values) < 2:
        return 0.0
    phi = correlation(values, levels)
    variance = _mean_square(np.diff(values)) / (2.0 * (1.0 - phi))
    return variance * (1.0 + phi) / (1.0 - phi)


def _mean_square(differences: Floats) -> float:
    squares = np.sort(np.square(differences))
    return float(squares[: max(1, int(_KEPT * len(squares)))].mean()) / _SHARE_OF_KEPT


def neighbours_alike(y: Floats, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of each ``y[case, arm, block]``, whether arm or baseline, arm 0, stay where they were.

    ``[case, arm]``. The differences of an arm to the baseline are set beside those one block
    later. Of B blocks that are independent the correlation has the mean -1/B and the variance 1/B
    in good approximation, however far either of both scatters; they are *alike* where it is above
    with a probability of 1 %. False with fewer than ``_FEWEST_BLOCKS`` that both have.
    """
    alike = np.zeros(y.shape[:2], dtype=np.bool_)
    for arm in range(1, y.shape[1]):
        both = present[0] & present[arm]
        blocks = int(both.sum())
        if blocks < _FEWEST_BLOCKS:
            continue
        rest = y[:, arm][:, both] - y[:, 0][:, both]
        rest = rest - rest.mean(axis=1, keepdims=True)
        total = np.square(rest).sum(axis=1)
        beside = (rest[:, 1:] * rest[:, :-1]).sum(axis=1)
        # Rounding is no scatter.
        varies = total > _ROUNDING * blocks
        found = np.divide(beside, total, out=np.full_like(total, -np.inf), where=varies)
        alike[:, arm] = (found + 1.0 / blocks) * np.sqrt(blocks) > _ONE_SIDED_STEPS
    return alike
