"""What an operation runs of the kernel's functions, as it is kept."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.exact.run_code import CodeRun, code_run, packed, unpacked
from tests.unit.exact.ledgers import function, ledger


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


@pytest.mark.parametrize("code", [frozenset(), frozenset({"enter"}), frozenset({"enter", "leave"})])
def test_what_is_stored_is_read_again(code: frozenset[str]) -> None:
    for is_whole in (True, False):
        assert unpacked(packed(CodeRun(code, is_whole))) == (code, is_whole)


def test_what_is_not_there_or_in_another_form_is_worked_out_of_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = packed(CodeRun(frozenset({"enter"}), True))
    monkeypatch.setattr("mitigauge.analysis.profiles.exact.run_code._FORM", 5)
    assert unpacked(stored) is None
    assert unpacked(None) is None
