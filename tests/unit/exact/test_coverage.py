"""Which cases run what a patch changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cli.try_plan import CASES
from mitigauge.kernels.basic_blocks import Range
from mitigauge.kernels.functions import Changed, Parts
from mitigauge.profiles.exact.coverage import (
    CountedCase,
    Coverage,
    Reach,
    ReachPlan,
    plan_of,
    reach_of,
)
from mitigauge.profiles.exact.run_code import Executed

AT = datetime(2026, 11, 26, tzinfo=UTC)


def code(*functions: str) -> Changed:
    return Changed(frozenset(functions))


def known(*functions: str) -> Coverage:
    return Coverage(dict.fromkeys(functions, ()), "7.2.12", AT)


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
    older = Coverage({"leave": ()}, "7.2.1", AT - timedelta(days=3))
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


RUN = [Executed(0, 16, 4.0), Executed(32, 48, 3.0), Executed(64, 72, 0.02)]


def partly(parts: Parts, *, of: str = "built") -> ReachPlan[str]:
    """The plan of a case that runs three parts of `write`, counted on the kernel *of* notes."""
    coverage = Coverage({"write": RUN, "tick": ()}, "7.2.12", AT, of)
    changed = code("write", "tick") if "tick" in parts else code("write")
    return plan_of(
        changed, {"c": [counted("one")]}, {counted("one"): coverage}, "7.2.12", {"built": parts}
    )


@pytest.mark.parametrize(
    ("ranges", "is_measured"),
    [
        ([Range(16, 32)], False),
        ([Range(48, 64), Range(72, 1 << 32)], False),
        ([Range(15, 16)], True),
        ([Range(40, 64)], True),
        ([Range(0, 8)], True),
        # Every fiftieth operation is what all cases meet.
        ([Range(64, 72)], False),
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
        assert f"{said}, and is left out" in plan.told()


def test_where_the_parts_are_of_another_build_the_function_stands_for_all_of_it() -> None:
    assert partly({"write": [Range(16, 32)]}, of="other").measured == ["c"]
    assert partly({"write": [Range(16, 32)]}, of="").measured == ["c"]


def test_where_the_instructions_are_not_known_the_function_stands_for_them() -> None:
    plan = partly({"write": [Range(16, 32)], "tick": [Range(0, 8)]})
    assert plan.reach["c"].functions == ("tick",)
    assert plan.reach["c"].beside == ("write",)


def test_changed_data_may_be_read_beside_what_differs() -> None:
    coverage = Coverage({"write": RUN}, "7.2.12", AT, "built")
    both = Changed(frozenset({"write"}), frozenset({"limit"}))
    assert reach_of(both, coverage, {"write": [Range(16, 32)]}).functions is None


def test_a_host_that_runs_what_differs_decides_for_the_others() -> None:
    one, other = counted("one"), counted("other")
    far = Coverage({"write": [Executed(16, 32, 4.0)]}, "7.2.12", AT, "built")
    near = Coverage({"write": RUN}, "7.2.12", AT, "built")
    plan = plan_of(
        code("write"),
        {"c": [one, other]},
        {one: near, other: far},
        "7.2.12",
        {"built": {"write": [Range(16, 32)]}},
    )
    assert plan.reach["c"].functions == ("write",)
    assert plan.reach["c"].beside == ()
