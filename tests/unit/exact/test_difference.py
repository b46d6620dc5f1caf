"""Two operations side by side: whole numbers where nothing differs but the code."""

from __future__ import annotations

import random

import pytest

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.counted_group import CountedBoots, CountedGroup
from mitigauge.analysis.profiles.exact.difference import interval_of, intervals_of
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.schemas import ExactTable
from mitigauge.analysis.profiles.exact.table import PriceList, exact_table
from tests.unit.exact.ledgers import function, ledger

ENTER = {"push": 1, "mov": 1, "ret": 1}
WITH_TEN = {"push": 1, **{f"nop{number}": 1 for number in range(10)}, "mov": 1, "ret": 1}


def group(label: str, *ledgers: Ledger, missing: tuple[str, ...] = ()) -> CountedGroup:
    counted = CountedBoots(ledgers) if ledgers else None
    return CountedGroup(label, Selection(1, 2, "lab-intel", label), counted, missing)


def compared(
    a: CountedGroup,
    b: CountedGroup,
    *,
    renamed: dict[str, str] | None = None,
    of: str = "",
) -> ExactTable:
    return exact_table(
        "syscall basic", a, b, renamed=renamed or {}, function=of, prices=PriceList({}, {})
    )


def test_ten_more_instructions_are_ten_in_their_function() -> None:
    table = compared(
        group("off", ledger(function("enter", ENTER), function("tick", {"inc": 0.004}))),
        group("on", ledger(function("enter", WITH_TEN), function("tick", {"inc": 0.006}))),
        of="enter",
    )
    assert table.exact == 10
    first = table.functions[0]
    assert (first.function, first.exact, first.low) == ("enter", 10, None)
    new = [row for row in table.instructions if row.mark == "new"]
    assert [row.text_b for row in new] == [f"nop{number}" for number in range(10)]
    assert all(row.b == 1 and row.place_a is None for row in new)


def test_new_and_gone_functions_are_marked() -> None:
    table = compared(
        group("off", ledger(function("enter", ENTER), function("old", {"nop": 1}))),
        group("on", ledger(function("enter", ENTER), function("young", {"nop": 2}))),
    )
    marks = {row.function: (row.mark, row.exact) for row in table.functions}
    assert marks == {"enter": ("", 0), "old": ("gone", -1), "young": ("new", 2)}
    assert table.exact == 1


def test_a_renamed_function_is_found_again() -> None:
    table = compared(
        group("v1", ledger(function("clear_bhb_loop", ENTER))),
        group("v2", ledger(function("clear_bhb_loop_nofence", {"push": 1, "ret": 1}))),
        renamed={"clear_bhb_loop": "clear_bhb_loop_nofence"},
    )
    [row] = table.functions
    assert (row.mark, row.was, row.exact) == ("renamed", "clear_bhb_loop", -1)


def test_names_of_other_modules_are_other_functions() -> None:
    table = compared(
        group("off", ledger(function("init", ENTER, module="kvm"))),
        group("on", ledger(function("init", ENTER, module="kvm_intel"))),
    )
    assert {row.mark for row in table.functions} == {"new", "gone"}


def test_boots_that_differ_give_an_interval_and_no_whole_number() -> None:
    def boots(*runs: float) -> list[Ledger]:
        return [ledger(function("enter", {"push": each})) for each in runs]

    table = compared(group("off", *boots(1.4, 1.5, 1.6)), group("on", *boots(2.4, 2.5, 2.6)))
    [row] = table.functions
    assert row.exact is None
    assert row.low is not None
    assert row.high is not None
    assert row.low < 1 < row.high
    assert table.low is not None


def test_intervals_of_many_are_those_of_each_alone() -> None:
    chance = random.Random(7)
    for boots in ((2, 2), (3, 2), (3, 5), (1, 3)):
        sides = [
            tuple(
                [chance.choice((0.0, 1 / 3, 1e6 * chance.random())) for _ in range(n)]
                for n in boots
            )
            for _ in range(300)
        ]
        assert intervals_of(sides) == [interval_of(a, b) for a, b in sides]
    assert intervals_of([]) == []


def test_the_sum_over_functions_is_the_whole_difference() -> None:
    table = compared(
        group("off", ledger(function("enter", ENTER), function("tick", {"inc": 0.4}))),
        group("on", ledger(function("enter", WITH_TEN), function("tick", {"inc": 0.7}))),
    )
    assert sum(row.difference for row in table.functions) == pytest.approx(table.difference)


def test_without_counts_the_reason_is_told() -> None:
    there = group("off", ledger(function("enter", ENTER)))
    told = compared(there, group("on", missing=("marks: no answer",)))
    assert told.why_none == "No exact counts of on: marks: no answer."
    assert told.functions == []
    assert "docs/exact.md" in compared(group("off"), group("on")).why_none


def test_instructions_of_other_programs_are_not_listed() -> None:
    path = {"push": 1, "cold": 0.0004, "ret": 1}
    table = compared(
        group("off", ledger(function("enter", path))),
        group("on", ledger(function("enter", path))),
        of="enter",
    )
    assert [row.text_a for row in table.instructions] == ["push", "ret"]
