"""What a diff says of two groups of boots."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.analysis.profiles.diff.compare import (
    GONE,
    NEW,
    BootProfile,
    bases_of,
    compare_functions,
    diff_frames,
    diff_functions,
    raw_symbols,
)
from mitigauge.analysis.profiles.diff.significance import compare_groups
from mitigauge.analysis.profiles.store.functions import function_weights
from mitigauge.analysis.profiles.store.tree import FrameTree, Layout
from tests.unit.profiles.named import alike, name, number


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


def test_what_was_merged_is_told() -> None:
    layout, boots = profiles({b"CPU1;f": 3, b"CPU2;f;g": 4}, {b"CPU;f": 5})
    # Numbers are given in the order in which names are first asked for.
    merged = sorted([number(b"CPU1"), number(b"CPU2")])
    assert {to: sorted(of) for to, of in raw_symbols(layout, boots).items()} == {
        number(b"CPU"): merged
    }
