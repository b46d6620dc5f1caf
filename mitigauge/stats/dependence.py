"""How much more a mean scatters because neighbours in time are alike.

Runs of one week share a state of the host, so values that follow each other are alike, and their
random orders scatter less than what really happens. For a first-order autoregression with
correlation φ the variance of a mean is larger by (1 + φ) / (1 − φ) than that of independent values.
"""

from __future__ import annotations

import numpy as np

from mitigauge.stats.boot_means import Floats

# Fewer values say nothing of it.
_FEWEST = 12
_LARGEST_CORRELATION = 0.9
# Few steps of the level hardly move a mean of the smaller part of all differences.
_KEPT = 0.8


def correlation(values: Floats) -> float:
    """Correlation φ of neighbours, from differences, so that a few steps of the level hardly matter.

    Of an autoregression, E(x[t] − x[t−1])² = 2σ²·(1 − φ) and E(x[t] − x[t−2])² = 2σ²·(1 − φ²): their
    ratio is 1 + φ. The largest fifth of each is left out. 0 where there are too few values.
    """
    if len(values) < _FEWEST:
        return 0.0
    one, two = (_trimmed(values[lag:] - values[:-lag]) for lag in (1, 2))
    if one <= 0.0:
        return 0.0
    return float(np.clip(two / one - 1.0, 0.0, _LARGEST_CORRELATION))


def inflation(values: Floats) -> float:
    """(1 + φ) / (1 − φ), at least 1."""
    phi = correlation(values)
    return (1.0 + phi) / (1.0 - phi)


def _trimmed(differences: Floats) -> float:
    squares = np.sort(np.square(differences))
    return float(squares[: max(1, int(_KEPT * len(squares)))].mean())
