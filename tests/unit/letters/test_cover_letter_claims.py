"""A cover letter's own figures beside what was measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import Verdict
from mitigauge.reporting.letters.reply.cover_letter_claims import LetterClaim, claims_beside
from mitigauge.reporting.pages.schemas import ComparisonView, ExperimentView, HostFacts
from tests.matrix_views import arm, baseline, measured, row, run, view

LETTER = """\
  | iPerf user-net | IBPB   | BHB Clear |
  |----------------|--------|-----------|
  | UDP 1-vCPU_p1  | -12.5% |   1.3%    |
  | TCP 1-vCPU_p1  | -10.4% |  -1.5%    |
  | TCP 4-vCPU_p4  |  -2.9% |  -1.4%    |
"""
CASES = {
    1: {"network": "user", "protocol": "udp", "vcpus": 1, "parallel": 1, "direction": "to-host"},
    2: {"network": "user", "protocol": "tcp", "vcpus": 1, "parallel": 1, "direction": "to-host"},
    3: {"network": "bridge", "protocol": "udp", "vcpus": 1, "parallel": 1, "direction": "to-host"},
}


def experiment(*, emulated: bool = False, hosts: tuple[str, ...] = ("spr-1",)) -> ExperimentView:
    """iPerf over two networks: UDP costs 12 % with IBPB, TCP nothing."""
    arms = [
        arm(1, "off", "vmscape/off", is_baseline=True),
        arm(2, "ibpb", "vmscape/ibpb"),
        arm(3, "bhb-clear", "vmscape/bhb-clear"),
    ]
    costs = {1: -12.0, 2: 0.1, 3: -9.0}
    rows = [
        row(
            f"iperf case {case}",
            [
                baseline(1.0),
                measured(2, cost, cost - 0.9, cost + 0.9, Verdict.WORSE),
                measured(3, 0.0, -0.5, 0.5, Verdict.SAME),
            ],
            case_id=case,
            host=host,
        )
        for case, cost in costs.items()
        for host in hosts
    ]
    comparison = ComparisonView(
        id=1, name="vmscape", family_title="VMSCAPE", hosts=list(hosts), arms=arms, rows=rows,
        emulated=emulated,
    )  # fmt: skip
    facts = {name: HostFacts(name=name, emulated=emulated) for name in hosts}
    return view([comparison], [run("vmscape", hosts[0])], host_facts=facts)


def answers(letter: str = LETTER, **made: object) -> list[LetterClaim]:
    return claims_beside(letter, [], experiment(**made), CASES)  # type: ignore[arg-type]


def outcome(label: str, column: str, found: list[LetterClaim]) -> ClaimOutcome:
    [one] = [each for each in found if (each.label, each.column) == (label, column)]
    return one.outcome


def test_a_figure_within_our_interval_is_reproduced_and_one_outside_contradicted() -> None:
    found = answers()
    assert outcome("UDP 1-vCPU_p1", "IBPB", found) == ClaimOutcome.REPRODUCED
    assert outcome("TCP 1-vCPU_p1", "IBPB", found) == ClaimOutcome.CONTRADICTED
    udp = found[0]
    assert (udp.case, udp.host, udp.percent) == ("iperf case 1", "spr-1", -12.5)


def test_a_heading_names_an_arm_by_its_words() -> None:
    found = answers(LETTER.replace("BHB Clear", "BHB clearing"))
    [udp] = [e for e in found if (e.label, e.column) == ("UDP 1-vCPU_p1", "BHB clearing")]
    assert udp.cell is not None
    assert udp.cell.arm_id == 3


def test_a_row_of_a_case_that_was_not_measured_is_called_that() -> None:
    found = answers()
    assert outcome("TCP 4-vCPU_p4", "IBPB", found) == ClaimOutcome.NOT_MEASURED


def test_a_row_that_may_mean_several_cases_is_set_beside_none() -> None:
    letter = LETTER.replace("iPerf user-net", "iPerf")
    [udp, *_] = answers(letter)
    assert udp.cell is None
    assert udp.reason == "2 cells of this experiment may be meant"


def test_another_workload_s_table_is_not_taken_for_ours() -> None:
    found = answers(LETTER.replace("iPerf user-net", "netperf user-net"))
    assert {each.outcome for each in found} == {ClaimOutcome.NOT_MEASURED}


def test_an_emulated_host_contradicts_nobody() -> None:
    found = answers(emulated=True)
    assert outcome("TCP 1-vCPU_p1", "IBPB", found) == ClaimOutcome.EMULATED


def test_each_host_answers_for_itself() -> None:
    found = [e for e in answers(hosts=("spr-1", "icx-1")) if e.label.startswith("UDP")]
    assert [each.host for each in found if each.column == "IBPB"] == ["spr-1", "icx-1"]


def test_figures_that_stand_in_earlier_letters_say_since_when() -> None:
    changed = LETTER.replace("-10.4%", "-9.9%")
    earlier = [("v1", changed), ("v2", LETTER), ("v3", LETTER)]
    found = claims_beside(LETTER, earlier, experiment(), CASES)
    since = {(each.label, each.since) for each in found}
    assert ("UDP 1-vCPU_p1", "v1") in since
    assert ("TCP 1-vCPU_p1", "v2") in since


def test_figures_that_were_changed_in_between_are_as_old_as_that_change() -> None:
    changed = LETTER.replace("-12.5%", "-12.0%").replace("-10.4%", "-9.9%")
    [udp, *_] = claims_beside(LETTER, [("v1", LETTER), ("v2", changed)], experiment(), CASES)
    assert udp.since == ""


@pytest.mark.parametrize(
    "text", ["", "no table", "| a | b |\n" * 5000, "| 1 | 99999999999% |\n" * 3]
)
def test_whatever_a_letter_holds_there_is_an_answer(text: str) -> None:
    claims_beside(text, [("v1", text)], experiment(), CASES)


@given(st.lists(st.tuples(*[st.text(max_size=12)] * 3), max_size=8))
def test_no_letter_breaks_it(cells: list[tuple[str, str, str]]) -> None:
    text = "\n".join(f"| {' | '.join(each)} |" for each in cells)
    for each in claims_beside(text, [("v1", text)], experiment(), CASES):
        assert each.cell is None or each.cell.arm_id in (2, 3)
