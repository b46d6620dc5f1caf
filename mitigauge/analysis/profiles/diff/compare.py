"""Two groups of boots as one tree: what each frame costs on either side. Pure.

Every boot's profile is brought to one basis first:

- *operation*: weight divided by the operations the profiled pass did;
- *share*: percent of the profile's own weight;
- *raw*: the weight itself.

A mitigation adds cycles, so by share every innocent function looks cheaper; by
operation it does not. Group means and intervals are over boots, never over samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.profiles.diff.significance import Comparison, Floats, compare_groups
from mitigauge.analysis.profiles.store.pack import Longs
from mitigauge.analysis.profiles.store.tree import Ints, Layout

Basis = Literal["operation", "share", "raw"]
BASES: tuple[Basis, ...] = ("operation", "share", "raw")

NEW, GONE = 1, 2
# Of the mean weight of both groups. Narrower frames could not be seen.
SMALLEST_SHARE = 1e-4
# The same. Frames and functions that cost less are not judged: they explain too little.
SMALLEST_JUDGED = 1e-3


@dataclass(frozen=True, slots=True)
class BootProfile:
    """One boot's counts: of stacks by node, and of functions by symbol."""

    nodes: Longs
    counts: Longs
    symbols: Longs
    self_counts: Longs
    total_counts: Longs
    operations: float | None

    def scale(self, basis: Basis) -> float:
        """What a count is multiplied by."""
        if basis == "raw":
            return 1.0
        whole = float(self.counts.sum())
        if basis == "share":
            return 100.0 / whole if whole else 0.0
        return 1.0 / self.operations if self.operations else np.nan


@dataclass(frozen=True, slots=True)
class FrameDiff:
    """Frames in preorder; ``parent`` is an index here, -1 for the root. Inclusive means."""

    parent: Ints
    symbol: Ints
    compared: Comparison
    flags: NDArray[np.uint8]
    pruned_nodes: int
    pruned: tuple[float, float]


@dataclass(frozen=True, slots=True)
class FunctionDiff:
    """Functions by symbol: what they cost themselves, and with all they call."""

    symbol: Ints
    own: Comparison
    total: Comparison


def with_names(profile: BootProfile, becomes: Mapping[int, int]) -> BootProfile:
    """The profile with some symbols in place of others; what becomes one is added up."""
    if not becomes or not np.isin(profile.symbols, list(becomes)).any():
        return profile
    renamed = np.array([becomes.get(symbol, symbol) for symbol in profile.symbols.tolist()])
    symbols, column = np.unique(renamed, return_inverse=True)
    own, total = (np.zeros(len(symbols), profile.counts.dtype) for _ in range(2))
    np.add.at(own, column, profile.self_counts)
    np.add.at(total, column, profile.total_counts)
    return replace(profile, symbols=symbols, self_counts=own, total_counts=total)


def bases_of(profiles: Sequence[BootProfile]) -> list[Basis]:
    """The bases that all *profiles* can be brought to, the best first."""
    counted = all(profile.operations for profile in profiles)
    return [basis for basis in BASES if basis != "operation" or counted]


def diff_frames(
    layout: Layout,
    a: Sequence[BootProfile],
    b: Sequence[BootProfile],
    *,
    basis: Basis,
    merged: bool,
    smallest_share: float = SMALLEST_SHARE,
) -> FrameDiff:
    """Compare frame by frame; frames below *smallest_share* of both means are left out."""
    weights = _Weights(layout, [*a, *b], basis=basis, merged=merged)
    # Of any node, the touched places in its subtree are first…last.
    touched = np.zeros(layout.size + 1, np.int32)
    touched[weights.places + 1] = 1
    before = np.cumsum(touched, dtype=np.int32)
    first, last = before[:-1], before[layout.end]
    mean_a = weights.mean(range(len(a)))
    mean_b = weights.mean(range(len(a), len(a) + len(b)))
    weight = mean_a + mean_b
    there = np.flatnonzero(last > first)
    first, last = first[there], last[there]
    inclusive = weight[last] - weight[first]
    whole = weight[-1]
    wide = inclusive > smallest_share * whole
    kept, first, last, inclusive = there[wide], first[wide], last[wide], inclusive[wide]
    index = np.full(layout.size, -1, np.int32)
    index[kept] = np.arange(len(kept), dtype=np.int32)
    parent = np.where(layout.parent[kept] >= 0, index[layout.parent[kept]], -1).astype(np.int32)
    same = _same_as_caller(first, last, parent)
    asked = inclusive[~same] >= SMALLEST_JUDGED * whole
    values = weights.between(first[~same], last[~same])
    compared = compare_groups(values[:, : len(a)], values[:, len(a) :], asked=asked)
    place = np.cumsum(~same, dtype=np.int32) - 1
    compared = _taken(compared, place[_first_callers(parent, same)])
    own = before[kept + 1]
    own_a = mean_a[own] - mean_a[first]
    own_b = mean_b[own] - mean_b[first]
    return FrameDiff(
        parent=parent,
        symbol=layout.symbol[kept],
        compared=compared,
        flags=_flags(compared),
        pruned_nodes=len(there) - len(kept),
        pruned=_pruned(compared, own_a, own_b),
    )


def diff_functions(
    a: Sequence[BootProfile], b: Sequence[BootProfile], *, basis: Basis
) -> FunctionDiff:
    """Compare function by function; recursion counts once in totals."""
    profiles = [*a, *b]
    known = np.zeros(1 + max((int(p.symbols[-1]) for p in profiles if len(p.symbols)), default=0))
    for profile in profiles:
        known[profile.symbols] = 1
    symbols = np.flatnonzero(known)
    column = np.cumsum(known, dtype=np.int64) - 1
    own = np.zeros((len(profiles), len(symbols)))
    total = np.zeros_like(own)
    for own_row, total_row, profile in zip(own, total, profiles, strict=True):
        at, scale = column[profile.symbols], profile.scale(basis)
        own_row[at] = profile.self_counts * scale
        total_row[at] = profile.total_counts * scale
    return FunctionDiff(
        symbol=symbols.astype(np.int32),
        own=compare_functions(own.T, own.T, len(a)),
        total=compare_functions(total.T, own.T, len(a)),
    )


