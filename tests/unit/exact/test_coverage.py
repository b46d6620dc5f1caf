"""Which cases run what a patch changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cli.try_plan import CASES
from mitigauge.analysis.profiles.exact.coverage import (
    COUNTED_ELSEWHERE,
    NOT_COUNTED,
    CountedCase,
    Coverage,
    Reach,
    ReachPlan,
    Unlike,
    plan_of,
    reach_of,
)
from mitigauge.analysis.profiles.exact.run_code import Executed
from mitigauge.kernels.basic_blocks import Range
from mitigauge.kernels.functions import Changed, Parts

AT = datetime(2026, 11, 26, tzinfo=UTC)


def code(*functions: str) -> Changed:
    return Changed(frozenset(functions))


def known(*functions: str) -> Coverage:
    return Coverage(dict.fromkeys(functions, ()), "7.2.12", AT, "built")


def reach(changed: Changed | None, coverage: Coverage | None, parts: Parts | None = None) -> Reach:
    """By a count on one of the kernels that are compared."""
    return reach_of(changed, coverage, Unlike(changed or Changed(), parts or {}))


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
    alike = Unlike(code("rare", "seldom"))
    assert reach_of(changed, coverage, alike).functions == ()
    other = reach_of(changed, coverage, Unlike(code("rare", "leave")))
    assert (other.functions, other.is_worth_measuring) == (None, True)
    assert other.why_open == "leave differ from 7.2.12, on which it was counted"
    # Where it differs is not where it ran.
    ran = Coverage({"leave": [Executed(0, 8, 1.0)]}, "7.2.12", AT, "built")
    beside = Unlike(code("rare", "leave"), {"leave": [Range(8, 16)]})
    assert reach_of(changed, ran, beside).functions == ()
    assert reach_of(changed, coverage, Unlike(Changed(objects=frozenset({"x"})))).functions is None
    assert reach_of(changed, coverage, None).functions is None


def test_the_newest_count_decides_by_which_it_can_be_told() -> None:
    one = counted("one")
    newest = Coverage({"enter": ()}, "7.3.1", AT, "other")
    unlike = {"built": Unlike(code("rare")), "other": Unlike(code("rare", "enter"))}
    plan = plan_of(code("rare"), {"c": [one]}, {one: [newest, known("enter")]}, unlike)
    assert (plan.left_out, plan.reach["c"].known_by) == (["c"], "counted on 7.2.12 on 2026-11-26")
    alone = plan_of(code("rare"), {"c": [one]}, {one: [newest]}, unlike)
    assert alone.measured == ["c"]
    assert alone.reach["c"].why_open == "enter differ from 7.3.1, on which it was counted"


def test_a_ledger_that_is_not_whole_tells_of_nothing_that_did_not_run() -> None:
    part = Coverage({"enter": ()}, "7.2.12", AT, "built", is_whole=False)
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


BUILT = {"built": Unlike(code("enter"))}


def test_on_several_hosts_all_must_be_known() -> None:
    one, other = counted("one"), counted("other")
    older = Coverage({"leave": ()}, "7.2.1", AT - timedelta(days=3), "older")
    both = plan_of(
        code("enter"),
        {"c": [one, other]},
        {one: [known("leave")], other: [older]},
        {"built": Unlike(code("enter")), "older": Unlike(code("enter", "more"))},
    )
    assert (both.measured, both.left_out) == ([], ["c"])
    assert both.reach["c"].known_by == "counted on 7.2.1 on 2026-11-23"
    half = plan_of(code("enter"), {"c": [one, other]}, {one: [known("leave")]}, BUILT)
    assert half.measured == ["c"]


def test_where_nobody_knows_what_was_changed_all_is_measured() -> None:
    plan = plan_of(None, {"c": [counted("one")]}, {counted("one"): [known("leave")]}, BUILT)
    assert plan.measured == ["c"]


RUN = [Executed(0, 16, 4.0), Executed(32, 48, 3.0), Executed(64, 72, 0.02)]


def partly(parts: Parts, *, of: str = "built") -> ReachPlan[str]:
    """The plan of a case that runs three parts of `write`, counted on the kernel *of* notes."""
    coverage = Coverage({"write": RUN, "tick": ()}, "7.2.12", AT, of)
    changed = code("write", "tick") if "tick" in parts else code("write")
    unlike = {"built": Unlike(changed, parts)}
    return plan_of(changed, {"c": [counted("one")]}, {counted("one"): [coverage]}, unlike)


@pytest.mark.parametrize(
    ("ranges", "is_measured"),
    [
        ([Range(16, 32)], False),
        ([Range(48, 64), Range(72, 1 << 32)], False),
        ([Range(15, 16)], True),
        ([Range(40, 64)], True),
        ([Range(0, 8)], True),
        # Every fiftieth operation runs it.
        ([Range(64, 72)], True),
        ([Range(16, 32), Range(47, 48)], True),
        ([], False),
    ],
)
def test_a_case_that_runs_nothing_in_a_function_that_differs_is_left_out(
    ranges: list[Range], is_measured: bool
) -> None:
    plan = partly({"write": ranges})
    assert bool(plan.measured) == is_measured
    if not is_measured:
        said = "c runs write, but nothing in it that differs (counted on 7.2.12 on 2026-11-26)"
        assert f"{said}, and is left out" in plan.lines()


def test_where_the_parts_are_of_another_build_it_cannot_be_told() -> None:
    for of in ("other", ""):
        plan = partly({"write": [Range(16, 32)]}, of=of)
        assert plan.measured == ["c"]
        assert plan.reach["c"].why_open == COUNTED_ELSEWHERE


def test_where_the_instructions_are_not_known_the_function_stands_for_them() -> None:
    plan = partly({"write": [Range(16, 32)], "tick": [Range(0, 8)]})
    assert plan.reach["c"].functions == ("tick",)
    assert plan.reach["c"].beside == ("write",)


def test_changed_data_may_be_read_beside_what_differs() -> None:
    coverage = Coverage({"write": RUN}, "7.2.12", AT, "built")
    both = Changed(frozenset({"write"}), frozenset({"limit"}))
    assert reach(both, coverage, {"write": [Range(16, 32)]}).functions is None


def test_a_host_that_runs_what_differs_decides_for_the_others() -> None:
    one, other = counted("one"), counted("other")
    far = Coverage({"write": [Executed(16, 32, 4.0)]}, "7.2.12", AT, "built")
    near = Coverage({"write": RUN}, "7.2.12", AT, "built")
    plan = plan_of(
        code("write"),
        {"c": [one, other]},
        {one: [near], other: [far]},
        {"built": Unlike(code("write"), {"write": [Range(16, 32)]})},
    )
    assert plan.reach["c"].functions == ("write",)
    assert plan.reach["c"].beside == ()
