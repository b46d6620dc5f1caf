"""One tree of frames that many profiles share. Pure.

A node is a stack: a parent and a symbol. Nodes are numbered as they come, parents
before children, and keep their numbers for good, since profiles name them. For
reading, the tree also knows each node's place in preorder, where a subtree is a run
of neighbours, so that a node's inclusive count is a difference of two running sums.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import zstandard
from numpy.typing import NDArray

from mitigauge.analysis.profiles.store.pack import escaped, inflated, unescaped
from mitigauge.core.errors import InvalidInput

Ints = NDArray[np.int32]
Counts = NDArray[np.int64]

NO_PARENT = -1
# All profiles of a workload share a tree, which only grows; while stacks are added it takes
# some 200 bytes a node.
MOST_NODES = 1_500_000
_HEADER = struct.Struct("<4sII8I")
_MAGIC = b"MGT2"
_FULL = "<i4"


@dataclass(slots=True)
class Layout:
    """The tree in preorder; all ``int32``.

    By node number: ``place``, and ``merged_place``, the place of the same stack with
    normalised names. By place: ``parent`` (a place), ``symbol``, ``end`` (the place
    after the subtree).
    """

    place: Ints
    merged_place: Ints
    parent: Ints
    symbol: Ints
    end: Ints

    @property
    def size(self) -> int:
        """How many nodes there are, the root among them."""
        return len(self.place)

    def with_names(self, becomes: Mapping[int, int]) -> Layout:
        """The same tree with some symbols in place of others, where stacks that become alike are
        one. Nodes keep their numbers.
        """
        node_at = np.empty(self.size, np.int32)
        node_at[self.place] = np.arange(self.size, dtype=np.int32)
        above = self.parent[self.place]
        parent = np.where(above >= 0, node_at[above], NO_PARENT).astype(np.int32)
        stored = self.symbol[self.place]
        symbol = stored.copy()
        for was, now in becomes.items():
            symbol[stored == was] = now
        stands_for = _alike(parent, symbol)
        parent = np.where(parent >= 0, stands_for[parent], NO_PARENT).astype(np.int32)
        laid_out = _laid_out(parent, symbol, stands_for)
        # Those that another one stands for stay as leaves without any weight.
        laid_out.merged_place = laid_out.place[stands_for[node_at[self.merged_place]]]
        laid_out.place = laid_out.place[stands_for]
        return laid_out

    def to_bytes(self) -> bytes:
        """Packed for storage."""
        own = np.arange(self.size, dtype=np.int32)
        moved = np.flatnonzero(self.merged_place != self.place).astype("<i4")
        symbol = self.symbol + 1
        # Few bytes in, few bytes out: most of the time goes into fresh memory.
        parts = [
            np.diff(self.place, prepend=np.int32(0)).astype("<i4").tobytes(),
            moved.tobytes(),
            self.merged_place[moved].astype("<i4").tobytes(),
            *escaped(own - self.parent, _FULL),
            *escaped(self.end - own, _FULL),
            b"".join(half.astype("<u2").tobytes() for half in (symbol & 0xFFFF, symbol >> 16)),
        ]
        body = zstandard.ZstdCompressor(level=3).compress(b"".join(parts))
        return _HEADER.pack(_MAGIC, self.size, 0, *map(len, parts)) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Layout:
        """The reverse of :meth:`to_bytes`. Raises ``ValueError`` for anything else."""
        try:
            return cls._from_bytes(data)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a damaged tree: {error}") from error

    @classmethod
    def _from_bytes(cls, data: bytes) -> Layout:
        magic, size, _, *lengths = _HEADER.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("no tree")
        body = inflated(memoryview(data)[_HEADER.size :])
        ends = itertools.accumulate(lengths, initial=0)
        parts = [memoryview(body)[a:b] for a, b in itertools.pairwise(ends)]
        changes, moved, to = (np.frombuffer(part, "<i4") for part in parts[:3])
        low, high = np.frombuffer(parts[7], "<u2").reshape(2, size)
        if len(changes) != size:
            raise ValueError(f"a damaged tree: {len(changes)} places of {size}")
        own = np.arange(size, dtype=np.int32)
        place = merged = np.cumsum(changes, dtype=np.int32)
        if len(moved):
            merged = place.copy()
            merged[moved] = to
        symbol = low.astype(np.int32)
        if high.any():
            symbol |= high.astype(np.int32) << 16
        symbol -= 1
        above = unescaped(parts[3], parts[4], _FULL)
        subtree = unescaped(parts[5], parts[6], _FULL)
        return cls(place, merged, own - above, symbol, own + subtree)


@dataclass(slots=True)
class FrameTree:
    """The tree while stacks are added; node 0 is the root and has no symbol."""

    parent: list[int] = field(default_factory=lambda: [NO_PARENT])
    symbol: list[int] = field(default_factory=lambda: [-1])
    merged: list[int] = field(default_factory=lambda: [0])
    _children: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, layout: Layout) -> FrameTree:
        """The tree as it was laid out."""
        node_at = np.empty(layout.size, np.int32)
        node_at[layout.place] = np.arange(layout.size, dtype=np.int32)
        parent_place = layout.parent[layout.place]
        parent = np.where(parent_place >= 0, node_at[parent_place], NO_PARENT)
        symbol = layout.symbol[layout.place]
        tree = cls(parent.tolist(), symbol.tolist(), node_at[layout.merged_place].tolist())
        keys = (parent.astype(np.int64) << 32) + symbol
        tree._children = dict(zip(keys[1:].tolist(), range(1, layout.size), strict=True))
        return tree

    def add(
        self,
        stacks: Mapping[bytes, int],
        symbol_of: Callable[[bytes], int],
        normalised: Callable[[int, bool], int],
    ) -> tuple[Ints, Counts]:
        """Intern *stacks*; returns their nodes, ascending, with the counts.

        *symbol_of* numbers a name; *normalised* gives a symbol's normalised one, told
        whether it is a thread's. Raises :class:`InvalidInput` where the tree would grow too
        large; it is of no use then.
        """
        counts: dict[int, int] = {}
        most = max(MOST_NODES, len(self.parent))
        for stack, count in stacks.items():
            symbols = [symbol_of(name) for name in stack.split(b";")]
            node = self._walk(symbols)
            names = [normalised(s, depth == 0) for depth, s in enumerate(symbols)]
            self.merged[node] = node if names == symbols else self._walk(names)
            counts[node] = counts.get(node, 0) + count
            if len(self.parent) > most:
                raise InvalidInput(
                    f"the stacks would make a tree of more than {most} frames",
                    hint="Its profiles hold more different stacks than one workload has.",
                )
        nodes = sorted(counts)
        return (
            np.array(nodes, np.int32),
            np.array([counts[node] for node in nodes], np.int64),
        )

    def merge_again(self, normalised: Callable[[int, bool], int]) -> None:
        """Point every node at its normalised stack anew, after the rules have changed."""
        for node in range(1, len(self.parent)):
            above = self.parent[node]
            symbol = normalised(self.symbol[node], above == 0)
            self.merged[node] = self._child(self.merged[above], symbol)

    def _walk(self, symbols: list[int]) -> int:
        node = 0
        for symbol in symbols:
            node = self._child(node, symbol)
        return node

    def _child(self, node: int, symbol: int) -> int:
        key = (node << 32) + symbol
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = len(self.parent)
            self.parent.append(node)
            self.symbol.append(symbol)
            self.merged.append(child)
        return child

    def layout(self) -> Layout:
        """The tree in preorder, level by level: siblings stand in order of their numbers."""
        return _laid_out(
            np.array(self.parent, np.int32),
            np.array(self.symbol, np.int32),
            np.array(self.merged, np.int32),
        )


def _laid_out(parent: Ints, symbol: Ints, merged: Ints) -> Layout:
    """The tree of these, by node number, in preorder."""
    size = _subtree_sizes(parent)
    place = _places(parent, size)
    node_at = np.empty_like(place)
    node_at[place] = np.arange(len(place), dtype=np.int32)
    above = parent[node_at]
    return Layout(
        place=place,
        merged_place=place[merged],
        parent=np.where(above >= 0, place[above], NO_PARENT).astype(np.int32),
        symbol=symbol[node_at],
        end=(np.arange(len(place), dtype=np.int32) + size[node_at]).astype(np.int32),
    )


def _alike(parent: Ints, symbol: Ints) -> Ints:
    """For each node the first one of the same stack."""
    first = np.arange(len(parent), dtype=np.int32)
    for level in _levels(parent)[1:]:
        stacks = (first[parent[level]].astype(np.int64) << 32) + symbol[level]
        _, begins, kind = np.unique(stacks, return_index=True, return_inverse=True)
        first[level] = level[begins[kind]]
    return first


def _levels(parent: Ints) -> list[Ints]:
    """Nodes of each depth, ascending."""
    depth = np.zeros(len(parent), np.int32)
    # Parents come first, but a node's depth needs its parent's: as many rounds as it is deep.
    nodes = np.arange(1, len(parent), dtype=np.int32)
    above = parent[nodes]
    while nodes.size:
        deeper = above > 0
        depth[nodes] += 1
        nodes, above = nodes[deeper], parent[above[deeper]]
    order = np.argsort(depth, kind="stable").astype(np.int32)
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


def _subtree_sizes(parent: Ints) -> Ints:
    size = np.ones(len(parent), np.int64)
    for level in reversed(_levels(parent)[1:]):
        np.add.at(size, parent[level], size[level])
    return size.astype(np.int32)


def _places(parent: Ints, size: Ints) -> Ints:
    place = np.zeros(len(parent), np.int32)
    for level in _levels(parent)[1:]:
        by_parent = level[np.argsort(parent[level], kind="stable")]
        above = parent[by_parent]
        before = np.cumsum(size[by_parent]) - size[by_parent]
        first = np.flatnonzero(np.diff(above, prepend=-2))
        begun = np.repeat(before[first], np.diff(np.append(first, len(above))))
        place[by_parent] = place[above] + 1 + before - begun
    return place
