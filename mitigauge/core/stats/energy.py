"""How far apart two stretches of a series are, for all places at once (the calculator).

The energy statistic of e-divisive (Matteson and James, JASA 109, 2014) with α = 1. For a stretch
X of a values that is followed by a stretch Y of b values,

    E(X, Y) = 2·mean|x − y| − mean|x − x'| − mean|y − y'|,      Q(X, Y) = a·b / (a + b) · E(X, Y).

In one dimension E = 2·∫(F − G)², F and G being the shares of X and of Y at or below a value
(Székely and Rizzo, J. Stat. Plan. Inference 143, 2013). Between two neighbours of the sorted
series both are constant, so that with z the sorted values of the whole series

    Q = Σₖ w[k] · (z[k + 1] − z[k]),      w[k] = 2·a·b / (a + b) · (F[k] − G[k])².

The weights w depend on the order of the ranks alone. A permutation test draws orders of ranks, so
its weights serve every series of the same length, and Q of all of them is one matrix product.

Of long series the sum runs over 64 stretches of the sorted values instead of every gap, and over 40
middles of a window instead of all. The permutation test is exact for what is summed, whatever it
is; the place is then looked for among all middles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
Ranks = NDArray[np.intp]
_PARTS = 8
_MIDDLES = 40
_KNOTS = 64


@dataclass(frozen=True, slots=True)
class Places:
    """Where stretches X and Y begin and end: X is ``[start, middle)``, Y is ``[middle, end)``."""

    start: NDArray[np.intp]
    middle: NDArray[np.intp]
    end: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.middle)


@lru_cache(maxsize=1024)
def places(length: int, shortest: int) -> Places:
    """Middles of the whole series, and of its beginnings and ends by eighths.

    No stretch is shorter than *shortest*. Beginnings are there for what comes and goes, as in
    e-divisive itself: where Y may end before the series does, a level that went away again is as
    plain as one that stayed. Ends are the same seen from the other side.
    """
    cuts = sorted({round(length * eighth / _PARTS) for eighth in range(1, _PARTS)})
    windows = [(0, length), *((0, cut) for cut in cuts), *((cut, length) for cut in cuts)]
    found: list[tuple[int, int, int]] = []
    for start, end in windows:
        choice = end - start - 2 * shortest + 1
        if choice > 0:
            middles = np.unique(np.linspace(0, choice - 1, min(choice, _MIDDLES)).round())
            found.extend((start, start + shortest + int(m), end) for m in middles)
    return _as_places(found)


def all_middles(start: int, end: int, shortest: int) -> Places:
    """Every middle of one window."""
    return _as_places([(start, m, end) for m in range(start + shortest, end - shortest + 1)])


def _as_places(found: list[tuple[int, int, int]]) -> Places:
    columns = np.array(found, dtype=np.intp).reshape(-1, 3).T
    return Places(columns[0], columns[1], columns[2])


@lru_cache(maxsize=1024)
def knots(length: int) -> NDArray[np.intp]:
    """Ranks at which F and G are taken: all but the last, or the middles of 64 stretches."""
    edges = _edges(length)
    middles: NDArray[np.intp] = (edges[:-1] + edges[1:] - 1) // 2
    return middles


@lru_cache(maxsize=1024)
def _edges(length: int) -> NDArray[np.intp]:
    stretches = min(length - 1, _KNOTS)
    return np.linspace(0, length - 1, stretches + 1).round().astype(np.intp)


def weights(ranks: Ranks, at: Places) -> Weights:
    """``w[order, place, k]`` for *ranks* ``[order, position]``, each a permutation of 0 … n − 1."""
    orders, length = ranks.shape
    below = np.zeros((orders, length + 1, len(knots(length))), dtype=np.float32)
    np.cumsum(ranks[:, :, None] <= knots(length), axis=1, dtype=np.float32, out=below[:, 1:])
    first = (at.middle - at.start).astype(np.float32)[:, None]
    second = (at.end - at.middle).astype(np.float32)[:, None]
    middle = below[:, at.middle]
    apart = middle - below[:, at.start]
    apart /= first
    above = below[:, at.end]
    above -= middle
    above /= second
    apart -= above
    np.square(apart, out=apart)
    apart *= 2.0 * first * second / (first + second)
    return apart


def ranks_of(values: NDArray[np.float64]) -> Ranks:
    """Ranks along the last axis; equal values in the order in which they came."""
    order = np.argsort(values, axis=-1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.broadcast_to(np.arange(values.shape[-1]), order.shape), -1)
    return ranks


def gaps_of(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Distances between knots of the sorted values, as shares of the whole range.

    ``[series, knot]``. Shares, so that no unit is too large or too small for single precision.
    """
    gaps = np.diff(np.sort(values, axis=-1), axis=-1)
    gaps = np.add.reduceat(gaps, _edges(values.shape[-1])[:-1], axis=-1)
    span = gaps.sum(axis=-1, keepdims=True)
    shares: NDArray[np.float32] = (gaps / np.where(span > 0, span, 1.0)).astype(np.float32)
    return shares
