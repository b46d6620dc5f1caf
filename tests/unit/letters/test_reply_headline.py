"""The first lines of an answer: worse or not, where, how sure."""

from __future__ import annotations

import pytest

from mitigauge.core.effect import Verdict
from mitigauge.reporting.letters.reply.headline import headline
from mitigauge.reporting.letters.reply.reply import lead_cells
from mitigauge.reporting.pages.schemas import ArmView, ComparisonView, ExperimentView
from tests.matrix_views import DEMO, SYSCALL, SYSCALL_ROW, arm, baseline, measured, row, run, view

BEFORE = arm(1, "before", "m/on", kernel="7.2-a", is_baseline=True)
THIS = arm(2, "this", "m/on", kernel="7.2-b")


def of_kernels(*verdicts: Verdict | None) -> ExperimentView:
    """One revision against the one before, a case a verdict."""
    rows = [
        row(f"case {number}",
            [baseline(100.0), measured(2, 3.0, 2.0, 4.0, verdict)],
            **SYSCALL_ROW)
        for number, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip
    comparison = ComparisonView(
        id=1, name="since-before", family_title="M", hosts=["icx-1"], arms=[BEFORE, THIS],
        rows=rows, emulated=False,
    )  # fmt: skip
    return view([comparison], [run("since-before", "icx-1")], boots_total=8)


def lines(of: ExperimentView) -> dict[str, str]:
    return dict(headline("v2", of, lead_cells(of)))


WORSE, SAME, BETTER, OPEN = Verdict.WORSE, Verdict.SAME, Verdict.BETTER, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([WORSE], "yes: case 1 +3.0% [+2.0, +4.0] against before"),
        ([SAME, WORSE, OPEN, WORSE],
         "yes: case 2 +3.0% [+2.0, +4.0] against before; 1 more worse, 1 same, 1 undecided"),
        ([SAME, SAME], "no: 2 same against before"),
        ([SAME, BETTER], "no: 1 better, 1 same against before"),
        # What nobody could decide is no "no".
        ([SAME, OPEN], "cannot tell: 1 same, 1 undecided against before"),
        ([None], "cannot tell: 1 undecided against before"),
    ],
)  # fmt: skip
def test_the_first_line_says_whether_it_is_worse(verdicts: list[Verdict | None], said: str) -> None:
    assert lines(of_kernels(*verdicts))["Worse?"] == said


def test_modes_of_one_kernel_are_no_answer_to_that() -> None:
    said = lines(SYSCALL)["Worse?"]
    assert said.startswith("no other kernel was measured; its modes cost most in syscall basic")


def test_where_has_the_label_the_host_and_that_it_is_emulated() -> None:
    assert lines(DEMO)["Where?"] == "v2, lab-amd (AMD EPYC-Rome Processor, emulated)"


def sure(*arms: tuple[int, int, int], planned: int) -> str:
    """Of arms with so many boots that showed their mode, did not, and failed."""
    views = [
        ArmView.model_construct(
            id=1,
            name="arm",
            kernel="",
            mode="m/on",
            is_baseline=True,
            boots_effective=e,
            boots_not_effective=n,
            boots_failed=f,
        )
        for e, n, f in arms
    ]
    of = ExperimentView.model_construct(
        comparisons=[ComparisonView.model_construct(arms=views, rows=[])], boots_total=planned,
        hosts=[], host_facts={},
    )  # fmt: skip
    return dict(headline("v2", of, []))["Sure?"]


def test_what_was_planned_and_not_booted_is_no_boot() -> None:
    """Verdicts stopped it after four blocks of six."""
    said = sure((4, 0, 0), (4, 0, 0), planned=12)
    assert said == (
        "8 boots, each shown to be in its mode; of 100 unchanged "
        "cases 1 at most is called worse or better"
    )


def test_boots_that_count_for_nothing_are_said() -> None:
    said = sure((4, 0, 0), (2, 1, 1), planned=8)
    assert "6 boots, each shown to be in its mode; 2 more boots did not, or failed" in said


def test_a_figure_whose_arms_stay_where_they_were_takes_the_promise_back() -> None:
    drifting = of_kernels(SAME)
    drifting.comparisons[0].rows[0].cells[1].note = (
        "arm or baseline stays where it was in the boot before (by chance alone in 1 of 100): the "
        "interval may be too narrow"
    )
    assert lines(drifting)["Sure?"].endswith("but more of 1 figure whose arms stay where they were")