def compare_functions(values: Floats, own: Floats, boots_a: int) -> Comparison:
    """Compare the rows of *values*, one a function, with *boots_a* columns of side a first.

    What costs next to nothing of the whole, which is all that functions cost themselves
    (*own*), is not judged.
    """

    def both(of: Floats) -> Floats:
        means: Floats = of[:, :boots_a].mean(axis=1) + of[:, boots_a:].mean(axis=1)
        return means

    asked = both(values) >= SMALLEST_JUDGED * both(own).sum()
    return compare_groups(values[:, :boots_a], values[:, boots_a:], asked=asked)


def raw_symbols(layout: Layout, profiles: Sequence[BootProfile]) -> dict[int, list[int]]:
    """Which symbols became which normalised one in these profiles, by the latter."""
    counted = np.zeros(layout.size, np.bool_)
    for profile in profiles:
        counted[profile.nodes] = True
    nodes = np.flatnonzero(counted & (layout.place != layout.merged_place))
    raw, merged = layout.place[nodes], layout.merged_place[nodes]
    found: dict[int, set[int]] = {}
    # Both stacks have the same depth, so they are climbed side by side.
    while (apart := raw != merged).any():
        raw, merged = np.unique(np.stack([raw[apart], merged[apart]]), axis=1)
        for own, common in zip(layout.symbol[raw], layout.symbol[merged], strict=True):
            if own != common:
                found.setdefault(int(common), set()).add(int(own))
        raw, merged = layout.parent[raw], layout.parent[merged]
    return {common: sorted(own) for common, own in found.items()}


class _Weights:
    """Weights of many profiles over the places that any of them touches.

    A subtree is a run of neighbours, so its weight is a difference of two running sums.
    """

    def __init__(
        self, layout: Layout, profiles: Sequence[BootProfile], *, basis: Basis, merged: bool
    ) -> None:
        counted = np.zeros(layout.size, np.bool_)
        for profile in profiles:
            counted[profile.nodes] = True
        nodes = np.flatnonzero(counted)
        at = (layout.merged_place if merged else layout.place)[nodes]
        self.places, column = np.unique(at, return_inverse=True)
        column_of = np.empty(layout.size, np.int32)
        column_of[nodes] = column
        self._columns = [column_of[profile.nodes] for profile in profiles]
        self._weights: list[NDArray[Any]] = [
            profile.counts * profile.scale(basis) for profile in profiles
        ]

    def mean(self, boots: Sequence[int]) -> Floats:
        """Mean running sums: item *i* is the weight of the first *i* places."""
        columns = np.concatenate([self._columns[boot] for boot in boots])
        weights = np.concatenate([self._weights[boot] for boot in boots])
        return _running(columns, weights, len(self.places)) / len(boots)

    def between(self, first: Ints, last: Ints) -> Floats:
        """Weight from place *first* to before *last*: ``[subtree, boot]``."""
        # Places between which no subtree begins or ends count as one.
        ends = np.zeros(len(self.places) + 1, np.bool_)
        ends[first] = ends[last] = True
        piece_of = np.cumsum(ends, dtype=np.int32)
        first, last = piece_of[first], piece_of[last]
        pieces = int(piece_of[-1])
        values = np.empty((len(self._columns), len(first)))
        # Boot by boot: the sums of all of them would not fit a processor's cache.
        for row, columns, weights in zip(values, self._columns, self._weights, strict=True):
            sums = _running(piece_of[columns], weights, pieces)
            np.subtract(sums[last], sums[first], out=row)
        return values.T


def _running(columns: Ints, weights: NDArray[Any], size: int) -> Floats:
    """Item *i* is the weight in the columns before *i*, of *size* columns."""
    sums = np.zeros(size + 1)
    np.cumsum(np.bincount(columns, weights, minlength=size)[:size], out=sums[1:])
    return sums


def _same_as_caller(first: Ints, last: Ints, parent: Ints) -> NDArray[np.bool_]:
    """Frames that are all of what their caller costs, in every boot: one question with it.

    They hold the same places that any boot touches.
    """
    same: NDArray[np.bool_] = (first == first[parent]) & (last == last[parent])
    same[0] = False
    return same


def _taken(compared: Comparison, places: Ints) -> Comparison:
    return Comparison(*(getattr(compared, field.name)[places] for field in fields(Comparison)))


def _first_callers(parent: Ints, same: NDArray[np.bool_]) -> Ints:
    """For each frame the outermost one of which it is the same; callers come first."""
    first = np.arange(len(parent), dtype=np.int32)
    first[same] = parent[same]
    while not np.array_equal(further := first[first], first):
        first = further
    return first


def _flags(compared: Comparison) -> NDArray[np.uint8]:
    new = (compared.a == 0) & (compared.b > 0)
    gone = (compared.a > 0) & (compared.b == 0)
    flags: NDArray[np.uint8] = (NEW * new + GONE * gone).astype(np.uint8)
    return flags


def _pruned(compared: Comparison, own_a: Floats, own_b: Floats) -> tuple[float, float]:
    """What the frames weigh that are left out below those that are kept."""

    def left_out(inclusive: Floats, own: Floats) -> float:
        below = float((inclusive - own).sum())
        return max(0.0, below - float(inclusive[1:].sum()))

    return left_out(compared.a, own_a), left_out(compared.b, own_b)
