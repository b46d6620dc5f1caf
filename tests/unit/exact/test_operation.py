"""What each operation runs, and what runs beside it."""

from __future__ import annotations

import pytest

from mitigauge.profiles.exact.operation import FunctionTotals, operation_of
from tests.unit.exact.ledgers import function, ledger

PATH = {"push": 1, "loop": 84, "ret": 1}


def is_steady(function: FunctionTotals) -> bool:
    """Whether nothing of note is beside what each operation runs of it."""
    return function.is_steady_at(function.mean)


def test_what_runs_the_same_number_of_times_is_steady() -> None:
    operation = operation_of([ledger(function("enter", PATH))])
    assert operation.steady == 86
    assert operation.instructions == 86
    assert is_steady(operation.functions["kernel", "enter"])


def test_what_runs_now_and_then_stands_beside_it() -> None:
    tick = function("tick", {"inc": 0.004})
    operation = operation_of([ledger(function("enter", PATH), tick)])
    assert operation.steady == 86
    assert operation.instructions == pytest.approx(86.004)
    assert not is_steady(operation.functions["kernel", "tick"])


def test_an_interrupt_that_runs_the_same_code_changes_nothing() -> None:
    path = {"push": [1.002, 1.001], "ret": [1.002, 1.001]}
    operation = operation_of([ledger(function("enter", path))])
    assert operation.steady == 2
    assert is_steady(operation.functions["kernel", "enter"])


@pytest.mark.parametrize("runs", [[66.52, 66.53], [66.48, 66.51], [65.9, 66.1], [66.0, 66.7]])
def test_what_interrupts_only_adds(runs: list[float]) -> None:
    """A return thunk that interrupts run too is run as often in either arm, whatever they add."""
    operation = operation_of([ledger(function("thunk", {"ret": runs}))])
    assert operation.steady == 66


@pytest.mark.parametrize(
    "runs", [[1, 2], [66.0, 67.0], [65.0, 66.0], [66.75, 66.70], [1.5, 1.5], [0.4, 0.4], [1, 1.1]]
)
def test_what_differs_or_is_no_whole_number_is_not_steady(runs: list[float]) -> None:
    operation = operation_of([ledger(function("enter", {"push": runs}))])
    assert operation.steady == 0


def test_boots_that_differ_are_not_steady_together() -> None:
    boots = [ledger(function("enter", {"push": each})) for each in (1, 2)]
    operation = operation_of(boots)
    assert (operation.boots, operation.steady, operation.instructions) == (2, 0, 1.5)


def test_a_boot_that_lacks_a_function_ran_it_never() -> None:
    enter, rarely = function("enter", PATH), function("rare", {"nop": 1})
    rare = operation_of([ledger(enter, rarely), ledger(enter)]).functions["kernel", "rare"]
    assert rare.values == (1, 0)
    assert not is_steady(rare)


def test_functions_of_one_name_are_one_row_with_the_lines_of_both() -> None:
    twice = ledger(function("show", {"push": 1}), function("show", {"push": 1, "pop": 1}))
    assert operation_of([twice]).functions["kernel", "show"].steady == 3


def test_time_is_two_nanoseconds_an_instruction() -> None:
    operation = operation_of([ledger(function("enter", PATH))])
    assert operation.counted_ns == pytest.approx(172)
    assert operation.seconds * 1e9 == pytest.approx(172)
