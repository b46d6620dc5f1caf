"""What an operation runs of the kernel's functions, as it is kept."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.exact.run_code import (
    CodeRun,
    Executed,
    RunCode,
    code_run,
    packed,
    unpacked,
)
from tests.unit.exact.ledgers import Lines, function, ledger


def executed(lines: Lines) -> list[Executed]:
    """Of a function with these instructions, of four bytes each."""
    found = code_run(ledger(function("write", lines)))
    return list(found.functions["write"])


def test_the_functions_of_the_kernel_that_an_operation_runs_are_kept() -> None:
    found = code_run(
        ledger(
            function("enter", {"push": 1, "ret": 1}),
            function("tick", {"inc": 0.004}),
            function("kvm_run", {"push": 1}),
            function("getppid", {"syscall": 1}, module="libc.so.6"),
        )
    )
    assert set(found.functions) == {"enter", "tick", "kvm_run"}
    assert found.is_whole


def test_code_without_a_name_or_a_function_may_be_anything() -> None:
    enter, nameless = function("enter", {"push": 1}), function("", {"nop": 3})
    found = code_run(ledger(enter, nameless))
    assert (set(found.functions), found.is_whole) == ({"enter"}, False)
    assert code_run(ledger(enter, nameless.model_copy(update={"is_kernel": False}))).is_whole
    counted = ledger(enter)
    more = [window.model_copy(update={"instructions": 1004}) for window in counted.windows]
    assert not code_run(counted.model_copy(update={"windows": more})).is_whole


def test_instructions_that_ran_equally_often_stand_together() -> None:
    assert executed({"push": 1, "test": 1, "inc": 8, "jne": 8, "pop": 1, "ret": [1, 1]}) == [
        Executed(0, 8, 2.0),
        Executed(8, 16, 16.0),
        Executed(16, 24, 2.0),
    ]


def test_what_did_not_run_is_between_them() -> None:
    """A ledger has no line of it."""
    whole = function("write", {"push": 1, "ud2": 0, "pop": 1})
    lines = [line for line in whole.lines if any(line.runs)]
    found = code_run(ledger(whole.model_copy(update={"lines": lines})))
    assert found.functions["write"] == [Executed(0, 4, 1.0), Executed(8, 12, 1.0)]


def test_where_instructions_are_missing_the_function_alone_is_known() -> None:
    whole = function("write", {"push": 1, "pop": 1})
    found = code_run(ledger(whole.model_copy(update={"lines": whole.lines[:1]})))
    assert found.functions == {"write": []}


def test_of_several_functions_of_one_name_nobody_knows_which_ran() -> None:
    two = [function("show", {"push": 1}), function("show", {"push": 1}, module="kernel")]
    assert code_run(ledger(*two)).functions == {"show": []}


@pytest.mark.parametrize(
    "code", [{}, {"enter": []}, {"enter": [Executed(0, 8, 2.5), Executed(9, 12, 0.000001)]}]
)
def test_what_is_stored_is_read_again(code: RunCode) -> None:
    for is_whole in (True, False):
        assert unpacked(packed(CodeRun(code, is_whole))) == (code, is_whole)


def test_what_is_not_there_or_in_another_form_is_worked_out_of_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = packed(CodeRun({"enter": []}, True))
    monkeypatch.setattr("mitigauge.analysis.profiles.exact.run_code._FORM", 4)
    assert unpacked(stored) is None
    assert unpacked(None) is None
