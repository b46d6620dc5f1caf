"""A function's instructions on two sides: matched, weighed by boots, and judged."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.analysis.profiles.capture.instructions import Line
from mitigauge.analysis.profiles.diff.instructions import (
    BootCode,
    InstructionDiff,
    diff_instructions,
)
from mitigauge.analysis.profiles.store.instructions import StoredCode

PLAIN = ("push", "mov", "ret")
LOOP = ("push", "nop", "nop", "mov", "ret")


def code(
    normal: tuple[str, ...], weights: tuple[int, ...], name: str = "f", moved: int = 0
) -> StoredCode:
    lines = [Line(4 * at + moved, f"{text} {moved}", text) for at, text in enumerate(normal)]
    counts = np.array(weights, np.int64)
    return StoredCode(name, 1, lines, counts // 10, counts)


def boots(normal: tuple[str, ...], *weights: tuple[int, ...], scale: float = 0.1) -> list[BootCode]:
    return [BootCode([code(normal, each)], scale) for each in weights]


def marks(diff: InstructionDiff) -> list[str]:
    [part] = diff.parts
    return [
        "new" if a is None else "gone" if b is None else part.lines_b[b].normal
        for a, b in part.pairs
    ]


def test_new_instructions_stand_alone_with_what_they_cost() -> None:
    a = boots(PLAIN, (100, 200, 300), (110, 210, 290), (90, 190, 310))
    b = boots(LOOP, (100, 80, 90, 200, 300), (105, 90, 80, 205, 300), (95, 85, 95, 195, 300))
    diff = diff_instructions(a, b, {})
    assert marks(diff) == ["push", "new", "new", "mov", "ret"]
    np.testing.assert_allclose(diff.compared.a, [10, 0, 0, 20, 30])
    np.testing.assert_allclose(diff.compared.b, [10, 8.5, 26.5 / 3, 20, 30])
    assert (diff.compared.q[[1, 2]] < 0.01).all()
    assert (diff.compared.q[[0, 3, 4]] > 0.5).all()
    assert diff.counts == {"both": 3, "new": 2}
    together = diff.kinds["new"]
    assert together.b[0] - together.a[0] == pytest.approx(26 / 1.5)
    assert 0 < together.low[0] < 26 / 1.5 < together.high[0]
    assert diff.parts[0].samples.tolist() == [[30, 29], [0, 25], [0, 26], [60, 59], [90, 90]]


def test_one_boot_a_side_gives_means_and_no_interval() -> None:
    diff = diff_instructions(boots(PLAIN, (1, 2, 3)), boots(PLAIN, (1, 2, 9)), {})
    np.testing.assert_allclose(diff.compared.b - diff.compared.a, [0, 0, 0.6])
    assert np.isnan(diff.compared.q).all()
    assert np.isnan(diff.compared.low).all()


def test_a_boot_in_which_nothing_of_it_ran_counts_with_zeros() -> None:
    nothing = [BootCode([], 0.1)] * 2
    diff = diff_instructions(nothing, boots(PLAIN, (10, 20, 30), (10, 20, 30)), {})
    assert diff.boots == (2, 2)
    np.testing.assert_allclose(diff.compared.a, 0)
    np.testing.assert_allclose(diff.compared.b, [1, 2, 3])


def test_boots_that_ran_other_code_are_left_out_and_counted() -> None:
    a = [*boots(PLAIN, (10, 20, 30), (10, 20, 30)), *boots(LOOP, (1, 1, 1, 1, 1))]
    diff = diff_instructions(a, boots(PLAIN, (10, 20, 30)), {})
    assert diff.other_code == (1, 0)
    assert diff.boots == (2, 1)
    np.testing.assert_allclose(diff.compared.a, [1, 2, 3])


def test_code_that_lies_elsewhere_is_the_same_code() -> None:
    moved = [BootCode([code(PLAIN, (10, 20, 30), moved=64)], 0.1)]
    diff = diff_instructions([*boots(PLAIN, (10, 20, 30)), *moved], moved, {})
    assert diff.other_code == (0, 0)
    assert diff.counts == {"both": 3}


def test_parts_are_matched_by_name_without_numbers_and_with_renames() -> None:
    a = [BootCode([code(PLAIN, (1, 1, 1), "old.isra.0"), code(LOOP, (1,) * 5, "old.cold")], 1.0)]
    b = [BootCode([code(PLAIN, (1, 1, 1), "f.isra.1"), code(LOOP, (1,) * 5, "f.cold")], 1.0)]
    renamed = {"old.isra.0": "f.isra.0", "old.cold": "f.cold"}
    diff = diff_instructions(a, b, renamed)
    assert diff.counts == {"both": 8}
    assert {(part.name_a, part.name_b) for part in diff.parts} == {
        ("old.isra.0", "f.isra.1"),
        ("old.cold", "f.cold"),
    }


def test_a_part_without_samples_in_a_boot_counts_as_zeros() -> None:
    with_cold = BootCode([code(PLAIN, (4, 4, 4)), code(LOOP, (2,) * 5, "f.cold")], 1.0)
    without = BootCode([code(PLAIN, (4, 4, 4))], 1.0)
    diff = diff_instructions([with_cold, without], [with_cold, with_cold], {})
    assert diff.boots == (2, 2)
    cold = next(part for part in diff.parts if part.name_a == "f.cold")
    np.testing.assert_allclose(cold.values[0], [2, 0, 2, 2])


def test_sides_without_any_code_give_nothing() -> None:
    diff = diff_instructions([], [], {})
    assert list(diff.parts) == []
    assert diff.counts == {}


def test_false_alarms_keep_their_rate() -> None:
    """A/A of Poisson samples: of all instructions of a function, q ≤ 5 % in 1 of 20 at most."""
    rng = np.random.default_rng(17)
    alarms = 0
    for _ in range(200):
        drawn = rng.poisson(30, (8, 20))
        both = [BootCode([code(tuple("x" * 20), tuple(10 * row))], 1.0) for row in drawn]
        diff = diff_instructions(both[:4], both[4:], {})
        alarms += bool((diff.compared.q <= 0.05).any())
    # 10 are expected; 20 or more come once in 500 times.
    assert alarms < 20


def test_of_a_side_whose_boots_all_lack_the_code_nothing_is_said() -> None:
    diff = diff_instructions([], boots(PLAIN, (10, 20, 30), (10, 20, 30)), {})
    np.testing.assert_allclose(diff.compared.b, [1, 2, 3])
    assert np.isnan(diff.compared.a).all()
    assert np.isnan(diff.compared.q).all()
    assert diff.counts == {}
    assert diff.kinds == {}


def test_a_function_that_ran_in_no_boot_gives_nothing() -> None:
    nothing = [BootCode([], 0.1)] * 2
    assert list(diff_instructions(nothing, nothing, {}).parts) == []
