"""Which cases run what a patch changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cli.try_plan import CASES
from mitigauge.analysis.profiles.exact.coverage import (
    NOT_COUNTED,
    CountedCase,
    Coverage,
    Reach,
    ReachPlan,
    plan_of,
    reach_of,
)
from mitigauge.kernels.functions import Changed

AT = datetime(2026, 11, 26, tzinfo=UTC)


def code(*functions: str) -> Changed:
    return Changed(frozenset(functions))


def known(*functions: str) -> Coverage:
    return Coverage(frozenset(functions), "7.2.12", AT, "built")


def reach(changed: Changed | None, coverage: Coverage | None) -> Reach:
    """By a count on one of the kernels that are compared."""
    return reach_of(changed, coverage, changed or Changed())


def test_a_case_is_worth_measuring_where_it_runs_a_change_or_nobody_knows() -> None:
    assert reach(code("enter"), known("enter", "leave")).functions == ("enter",)
    assert reach(code("other"), known("enter")).is_worth_measuring is False
    assert reach(code("enter"), None).is_worth_measuring is True


def test_who_reads_changed_data_is_not_known() -> None:
    data = Changed(objects=frozenset({"limit"}))
    assert reach(data, known("enter")).functions is None
    both = Changed(frozenset({"rare"}), frozenset({"limit"}))
    assert reach(both, known("enter")).is_worth_measuring is True
    assert reach(both, known("rare")).functions == ("rare",)
    told = list(plan_of(both, {"c": [counted("one")]}, {}, {}).lines())
    assert told == [
        "functions changed: rare",
        "data changed: limit; which cases read it is not known",
        f"c is measured: whether it runs it cannot be told ({NOT_COUNTED})",
    ]


def test_a_count_tells_of_kernels_alone_that_are_alike_in_what_it_ran() -> None:
    """A count of yesterday's kernel, where another function that it ran was changed since."""
    changed, coverage = code("rare"), known("enter", "leave")
    alike = code("rare", "seldom")
    assert reach_of(changed, coverage, alike).functions == ()
    other = reach_of(changed, coverage, code("rare", "leave"))
    assert (other.functions, other.is_worth_measuring) == (None, True)
    assert other.why_open == "leave differ from 7.2.12, on which it was counted"
    assert reach_of(changed, coverage, Changed(objects=frozenset({"x"}))).functions is None
    assert reach_of(changed, coverage, None).functions is None


def test_the_newest_count_decides_by_which_it_can_be_told() -> None:
    one = counted("one")
    newest = Coverage(frozenset({"enter"}), "7.3.1", AT, "other")
    unlike = {"built": code("rare"), "other": code("rare", "enter")}
    plan = plan_of(code("rare"), {"c": [one]}, {one: [newest, known("enter")]}, unlike)
    assert (plan.left_out, plan.reach["c"].known_by) == (["c"], "counted on 7.2.12 on 2026-11-26")
    alone = plan_of(code("rare"), {"c": [one]}, {one: [newest]}, unlike)
    assert alone.measured == ["c"]
    assert alone.reach["c"].why_open == "enter differ from 7.3.1, on which it was counted"


def test_a_ledger_that_is_not_whole_tells_of_nothing_that_did_not_run() -> None:
    part = Coverage(frozenset({"enter"}), "7.2.12", AT, "built", is_whole=False)
    assert reach(code("rare"), part).functions is None
    assert reach(code("enter"), part).functions == ("enter",)


def test_what_runs_while_the_kernel_starts_may_change_what_runs_later() -> None:
    start = Changed(frozenset({"init_it"}), boot=frozenset({"init_it"}))
    told = reach(start, known("enter"))
    assert (told.functions, told.why_open) == (None, "init_it run while the kernel starts")


def test_where_nothing_differs_nothing_is_measured() -> None:
    plan = plan_of(Changed(), {"c": [counted("one")]}, {}, {})
    assert plan.left_out == ["c"]
    assert list(plan.lines()) == [
        "no function and no data of the kernel differ",
        "c runs none of it, and is left out",
    ]


def test_the_plan_says_why_a_case_is_left_out() -> None:
    first, second, third = CASES[:3]
    plan = ReachPlan(
        code("enter"),
        {
            first: reach(code("enter"), known("enter")),
            second: reach(code("enter"), known("leave")),
            third: Reach(None),
        },
    )
    assert plan.measured == [first, third]
    told = list(plan.lines())
    assert told[0] == "functions changed: enter"
    assert "syscall basic runs enter" in told
    left_out = "syscall getpgid runs none of it (counted on 7.2.12 on 2026-11-26), and is left out"
    assert left_out in told


def test_nothing_is_measured_where_no_case_runs_it() -> None:
    plan = ReachPlan(code("rare"), {case: reach(code("rare"), known("enter")) for case in CASES})
    assert plan.measured == []


def counted(host: str) -> CountedCase:
    return CountedCase("syscall", "{}", "x/off", "lab", host)


BUILT = {"built": code("enter")}


def test_on_several_hosts_all_must_be_known() -> None:
    one, other = counted("one"), counted("other")
    older = Coverage(frozenset({"leave"}), "7.2.1", AT - timedelta(days=3), "older")
    both = plan_of(
        code("enter"),
        {"c": [one, other]},
        {one: [known("leave")], other: [older]},
        {"built": code("enter"), "older": code("enter", "more")},
    )
    assert (both.measured, both.left_out) == ([], ["c"])
    assert both.reach["c"].known_by == "counted on 7.2.1 on 2026-11-23"
    half = plan_of(code("enter"), {"c": [one, other]}, {one: [known("leave")]}, BUILT)
    assert half.measured == ["c"]


def test_where_nobody_knows_what_was_changed_all_is_measured() -> None:
    plan = plan_of(None, {"c": [counted("one")]}, {counted("one"): [known("leave")]}, BUILT)
    assert plan.measured == ["c"]
