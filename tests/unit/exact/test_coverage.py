"""Which cases run what a patch changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cli.try_plan import CASES
from mitigauge.kernels.functions import Changed
from mitigauge.profiles.exact.coverage import (
    CountedCase,
    Coverage,
    Reach,
    ReachPlan,
    functions_run,
    plan_of,
    reach_of,
)
from tests.unit.exact.ledgers import function, ledger

AT = datetime(2026, 11, 26, tzinfo=UTC)


def code(*functions: str) -> Changed:
    return Changed(frozenset(functions))


def known(*functions: str) -> Coverage:
    return Coverage(frozenset(functions), "7.2.12", AT)


def test_a_case_runs_the_functions_of_the_kernel_that_its_operation_runs() -> None:
    found = functions_run(
        ledger(
            function("enter", {"push": 1, "ret": 1}),
            function("tick", {"inc": 0.004}),
            function("kvm_run", {"push": 1}),
            function("getppid", {"syscall": 1}, module="libc.so.6"),
            function("", {"nop": 3}),
        )
    )
    assert found == {"enter", "kvm_run"}


def test_a_case_is_worth_measuring_where_it_runs_a_change_or_nobody_knows() -> None:
    assert reach_of(code("enter"), known("enter", "leave")).functions == ("enter",)
    assert reach_of(code("other"), known("enter")).is_worth_measuring is False
    assert reach_of(code("enter"), None).is_worth_measuring is True


def test_who_reads_changed_data_is_not_known() -> None:
    data = Changed(objects=frozenset({"limit"}))
    assert reach_of(data, known("enter")).functions is None
    both = Changed(frozenset({"rare"}), frozenset({"limit"}))
    assert reach_of(both, known("enter")).is_worth_measuring is True
    assert reach_of(both, known("rare")).functions == ("rare",)
    told = list(plan_of(both, {"c": [counted("one")]}, {}, "7.2.12").told())
    assert told == [
        "functions changed: rare",
        "data changed: limit; which cases read it is not known",
    ]


def test_where_nothing_differs_nothing_is_measured() -> None:
    plan = plan_of(Changed(), {"c": [counted("one")]}, {}, "7.2.12")
    assert plan.left_out == ["c"]
    assert list(plan.told()) == [
        "no function and no data of the kernel differ",
        "c runs none of it, and is left out",
    ]


def test_the_plan_says_why_a_case_is_left_out() -> None:
    first, second, third = CASES[:3]
    plan = ReachPlan(
        code("enter"),
        {
            first: reach_of(code("enter"), known("enter")),
            second: reach_of(code("enter"), known("leave")),
            third: Reach(None),
        },
    )
    assert plan.measured == [first, third]
    told = list(plan.told())
    assert told[0] == "functions changed: enter"
    assert "syscall basic runs enter" in told
    left_out = "syscall getpgid runs none of it (counted on 7.2.12 on 2026-11-26), and is left out"
    assert left_out in told


def test_nothing_is_measured_where_no_case_runs_it() -> None:
    plan = ReachPlan(code("rare"), {case: reach_of(code("rare"), known("enter")) for case in CASES})
    assert plan.measured == []


def counted(host: str) -> CountedCase:
    return CountedCase("syscall", "{}", "x/off", "lab", host)


def test_on_several_hosts_all_must_be_known() -> None:
    one, other = counted("one"), counted("other")
    older = Coverage(frozenset({"leave"}), "7.2.1", AT - timedelta(days=3))
    both = plan_of(
        code("enter"), {"c": [one, other]}, {one: known("leave"), other: older}, "7.2.12"
    )
    assert (both.measured, both.left_out) == ([], ["c"])
    assert both.reach["c"].known_by == "counted on 7.2.1 on 2026-11-23"
    half = plan_of(code("enter"), {"c": [one, other]}, {one: known("leave")}, "7.2.12")
    assert half.measured == ["c"]


@pytest.mark.parametrize(
    ("release", "left_out"),
    [("7.2.99-mgabc", ["c"]), ("7.20.1", []), ("6.12.1", []), ("", []), ("custom", [])],
)
def test_what_was_counted_on_another_version_is_not_known(
    release: str, left_out: list[str]
) -> None:
    plan = plan_of(
        code("enter"), {"c": [counted("one")]}, {counted("one"): known("leave")}, release
    )
    assert plan.left_out == left_out


def test_where_nobody_knows_what_was_changed_all_is_measured() -> None:
    plan = plan_of(None, {"c": [counted("one")]}, {counted("one"): known("leave")}, "7.2.12")
    assert plan.measured == ["c"]
