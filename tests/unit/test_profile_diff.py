"""The shared tree, its packing, and what a diff says of two groups of boots."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.profiles.diff import (
    GONE,
    NEW,
    BootProfile,
    bases_of,
    compare_functions,
    diff_frames,
    diff_functions,
    raw_symbols,
)
from mitigauge.profiles.functions import function_weights, truncated_weight, unknown_weight
from mitigauge.profiles.packing import packed, unpacked
from mitigauge.profiles.payload import encoded
from mitigauge.profiles.significance import compare_groups, q_values
from mitigauge.profiles.tree import FrameTree, Layout

NAMES: dict[bytes, int] = {}


def number(name: bytes) -> int:
    return NAMES.setdefault(name, len(NAMES))


def name(symbol: int) -> str:
    return next(text.decode() for text, own in NAMES.items() if own == symbol)


def alike(symbol: int, thread: bool) -> int:
    """Threads that differ by number only are one."""
    return number(b"CPU") if thread and name(symbol).startswith("CPU") else symbol


def profiles(
    *boots: dict[bytes, int], operations: float | None = 1.0
) -> tuple[Layout, list[BootProfile]]:
    tree, counted = FrameTree(), []
    for stacks in boots:
        nodes, counts = tree.add(stacks, number, alike)
        weights = sorted(
            (s, *w) for s, w in function_weights(stacks, lambda n, t: alike(number(n), t)).items()
        )
        columns = np.array(weights, np.int64).T
        counted.append(BootProfile(nodes.astype(np.int64), counts, *columns, operations))
    return tree.layout(), counted


def frames(
    layout: Layout, a: list[BootProfile], b: list[BootProfile], **options: object
) -> dict[str, tuple[float, float, int]]:
    """Path → (a, b, flags)."""
    found = diff_frames(layout, a, b, **({"basis": "raw", "merged": True} | options))  # type: ignore[arg-type]
    paths = [""] * len(found.parent)
    answer = {}
    for i, (parent, symbol) in enumerate(zip(found.parent, found.symbol, strict=True)):
        paths[i] = f"{paths[parent]};{name(symbol)}".lstrip(";") if parent >= 0 else ""
        answer[paths[i]] = (found.compared.a[i], found.compared.b[i], int(found.flags[i]))
    return answer


def test_a_frame_weighs_what_it_and_all_below_it_weigh() -> None:
    layout, (a, b) = profiles({b"t;f;g": 3, b"t;f": 2}, {b"t;f;g": 5, b"t;h": 1})
    assert frames(layout, [a], [b]) == {
        "": (5, 6, 0), "t": (5, 6, 0), "t;f": (5, 5, 0), "t;f;g": (3, 5, 0), "t;h": (0, 1, NEW),
    }  # fmt: skip


def test_what_is_on_one_side_only_is_new_or_gone() -> None:
    layout, (a, b) = profiles({b"t;old": 1}, {b"t;new": 1})
    found = frames(layout, [a], [b])
    assert (found["t;old"][2], found["t;new"][2]) == (GONE, NEW)


def test_threads_are_merged_or_left_apart_as_asked() -> None:
    layout, (a, b) = profiles({b"CPU1;f": 3, b"CPU2;f": 4}, {b"CPU1;f": 5})
    assert frames(layout, [a], [b])["CPU;f"] == (7, 5, 0)
    apart = frames(layout, [a], [b], merged=False)
    assert (apart["CPU1;f"], apart["CPU2;f"]) == ((3, 5, 0), (4, 0, GONE))


def test_by_share_a_costlier_neighbour_makes_a_function_look_cheaper_and_by_operation_not() -> None:
    layout, (a, b) = profiles({b"t;f": 50, b"t;g": 50}, {b"t;f": 50, b"t;g": 150}, operations=10)
    assert frames(layout, [a], [b], basis="share")["t;f"][:2] == (50.0, 25.0)
    assert frames(layout, [a], [b], basis="operation")["t;f"][:2] == (5.0, 5.0)


def test_without_operations_there_is_no_cost_of_one() -> None:
    _, counted = profiles({b"t": 1}, operations=None)
    assert bases_of(counted) == ["share", "raw"]
    assert bases_of(profiles({b"t": 1})[1]) == ["operation", "share", "raw"]


def test_small_frames_are_left_out_and_their_weight_is_told() -> None:
    layout, (a, b) = profiles({b"t;f": 97, b"t;s;u": 3}, {b"t;f": 98, b"t;s;v": 2})
    found = diff_frames(layout, [a], [b], basis="raw", merged=True, smallest_share=0.05)
    assert len(found.parent) == 3
    assert found.pruned_nodes == 3
    assert found.pruned == (3.0, 2.0)


def test_group_means_are_over_boots_and_their_interval_covers_the_difference() -> None:
    layout, boots = profiles(*({b"t;f": 100 + i % 3} for i in range(6)),
                             *({b"t;f": 120 + i % 2} for i in range(6)))  # fmt: skip
    found = diff_frames(layout, boots[:6], boots[6:], basis="raw", merged=True)
    leaf = -1
    assert found.compared.low[leaf] < 19.5 < found.compared.high[leaf]
    assert found.compared.q[leaf] < 0.001


def test_a_functions_recursion_counts_once() -> None:
    _, (a, b) = profiles({b"t;f;g;f": 4}, {b"t;f;g;f": 6})
    found = diff_functions([a], [b], basis="raw")
    at = {name(s): i for i, s in enumerate(found.symbol)}
    assert (found.total.a[at["f"]], found.own.a[at["f"]]) == (4, 4)
    assert (found.total.b[at["g"]], found.own.b[at["g"]]) == (6, 0)


def test_unknown_and_truncated_stacks_are_weighed() -> None:
    deep = b";".join(b"f%d" % i for i in range(128))
    stacks = {b"t;[unknown];f": 3, b"t;f": 4, deep: 5}
    assert (unknown_weight(stacks), truncated_weight(stacks)) == (3, 5)


def test_a_thousand_functions_alike_are_seldom_called_different() -> None:
    rng = np.random.default_rng(1)
    flagged, any_discovery = 0.0, 0
    for _ in range(60):
        weights = rng.gamma(0.3, 200.0, 3000)
        boots = rng.poisson(weights[:, None] * rng.lognormal(0, 0.05, (1, 20))).astype(float)
        compared = compare_functions(boots, boots, 10)
        with np.errstate(invalid="ignore"):
            flagged += float((compared.p < 0.01).mean())
            any_discovery += bool((compared.q < 0.05).any())
    assert flagged / 60 <= 0.015
    assert any_discovery / 60 <= 0.10


def test_q_grows_with_the_number_of_questions_even_of_those_without_p() -> None:
    p = np.array([0.01, 0.5])
    more = np.concatenate([p, np.full(8, np.nan)])
    assert q_values(p)[0] == pytest.approx(0.02)
    assert q_values(more)[0] == pytest.approx(0.1)


def test_what_is_seen_in_too_few_boots_is_no_question_and_what_is_new_is_one() -> None:
    a, b = np.zeros((40, 4)), np.zeros((40, 4))
    b[0] = [70, 80, 75, 66]  # new, in every boot of one side
    a[1:, 0] = b[1:, 1] = b[1:, 2] = [5] * 39  # in three boots of eight
    compared = compare_groups(a, b)
    assert compared.q[0] == compared.p[0] < 0.001
    assert np.isnan(compared.q[1:]).all()
    assert compared.b[0] > 0
    a[1, 1] = 5  # in four
    assert compare_groups(a, b).q[0] == pytest.approx(2 * compared.p[0])


def test_a_frame_that_is_all_of_its_caller_is_one_question_with_it() -> None:
    rng = np.random.default_rng(3)

    def boot(more: int) -> dict[bytes, int]:
        deep = b"t;" + b";".join(b"g%d" % i for i in range(30))
        jitter = rng.integers(0, 20, 2)
        return {b"t;f": int(1000 + more + jitter[0]), deep: int(1000 + jitter[1])}

    layout, boots = profiles(*(boot(0) for _ in range(4)), *(boot(60) for _ in range(4)))
    found = diff_frames(layout, boots[:4], boots[4:], basis="raw", merged=True)
    names = [name(symbol) if symbol >= 0 else "all" for symbol in found.symbol]
    q = dict(zip(names, found.compared.q.tolist(), strict=True))
    p = dict(zip(names, found.compared.p.tolist(), strict=True))
    # Everything with its thread, f, and thirty frames that are one: three questions.
    assert q["f"] == pytest.approx(min(3 * p["f"], 1.5 * p["all"]))
    assert len({q[f"g{i}"] for i in range(30)}) == 1
    assert q["all"] == q["t"]


def test_what_costs_next_to_nothing_is_shown_and_not_judged() -> None:
    rng = np.random.default_rng(4)
    boots = [
        {b"t;f": int(100_000 + rng.integers(0, 900)), b"t;tiny": int(20 + 40 * (side == 1))}
        for side in (0, 0, 0, 1, 1, 1)
    ]
    _, counted = profiles(*boots)
    functions = diff_functions(counted[:3], counted[3:], basis="raw")
    row = [name(symbol) for symbol in functions.symbol].index("tiny")
    assert functions.own.b[row] - functions.own.a[row] == 40
    assert np.isnan(functions.own.q[row])


def test_one_boot_a_side_has_means_only() -> None:
    compared = compare_groups(np.array([[1.0]]), np.array([[2.0]]))
    assert (compared.a[0], compared.b[0]) == (1.0, 2.0)
    assert np.isnan([compared.low[0], compared.high[0], compared.p[0], compared.q[0]]).all()


def test_p_is_students_and_an_interval_welchs() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(10, 1, (1, 8)), rng.normal(11, 3, (1, 5))
    from scipy.stats import ttest_ind

    reference = ttest_ind(b[0], a[0], equal_var=False)
    compared = compare_groups(a, b)
    interval = reference.confidence_interval()
    assert compared.p[0] == pytest.approx(ttest_ind(b[0], a[0]).pvalue, rel=1e-9)
    assert compared.low[0] == pytest.approx(interval.low, rel=1e-4)
    assert compared.high[0] == pytest.approx(interval.high, rel=1e-4)


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


@given(st.dictionaries(st.integers(0, 10**9), st.integers(0, 2**53), max_size=50))
def test_packed_counts_come_back(counts: dict[int, int]) -> None:
    numbers = np.array(sorted(counts), np.int64)
    weights = np.array([counts[n] for n in sorted(counts)], np.int64)
    back = unpacked(packed(numbers, weights))
    assert [part.tolist() for part in back] == [numbers.tolist(), weights.tolist()]


@pytest.mark.parametrize("data", [b"", b"MGP0" + bytes(20), b"x" * 50])
def test_other_bytes_are_no_counts(data: bytes) -> None:
    with pytest.raises(Exception, match=r"no packed counts|buffer"):
        unpacked(data)


def test_a_payload_is_aligned_for_typed_arrays() -> None:
    body = encoded({"title": "é"}, {"a": np.arange(3, dtype=np.int32), "b": np.zeros(2, np.uint8)})
    assert body[:4] == b"MGPD"
    length = int.from_bytes(body[8:12], "little")
    assert (16 + length) % 8 == 0
    assert (len(body) - 16 - length) % 8 == 0


def test_what_was_merged_is_told() -> None:
    layout, boots = profiles({b"CPU1;f": 3, b"CPU2;f;g": 4}, {b"CPU;f": 5})
    assert raw_symbols(layout, boots) == {number(b"CPU"): [number(b"CPU1"), number(b"CPU2")]}
