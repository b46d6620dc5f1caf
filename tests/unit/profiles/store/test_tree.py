"""The shared tree and its packing."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.profiles.store.tree import FrameTree, Layout
from tests.unit.profiles.named import alike, number

STACKS = st.dictionaries(
    st.lists(st.sampled_from([b"a", b"b", b"c", b"CPU1", b"CPU2"]), min_size=1, max_size=6).map(
        b";".join
    ),
    st.integers(1, 10**6),
    min_size=1,
    max_size=20,
)


@given(STACKS, STACKS)
def test_a_tree_comes_back_from_storage_as_it_was_and_grows_on(
    first: dict[bytes, int], second: dict[bytes, int]
) -> None:
    tree = FrameTree()
    nodes, counts = tree.add(first, number, alike)
    again = FrameTree.of(Layout.from_bytes(tree.layout().to_bytes()))
    assert (again.parent, again.symbol, again.merged) == (tree.parent, tree.symbol, tree.merged)
    assert [a.tolist() for a in again.add(first, number, alike)] == [
        nodes.tolist(),
        counts.tolist(),
    ]
    again.add(second, number, alike)
    assert again.parent[: len(tree.parent)] == tree.parent


def test_a_wide_tree_with_many_names_comes_back_from_storage() -> None:
    tree = FrameTree()
    stacks = {b"t;f%d;%s" % (i, b"CPU%d" % (i % 3)): 1 for i in range(700)}
    names: dict[bytes, int] = {}
    tree.add(
        stacks,
        lambda name: names.setdefault(name, 65_000 + len(names)),
        lambda symbol, thread: 1 if thread else symbol,
    )
    layout = tree.layout()
    again = Layout.from_bytes(layout.to_bytes())
    for array in fields(Layout):
        assert getattr(again, array.name).tolist() == getattr(layout, array.name).tolist()
        assert getattr(again, array.name).dtype == np.int32


@given(STACKS)
def test_in_preorder_every_subtree_is_a_run_of_neighbours(stacks: dict[bytes, int]) -> None:
    tree = FrameTree()
    tree.add(stacks, number, alike)
    layout = tree.layout()
    for place in range(1, layout.size):
        parent = int(layout.parent[place])
        assert parent < place < layout.end[place] <= layout.end[parent]


@given(STACKS)
def test_rules_applied_later_merge_as_rules_applied_at_once(stacks: dict[bytes, int]) -> None:
    at_once, later = FrameTree(), FrameTree()
    nodes, _ = at_once.add(stacks, number, alike)
    late_nodes, _ = later.add(stacks, number, lambda symbol, _: symbol)
    later.merge_again(alike)
    assert path_set(at_once, nodes.tolist()) == path_set(later, late_nodes.tolist())


def path_set(tree: FrameTree, nodes: list[int]) -> set[tuple[int, ...]]:
    paths = set()
    for node in nodes:
        path, at = [], tree.merged[node]
        while at:
            path.append(tree.symbol[at])
            at = tree.parent[at]
        paths.add(tuple(path))
    return paths


def weights(layout: Layout, nodes: list[int], counts: list[int]) -> dict[tuple[int, ...], int]:
    """Inclusive weight by stack of symbols, read as a diff reads it: a run of neighbours."""
    own = np.zeros(layout.size, np.int64)
    np.add.at(own, layout.place[nodes], counts)
    sums = np.concatenate([[0], np.cumsum(own)])
    found: dict[tuple[int, ...], int] = {}
    for place in range(1, layout.size):
        weight = int(sums[layout.end[place]] - sums[place])
        stack, at = [], place
        while at > 0:
            stack.append(int(layout.symbol[at]))
            at = int(layout.parent[at])
        if weight:
            assert tuple(stack) not in found, "one stack at two places"
            found[tuple(stack)] = weight
    return found


@given(STACKS)
def test_stacks_that_a_new_name_makes_alike_are_one(stacks: dict[bytes, int]) -> None:
    tree, expected = FrameTree(), FrameTree()
    nodes, counts = tree.add(stacks, number, alike)
    becomes = {number(b"c"): number(b"a"), number(b"a"): number(b"b")}
    layout = tree.layout().with_names(becomes)
    renamed: dict[bytes, int] = {}
    for stack, count in stacks.items():
        other = stack.translate(bytes.maketrans(b"ac", b"ba"))
        renamed[other] = renamed.get(other, 0) + count
    found = expected.add(renamed, number, alike)
    assert weights(layout, nodes.tolist(), counts.tolist()) == weights(
        expected.layout(), found[0].tolist(), found[1].tolist()
    )
