"""Which hosts, arms and rows of two experiments belong together."""

from __future__ import annotations

from typing import Any

import pytest

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.reporting.pages.pair_matches import (
    ArmLine,
    CaseLine,
    RunLine,
    SideComparison,
    match,
    pair_arms,
    pair_hosts,
)
from mitigauge.reporting.pages.pair_schemas import Unmatched

TIME = CaseMetric("ns", "lower", "Time", True)


def arm(number: int, name: str, mode: str, *, base: bool = False, aa: bool = False) -> ArmLine:
    return ArmLine(number, name, mode, "", "", base, aa)


def case(number: int, parameters: str, **metrics: CaseMetric) -> CaseLine:
    declared = metrics or {"time": TIME}
    return CaseLine(declared, number, "spin", f"case {parameters}", parameters, False, 5)


def run(number: int, host: int, clock: Clock = Clock.REAL) -> RunLine:
    return RunLine(number, host, f"host-{host}", clock)


def comparison(
    arms: list[ArmLine], runs: list[RunLine], cases: list[CaseLine], name: str = "modes"
) -> SideComparison:
    return SideComparison(name, 4, 1, arms, runs, cases, next(a for a in arms if a.is_baseline))


def plain(first: int, host: int = 1, **changed: Any) -> SideComparison:
    """One arm beside the baseline, two cases, one host; ids from *first* on."""
    parts = {
        "arms": [arm(first, "off", "x/off", base=True), arm(first + 1, "on", "x/on")],
        "runs": [run(first, host)],
        "cases": [case(first, "1"), case(first + 1, "2")],
        **changed,
    }
    return comparison(**parts)


def matched(a: list[SideComparison], b: list[SideComparison]) -> Any:
    hosts = [[(r.host_id, r.host) for of in side for r in of.runs] for side in (a, b)]
    return match(a, b, pair_hosts(hosts[0], hosts[1], ()))


def keys(found: Any) -> list[tuple[Any, ...]]:
    return [(of.a.case.parameters, of.a.arm.name, of.b.arm.name, of.metric) for of in found.rows]


def test_the_same_host_is_paired_and_others_are_not_guessed() -> None:
    pairs = pair_hosts([(1, "a"), (2, "b")], [(1, "a"), (3, "c")], ())
    assert [(p.a[1], p.b[1], p.how) for p in pairs] == [("a", "a", "same")]
    assert pair_hosts([(1, "a")], [(3, "c")], ()) == []


def test_a_pair_that_is_asked_for_comes_before_the_same_host() -> None:
    pairs = pair_hosts([(1, "a"), (2, "b")], [(1, "a"), (2, "b")], [("a", "b")])
    assert [(p.a[1], p.b[1], p.how) for p in pairs] == [("a", "b", "asked")]


def test_a_name_in_two_environments_is_said() -> None:
    [pair] = pair_hosts([(1, "a")], [(9, "a")], ())
    assert pair.how == "name"


@pytest.mark.parametrize("asked", [[("x", "a")], [("a", "x")], [("a", "a"), ("a", "b")]])
def test_a_host_that_is_not_there_is_refused_with_those_that_are(asked: Any) -> None:
    with pytest.raises(InvalidInput, match="has no host") as refused:
        pair_hosts([(1, "a"), (2, "b")], [(1, "a"), (2, "b")], asked)
    assert "Its hosts: " in refused.value.hint


def test_arms_are_paired_by_name_and_baselines_whatever_they_are_called() -> None:
    a = [arm(1, "off", "x/off", base=True), arm(2, "old", "x/on"), arm(3, "6.13", "x/on")]
    b = [arm(4, "none", "y/off", base=True), arm(5, "6.13", "x/else"), arm(6, "new", "x/on")]
    found = [(p.a.name, p.b.name) for p in pair_arms(a, b)]
    assert found == [("off", "none"), ("6.13", "6.13")]


def test_doubled_baselines_are_never_paired() -> None:
    base = arm(1, "off", "x/off", base=True)
    again = arm(2, "off-again", "x/off", aa=True)
    assert [p.a.name for p in pair_arms([base, again], [base, again])] == ["off"]


def test_rows_are_matched_by_parameters_in_as_order() -> None:
    a = plain(1, cases=[case(1, "2"), case(2, "1"), case(3, "3")])
    found = matched([a], [plain(11)])
    assert keys(found) == [("2", "on", "on", "time"), ("1", "on", "on", "time")]
    assert found.unmatched == {Unmatched.ONLY_A: 1}


def test_another_workload_of_the_same_parameters_is_another_case() -> None:
    other = case(11, "1")._replace(workload="else")
    found = matched([plain(1)], [plain(11, cases=[other])])
    assert found.rows == []
    assert found.unmatched == {Unmatched.ONLY_A: 2, Unmatched.ONLY_B: 1}


def test_measured_and_counted_time_are_never_matched() -> None:
    b = plain(11, runs=[run(11, 1, Clock.COUNTED)])
    found = matched([plain(1)], [b])
    assert found.rows == []
    # Both rows of a refused pair count once.
    assert found.unmatched == {Unmatched.CLOCK: 2}


def test_another_unit_is_not_matched() -> None:
    b = plain(11, cases=[case(11, "1", time=CaseMetric("us", "lower", "Time", True))])
    found = matched([plain(1)], [b])
    assert found.unmatched == {Unmatched.UNIT: 1, Unmatched.ONLY_A: 1}


def test_counters_are_left_out_and_not_counted() -> None:
    cycles = CaseMetric("count", "lower", "Cycles", False, counter=True)
    a = plain(1, cases=[case(1, "1", time=TIME, cycles=cycles)])
    found = matched([a], [plain(11, cases=[case(11, "1", time=TIME, cycles=cycles)])])
    assert keys(found) == [("1", "on", "on", "time")]
    assert not found.unmatched


def test_rows_of_a_host_without_a_pair_say_so() -> None:
    a = plain(1, runs=[run(1, 1), run(2, 2), run(3, 3)])
    found = matched([a], [plain(11)])
    assert len(found.rows) == 2
    assert found.unmatched == {Unmatched.HOST_A: 4}


def test_a_case_that_stands_twice_is_matched_in_order_and_once() -> None:
    a = plain(1, cases=[case(1, "1"), case(2, "1")])
    b = plain(11, cases=[case(11, "1"), case(12, "1"), case(13, "1")])
    found = matched([a], [b])
    assert [(of.a.case.id, of.b.case.id) for of in found.rows] == [(1, 11), (2, 12)]
    assert found.unmatched == {Unmatched.ONLY_B: 1}


def test_comparisons_of_one_name_alone_are_matched() -> None:
    found = matched([plain(1)], [plain(31, name="else"), plain(11)])
    assert {of.b.run.id for of in found.rows} == {11}
    assert found.unmatched == {Unmatched.ONLY_B: 2}
