"""Whether two groups of boots differ, function by function. Pure.

Each boot gives one value. p is Student's with pooled variance: it
asks whether a function costs the same in both groups, and groups that are alike scatter
alike. The interval, which speaks of groups that differ, is Welch's (Biometrika 34, 1947)
with Satterthwaite's degrees of freedom and does not take them to scatter alike.
q is Benjamini and Hochberg's (J. R. Stat. Soc. B 57, 1995), over everything that costs
enough to matter, and was seen in as many boots, of both groups together, as the smaller
group has. The rest could not differ credibly and is no question: a filter blind to the
groups leaves q valid (Bourgon and others, PNAS 107, 2010). What has no p for want of
scatter stays a question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats import special
from mitigauge.core.stats.multiplicity import q_values

Floats = NDArray[np.float64]

INTERVAL_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Comparison:
    """Means, difference b − a with its interval, p and q, by function; NaN where unknown."""

    a: Floats
    b: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats


def compare_groups(a: Floats, b: Floats, *, asked: NDArray[np.bool_] | None = None) -> Comparison:
    """Compare ``a[function, boot]`` with ``b[function, boot]``.

    *asked* tells which have a q at all, if not every function that is seen often enough.
    With fewer than two boots on a side there is neither interval nor p.
    """
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    unknown = np.full(mean_a.shape, np.nan)
    boots_a, boots_b = a.shape[1], b.shape[1]
    if boots_a < 2 or boots_b < 2:
        return Comparison(mean_a, mean_b, unknown, unknown, unknown, unknown)
    part_a, part_b = _squared_error(a, mean_a), _squared_error(b, mean_b)
    squared = part_a + part_b
    varies = squared > 0
    squared = np.where(varies, squared, 1.0)
    spread = part_a**2 / (boots_a - 1) + part_b**2 / (boots_b - 1)
    freedom = squared**2 / np.where(varies, spread, 1.0)
    error = np.sqrt(squared)
    difference = mean_b - mean_a
    p = np.where(varies, _student(difference, part_a, part_b, boots_a, boots_b), np.nan)
    reach = np.where(varies, _critical(freedom, boots_a + boots_b) * error, np.nan)
    seen = np.count_nonzero(a, axis=1) + np.count_nonzero(b, axis=1)
    often = seen >= min(boots_a, boots_b)
    asked = often if asked is None else often & asked
    q = np.full(p.shape, np.nan)
    q[asked] = q_values(p[asked])
    return Comparison(mean_a, mean_b, difference - reach, difference + reach, p, q)


def _student(
    difference: Floats, part_a: Floats, part_b: Floats, boots_a: int, boots_b: int
) -> Floats:
    """Two-sided p with pooled variance, from squared standard errors of the means."""
    freedom = boots_a + boots_b - 2
    sums = part_a * boots_a * (boots_a - 1) + part_b * boots_b * (boots_b - 1)
    squared = sums / freedom * (1.0 / boots_a + 1.0 / boots_b)
    error = np.sqrt(np.where(squared > 0, squared, 1.0))
    tail = special.stdtr(freedom, -np.abs(difference) / error)
    return 2.0 * np.asarray(tail, dtype=np.float64)


def _squared_error(values: Floats, mean: Floats) -> Floats:
    boots = values.shape[1]
    deviation = values - mean[:, None]
    squared: Floats = np.einsum("ij,ij->i", deviation, deviation) / (boots * (boots - 1))
    return squared


def _critical(freedom: Floats, boots: int) -> Floats:
    """Student's quantile for the interval, from a grid: it is smooth in 1/freedom, and slow."""
    grid, critical = _quantiles(boots)
    inverse = np.clip(1.0 / np.maximum(freedom, 1.0), grid[0], 1.0)
    reached: Floats = np.interp(inverse, grid, critical)
    return reached


@lru_cache(maxsize=64)
def _quantiles(boots: int) -> tuple[Floats, Floats]:
    """Student's quantiles over 1/freedom; Welch's freedom lies between 1 and all boots together."""
    grid = np.linspace(1.0 / boots, 1.0, 2000)
    critical: Floats = np.asarray(special.stdtrit(1.0 / grid, 0.5 + INTERVAL_LEVEL / 2.0), float)
    return grid, critical
