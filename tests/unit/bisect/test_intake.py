"""What a step's boots say of its points: values, reasons to skip, levels."""

from __future__ import annotations

import pytest

from mitigauge.tracking.bisect.intake import BootRow, in_words, levels_of, read
from mitigauge.tracking.bisect.records import Value

GOOD = BootRow("alpha", "p00", 1, "effective", True, "", "", 700.0, "")


def row(point: int, block: int = 1, **said: object) -> BootRow:
    return GOOD._replace(arm=f"p{point:02d}", block=block, **said)  # type: ignore[arg-type]


DEAD = {"state": "did_not_boot", "reason": "fallback came up", "mean": None}


def test_boots_that_count_are_values_and_the_rest_is_not() -> None:
    rows = [row(0), row(4), row(4, 2, state="lab_fault", mean=None), row(0, 2, state="invalid")]
    taken = read(rows, [0, 4])
    assert [(v.point, v.block) for v in taken.values] == [(0, 1), (4, 1)]
    assert (taken.skipped, taken.boots) == ({}, 4)


def test_a_point_that_never_booted_is_skipped_with_its_reason() -> None:
    rows = [row(0), row(4, **DEAD), row(4, 2, **DEAD),
            row(4, 3, state="skipped", begun=False, mean=None)]  # fmt: skip
    taken = read(rows, [0, 4])
    assert taken.skipped == {4: "does not boot: fallback came up"}
    assert taken.boots == 3


def test_a_point_that_booted_once_is_not_skipped() -> None:
    assert read([row(0), row(4, **DEAD), row(4, 2)], [0, 4]).skipped == {}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"state": "wrong_kernel", "mean": None, "reason": "7.1"}, "another kernel came up: 7.1"),
        ({"state": "not_effective", "mean": None, "reason": "off"}, "its mode is not in force"),
        ({"mean": None, "error": "perf died"}, "the measurement fails on it: perf died"),
    ],
)
def test_each_fault_of_a_point_has_its_words(said: dict[str, object], why: str) -> None:
    assert read([row(0), row(4, **said)], [0, 4]).skipped[4].startswith(why)


def test_infrastructure_faults_are_nobody_s() -> None:
    faults = [row(4, block, state="lab_fault", mean=None) for block in (1, 2)]
    assert read([row(0), *faults], [0, 4]).skipped == {}


def test_one_that_boots_on_one_host_and_not_on_the_other_is_said() -> None:
    rows = [row(0), row(4), row(4, host="beta", **DEAD)]
    taken = read(rows, [0, 4])
    assert taken.skipped == {}
    assert taken.notes == ["point 4 on beta: does not boot: fallback came up"]
    assert "on beta" in in_words(taken, "ns")


def test_an_effect_is_within_blocks() -> None:
    # The second block is 10 % slower as a whole; the point adds 5 % in each.
    values = [Value(0, "a", 1, 100), Value(0, "a", 2, 110), Value(4, "a", 1, 105),
              Value(4, "a", 2, 115.5)]  # fmt: skip
    first, second = levels_of(values, [0, 4])
    assert first.effect_percent == pytest.approx(0)
    assert second.effect_percent == pytest.approx(5)
    assert second.deviation_percent == pytest.approx(6.97, abs=0.1)


def test_hostile_reasons_are_cleaned_and_bounded() -> None:
    said = {**DEAD, "reason": "\x1b[2J" + 5000 * "x"}
    why = read([row(0), row(4, **said)], [0, 4]).skipped[4]
    assert "\x1b" not in why
    assert len(why) <= 1000
