"""Do two groups of boots differ, function by function? Pure.

Each boot gives one value; Welch's t test (Biometrika 34, 1947) compares the means
without taking the groups to scatter alike, with Satterthwaite's degrees of freedom.
q is Benjamini and Hochberg's (J. R. Stat. Soc. B 57, 1995), over everything that was
compared, also what has no p: a function without scatter in either group counts as one
more question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

INTERVAL_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Compared:
    """Means, difference b − a with its interval, p and q, by column; NaN where unknown."""

    a: Floats
    b: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats


def compare_groups(a: Floats, b: Floats) -> Compared:
    """Compare ``a[boot, column]`` with ``b[boot, column]``.

    With fewer than two boots on a side there is neither interval nor p.
    """
    mean_a, mean_b = a.mean(axis=0), b.mean(axis=0)
    unknown = np.full(mean_a.shape, np.nan)
    if len(a) < 2 or len(b) < 2:
        return Compared(mean_a, mean_b, unknown, unknown, unknown, unknown)
    part_a = a.var(axis=0, ddof=1) / len(a)
    part_b = b.var(axis=0, ddof=1) / len(b)
    squared = part_a + part_b
    varies = squared > 0
    error = np.sqrt(np.where(varies, squared, 1.0))
    freedom = np.where(varies, squared, 1.0) ** 2 / np.where(
        varies, part_a**2 / (len(a) - 1) + part_b**2 / (len(b) - 1), 1.0
    )
    difference = mean_b - mean_a
    p = np.where(varies, 2.0 * special.stdtr(freedom, -np.abs(difference) / error), np.nan)
    reach = special.stdtrit(freedom, 0.5 + INTERVAL_LEVEL / 2.0) * error
    return Compared(
        mean_a,
        mean_b,
        np.where(varies, difference - reach, np.nan),
        np.where(varies, difference + reach, np.nan),
        p,
        q_values(p),
    )


def q_values(p: Floats) -> Floats:
    """Benjamini and Hochberg's q; NaN stays, and counts among the questions."""
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    scaled = p[order] * len(p) / np.arange(1, len(order) + 1)
    q = np.full(p.shape, np.nan)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q
