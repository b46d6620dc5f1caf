"""Whether the largest difference within a series could be chance (the permutation test).

Under the null hypothesis the values of a series may stand in any order. The p value of the largest
statistic over all places is the share of random orders whose own largest one is at least as large,
the order that was observed counted with them (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9,
2010):

    p = (1 + number of orders with max Q* ≥ max Q) / (1 + orders).

So the probability that a null series is called changed is α at most, whatever its distribution is.
A series leaves as soon as so many orders have reached its own that p cannot come to α any more
(curtailed, Besag and Clifford, Biometrika 78, 1991): the outcome is that of the whole test, and
most series need some twenty orders instead of all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.energy import (
    Places,
    all_middles,
    gaps_of,
    knots,
    places,
    ranks_of,
    weights,
)

ORDERS = 999
SEED = 20140301
_FIRST_CHUNK = 16
# Single precision: what is equal but for rounding counts as reached.
_ROUNDING = 1.0 - 1e-5
_LARGEST_ARRAY = 1 << 21


@dataclass(frozen=True, slots=True)
class Largest:
    """Of each series: its p value, and where its largest statistic is.

    *p* is exact where it is at most α; above it, it is what was known when the series left.
    """

    p: Floats
    start: NDArray[np.intp]
    middle: NDArray[np.intp]
    end: NDArray[np.intp]


def largest_differences(
    values: Floats,
    *,
    alpha: float,
    shortest: int,
    orders: int = ORDERS,
    seed: int = SEED,
) -> Largest:
    """Test each row of *values* ``[series, n]`` for one change or more. No NaN.

    The same orders serve all rows and every later call: the same values give the same answer.
    """
    series, length = values.shape
    at = places(length, shortest)
    if not len(at) or not series:
        none = np.zeros(series, dtype=np.intp)
        return Largest(np.ones(series), none, none, none)
    gaps = gaps_of(values)
    best, where = _observed(values, gaps, at)
    p = _p_values(length, gaps, best, at, alpha=alpha, orders=orders, seed=seed)
    return Largest(p, at.start[where], at.middle[where], at.end[where])


def best_middle(values: Floats, start: int, end: int, *, shortest: int) -> int:
    """Of all middles of the window of one series, the one with the largest statistic."""
    part = values[None, start:end]
    at = all_middles(0, end - start, shortest)
    q = weights(ranks_of(part), at)[0] @ gaps_of(part)[0]
    return start + int(at.middle[q.argmax()])


def _observed(
    values: Floats, gaps: NDArray[np.float32], at: Places
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    series, length = values.shape
    ranks = ranks_of(values)
    best = np.empty(series, dtype=np.float32)
    where = np.empty(series, dtype=np.intp)
    step = _chunk_for(length, at)
    for first in range(0, series, step):
        part = slice(first, first + step)
        q = np.matmul(weights(ranks[part], at), gaps[part, :, None])[:, :, 0]
        where[part] = q.argmax(axis=1)
        best[part] = q.max(axis=1)
    return best, where


def _chunk_for(length: int, at: Places) -> int:
    """Orders whose weights fit into memory."""
    return max(1, _LARGEST_ARRAY // (max(len(at), length) * len(knots(length))))


def _p_values(
    length: int,
    gaps: NDArray[np.float32],
    best: NDArray[np.float32],
    at: Places,
    *,
    alpha: float,
    orders: int,
    seed: int,
) -> Floats:
    series = len(gaps)
    rng = np.random.default_rng([seed, length, orders])
    allowed = int(np.floor(alpha * (1 + orders))) - 1
    reached = np.zeros(series, dtype=np.int64)
    drawn = np.zeros(series, dtype=np.int64)
    left = np.arange(series)
    done, chunk = 0, _FIRST_CHUNK
    most = _chunk_for(length, at)
    while done < orders and left.size:
        now = min(chunk, most, orders - done)
        ranks = rng.permuted(np.tile(np.arange(length), (now, 1)), axis=1)
        reached[left] += _reaching(weights(ranks, at), gaps[left], best[left] * _ROUNDING)
        done += now
        drawn[left] = done
        left = left[reached[left] <= allowed]
        chunk *= 2
    p: Floats = (1.0 + reached) / (1.0 + drawn)
    # One that has left is above α, though few orders may say less.
    return np.where(reached <= allowed, p, np.maximum(p, np.nextafter(alpha, 1.0)))


def _reaching(
    drawn: NDArray[np.float32], gaps: NDArray[np.float32], wanted: NDArray[np.float32]
) -> NDArray[np.int64]:
    """How many of the *drawn* orders come to what each series wants."""
    orders, number, _ = drawn.shape
    flat = drawn.reshape(orders * number, -1)
    counts = np.empty(len(gaps), dtype=np.int64)
    step = max(1, _LARGEST_ARRAY // len(flat))
    for first in range(0, len(gaps), step):
        part = slice(first, first + step)
        q = (flat @ gaps[part].T).reshape(orders, number, -1).max(axis=1)
        counts[part] = (q >= wanted[part]).sum(axis=0)
    return counts
