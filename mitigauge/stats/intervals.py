"""The mean of a few boots with its interval, for figures that nothing is judged by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

LEVEL = 0.95


def mean_interval(
    values: Sequence[float], *, by_factors: bool
) -> tuple[float, float | None, float | None]:
    """Mean of *values* and Student's 95 % interval of it, which a single value has not.

    With *by_factors* the mean is geometric, and all values must be above 0.
    """
    from scipy import special

    y = np.log(values) if by_factors else np.asarray(values, dtype=np.float64)
    mean = float(y.mean())
    back = _from_log if by_factors else float
    if len(y) < 2:
        return back(mean), None, None
    error = float(y.std(ddof=1)) / math.sqrt(len(y))
    reach = float(special.stdtrit(len(y) - 1, 0.5 + LEVEL / 2)) * error
    return back(mean), back(mean - reach), back(mean + reach)


def _from_log(y: float) -> float:
    # The largest exponent that a float holds.
    return math.exp(min(y, 709.78))
