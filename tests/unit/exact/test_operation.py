"""What each operation runs, and what runs beside it."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.exact.difference import function_pairs
from mitigauge.analysis.profiles.exact.operation import operation_of
from tests.unit.exact.ledgers import function, ledger

PATH = {"push": 1, "loop": 84, "ret": 1}


# What an interrupt runs first; 12 instructions, and one interrupt in 400 operations.
INTERRUPTED = function("asm_sysvec_apic_timer_interrupt", {"push": 0.03})


def test_what_runs_the_same_number_of_times_is_steady() -> None:
    operation = operation_of([ledger(function("enter", PATH))])
    assert operation.steady == 86
    assert operation.instructions == 86
    assert operation.functions["kernel", "enter"].is_whole


def test_what_runs_now_and_then_stands_beside_it() -> None:
    tick = function("tick", {"inc": 0.004})
    operation = operation_of([ledger(function("enter", PATH), tick)])
    assert operation.steady == 86
    assert operation.instructions == pytest.approx(86.004)
    assert operation.functions["kernel", "tick"].steady == 0


def test_an_interrupt_that_runs_the_same_code_changes_nothing() -> None:
    path = {"push": [1.006, 1.004], "ret": [1.006, 1.004]}
    interrupted = operation_of([ledger(function("enter", path), INTERRUPTED)])
    assert interrupted.functions["kernel", "enter"].steady == 2
    assert interrupted.functions["kernel", "enter"].is_whole
    # Nothing interrupted these operations, so that something else runs it six times more.
    alone = operation_of([ledger(function("enter", path))])
    assert alone.functions["kernel", "enter"].steady == 0
    assert not alone.functions["kernel", "enter"].is_whole


@pytest.mark.parametrize("runs", [[66.52, 66.53], [66.9, 66.1], [66.0, 66.7]])
def test_what_interrupts_run_often_is_told_by_what_jumps_there(runs: list[float]) -> None:
    """A return thunk is run as often in either arm, whatever interrupts add."""
    thunk = function("thunk", {"ret": runs, "int3": 0})
    callers = function("callers", {"jmp thunk": 66, "jne thunk": 0, "callq thunks": 9})
    counted = operation_of([ledger(thunk, callers, INTERRUPTED)])
    assert counted.functions["kernel", "thunk"].steady == 66
    assert counted.functions["kernel", "thunk"].is_whole
    for others in (65, 67):
        callers = function("callers", {"jmp thunk": others})
        counted = operation_of([ledger(thunk, callers, INTERRUPTED)])
        assert counted.functions["kernel", "thunk"].steady == 0


def test_a_thunk_that_enters_another_one_settles_both() -> None:
    inner = function("inner", {"ret": [5.3, 5.2]})
    outer = function("__pi_outer", {"callq +0x6": [2.1, 2.2], "jmp inner": [2.1, 2.2]})
    callers = function("callers", {"callq __pi_outer": 1, "jmp outer": 1, "jmp inner": 3})
    found = operation_of([ledger(inner, outer, callers, INTERRUPTED)]).functions
    assert [found["kernel", name].steady for name in ("inner", "__pi_outer")] == [5, 4]


@pytest.mark.parametrize(
    "runs",
    [[1, 2], [66.0, 67.0], [65.0, 66.0], [66.75, 66.70], [1.5, 1.5], [0.4, 0.4], [1, 1.1],
     [1.02, 1.02], [0.98, 0.98], [66.3, 66.3], [0.02, 0.02]],
)  # fmt: skip
def test_what_differs_or_is_no_whole_number_is_not_steady(runs: list[float]) -> None:
    operation = operation_of([ledger(function("enter", {"push": runs}), INTERRUPTED)])
    assert operation.functions["kernel", "enter"].steady == 0
    assert not operation.functions["kernel", "enter"].is_whole


@pytest.mark.parametrize("share", [0.01, 0.02, 0.1, 0.25, 0.5, 0.7, 0.74, 0.9, 0.98, 0.99])
@pytest.mark.parametrize("more", [2, 14, 100])
def test_instructions_that_a_part_of_operations_runs_are_no_whole_difference(
    share: float, more: int
) -> None:
    """Two, fourteen or a hundred of them: the difference is that of means, and not 0 or all."""
    path = {f"mov {number}": 1.0 for number in range(200)}
    plain = operation_of([ledger(function("enter", path), INTERRUPTED)])
    rarely = {f"new {number}": share + 0.005 for number in range(more)}
    patched = operation_of([ledger(function("enter", path | rarely), INTERRUPTED)])
    [pair] = [each for each in function_pairs(plain, patched, {}) if each.key[1] == "enter"]
    assert pair.exact is None
    assert pair.difference == pytest.approx(more * (share + 0.005), rel=0.2)


@pytest.mark.parametrize("more", [1, 2, 10, 14])
@pytest.mark.parametrize("boots", [1, 3])
def test_instructions_that_each_operation_runs_are_a_whole_difference(
    more: int, boots: int
) -> None:
    path = {f"mov {number}": 1.0 for number in range(200)}
    longer = path | {f"new {number}": 1.0 for number in range(more)}
    of = [
        operation_of([ledger(function("enter", each), INTERRUPTED)] * boots)
        for each in (path, longer)
    ]
    [pair] = [each for each in function_pairs(*of, {}) if each.key[1] == "enter"]
    assert (pair.exact, of[1].steady - of[0].steady) == (more, more)


def test_boots_that_differ_are_not_steady_together() -> None:
    boots = [ledger(function("enter", {"push": each})) for each in (1, 2)]
    operation = operation_of(boots)
    assert (operation.boots, operation.steady, operation.instructions) == (2, 0, 1.5)


def test_a_boot_that_lacks_a_function_ran_it_never() -> None:
    enter, rarely = function("enter", PATH), function("rare", {"nop": 1})
    rare = operation_of([ledger(enter, rarely), ledger(enter)]).functions["kernel", "rare"]
    assert rare.values == (1, 0)
    assert not rare.is_whole


def test_functions_of_one_name_are_one_row_with_the_lines_of_both() -> None:
    twice = ledger(function("show", {"push": 1}), function("show", {"push": 1, "pop": 1}))
    assert operation_of([twice]).functions["kernel", "show"].steady == 3


def test_time_is_two_nanoseconds_an_instruction() -> None:
    operation = operation_of([ledger(function("enter", PATH))])
    assert operation.counted_ns == pytest.approx(172)
    assert operation.seconds * 1e9 == pytest.approx(172)
