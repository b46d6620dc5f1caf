"""95 % intervals of what was counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import binom

from bench.truth.metric import Counts
from bench.truth.series import Values

Interval = tuple[float, float]
_Z = 1.959964
_DRAWS = 1000
_SEED = 5
# No event in n series: up to 3.69 / n are not ruled out (Poisson, 2.5 %).
_NONE_SEEN = 3.69


def wilson(part: int, whole: int) -> Interval:
    """Of a share (Wilson, JASA 22, 1927)."""
    if not whole:
        return 0.0, 1.0
    share, square = part / whole, _Z**2 / whole
    middle = (share + square / 2.0) / (1.0 + square)
    reach = _Z * math.sqrt((share * (1.0 - share) + square / 4.0) / whole) / (1.0 + square)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def of_f1(counts: Sequence[Counts]) -> Interval:
    """Bootstrap over series."""
    return _bootstrap(_table(counts), _f1)


def of_f1_difference(counts: Sequence[Counts], others: Sequence[Counts]) -> Interval:
    """Of the first F1 less the second, of two detectors over the same series in the same order."""
    table = np.hstack([_table(counts), _table(others)])
    return _bootstrap(table, lambda sums: _f1(sums[:, :3]) - _f1(sums[:, 3:]))


def _table(counts: Sequence[Counts]) -> Values:
    return np.array([(c.right, c.missed, c.false) for c in counts], dtype=np.float64)


def _f1(sums: Values) -> Values:
    right, others = 2.0 * sums[:, 0], sums[:, 1:].sum(axis=1)
    return np.asarray(right / np.maximum(right + others, 1.0))


def of_rate(events: Sequence[int]) -> Interval:
    """Of events a series, drawn series by series: those of one series are no replicates."""
    table = np.array(events, dtype=np.float64)[:, None]
    if not table.any():
        return 0.0, _NONE_SEEN / len(table)
    return _bootstrap(table, lambda sums: np.asarray(sums[:, 0] / len(table)))


def of_median(values: Sequence[int]) -> Interval:
    """By order: as many values lie on each side as a fair coin gives (Thompson, 1936)."""
    ranked = sorted(values)
    off = int(binom.ppf(0.025, len(ranked), 0.5)) - 1
    low = max(off, 0)
    return float(ranked[low]), float(ranked[-1 - low])


def _bootstrap(table: Values, figure: Callable[[Values], Values]) -> Interval:
    rng = np.random.default_rng(_SEED)
    series = len(table)
    often = rng.multinomial(series, np.full(series, 1.0 / series), size=_DRAWS)
    low, high = np.quantile(figure(often.astype(np.float64) @ table), (0.025, 0.975))
    return float(low), float(high)
