"""Whole reports as text: what a kernel engineer pastes is asserted as it is pasted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mitigauge.core.clock import Clock
from mitigauge.core.documents.plain_text import width
from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.letters.report.matrix import COLUMNS, render_markdown, render_text
from mitigauge.reporting.pages.profile_schemas import (
    ArmProfilesView,
    CaseProfilesView,
    FunctionChange,
)
from mitigauge.reporting.pages.schemas import CellView, ExperimentView
from tests.matrix_views import (
    DEMO,
    FACTS,
    PARTIAL,
    SYSCALL,
    arm,
    baseline,
    hostile,
    many_arms,
    measured,
    row,
    run,
    view,
    vmscape,
)

DEMO_TEXT = """\
lab-demo (finished)
===================
What does the mitigation cost?

EMULATED (lab-amd): these hosts are emulated processors: what software costs
shows there, what a hardware barrier costs does not, and no figure carries
over to real hardware.

Host    lab-amd: AMD EPYC-Rome Processor (QEMU TCG EPYC-Rome, 2 vCPUs),
        EMULATED
        kernel 7.2.4+deb13-cloud-amd64, microcode 0x1000065
Date    2026-07-01 12:00 UTC started, 2026-07-01 12:22 UTC ended
Design  vmscape-iperf on lab-amd: 4 blocks of 3 arms, 12 of 12 boots count, 1
        lab fault
Seed    20260316

iperf … guest-to-host: Throughput (higher is better), VMSCAPE, lab-amd,
EMULATED

                            off  ibpb               bhb-clear
                       baseline
------------------  -----------  -----------------  -------------
user tcp 1-vCPU p1   108 Mbit/s  -10.4% worse       not effective
                            n=4  [-12.1, -8.7] n=4
vhost udp 4-vCPU    2.32 Gbit/s  +0.4% undecided    not effective
                            n=4  [-2.6, +3.5] n=4
                                 mde 5.3%

Cell:     change against the baseline in percent of it, [95 % interval], n
          boots that count. worse, better: at 1 % family-wise; same: the
          interval lies within ±1 %; undecided: neither; mde: the smallest
          effect that shows with 80 % power.
Interval: from boot means compared within blocks, noise pooled over the arms,
          valid for all arms of a row together (Dunnett).

Not effective: booted, but the mode was not in force
----------------------------------------------------
bhb-clear (vmscape/bhb-clear) on lab-amd: 4 of 4 boots
  asked for   setcpuid=ibpb vmscape=on
  expected    vmscape: Mitigation: Clear BHB before exit to userspace
  kernel said Mitigation: IBPB before exit to userspace
"""

DEMO_MARKDOWN = """\
### iperf … guest-to-host: Throughput (higher is better), VMSCAPE, lab-amd, EMULATED
| case | off (baseline) | ibpb | bhb-clear |
| --- | ---: | --- | --- |
| user tcp 1-vCPU p1 | 108 Mbit/s n=4 | -10.4% [-12.1, -8.7] n=4 worse | not effective |
| vhost udp 4-vCPU | 2.32 Gbit/s n=4 | +0.4% [-2.6, +3.5] n=4 undecided mde 5.3% | not effective |
### Not effective: booted, but the mode was not in force
"""

SYSCALL_TEXT = """\
lab-demo (finished)
===================
What does the mitigation cost?

Host    icx-1: Xeon 6338
        kernel 7.2.4 and 7.3.0, microcode 0xd000404
Date    2026-07-01 12:00 UTC started, 2026-07-01 12:22 UTC ended
Design  bhi-syscall on icx-1: 4 blocks of 2 arms, 8 of 8 boots count
Seed    20260316

syscall: Time per call (lower is better), Branch history injection, icx-1

              off  loop
         baseline
-------  --------  ---------------------------------------
basic      370 ns  +18.3% [+12.9, +23.9] n=4 worse
getpgid    371 ns  +0.12% [-0.20, +0.41] n=4 same
execve    1.23 ms   -2.0%                n=1 undecided (1)
(1) one block: no noise estimate, so no interval

Cell:     change against the baseline in percent of it, [95 % interval], n
          boots that count. worse, better: at 1 % family-wise; same: the
          interval lies within ±1 %; undecided: neither; mde: the smallest
          effect that shows with 80 % power.
Interval: from boot means compared within blocks, noise pooled over the arms,
          valid for all arms of a row together (Dunnett).
"""

PARTIAL_TEXT = """\
lab-demo (failed)
=================
What does the mitigation cost?

EMULATED (lab-amd): these hosts are emulated processors: what software costs
shows there, what a hardware barrier costs does not, and no figure carries
over to real hardware.

INCOMPLETE: failed, 1 of 8 planned boots taken.

vmscape-iperf on lab-amd failed: host did not come back within 300 s

Host    lab-amd: processor unknown, EMULATED
        kernel unknown, microcode unknown
Date    2026-07-01 12:00 UTC started, 2026-07-01 12:22 UTC ended
Design  vmscape-iperf on lab-amd: 4 blocks of 2 arms, 0 of 8 boots count
Seed    20260316

iperf: Throughput (higher is better), VMSCAPE, lab-amd, EMULATED

                                         off  ibpb
                                    baseline
----------------------------------  --------  -------
bridge tcp 1-vCPU p1 guest-to-host   no data  no data

Cell:     change against the baseline in percent of it, [95 % interval], n
          boots that count. worse, better: at 1 % family-wise; same: the
          interval lies within ±1 %; undecided: neither; mde: the smallest
          effect that shows with 80 % power.
Interval: from boot means compared within blocks, noise pooled over the arms,
          valid for all arms of a row together (Dunnett).

Not measured
------------
ibpb in vmscape-iperf on lab-amd
  reason      1 boot did not come up as asked, or were faulty
off on lab-amd
  reason      no reason recorded
  case        iperf bridge tcp 1-vCPU p1 guest-to-host, Throughput
ibpb on lab-amd
  reason      did not boot: fallback came up
  case        iperf bridge tcp 1-vCPU p1 guest-to-host, Throughput
"""


def test_an_emulated_matrix_reads_as_in_the_cover_letter() -> None:
    assert render_text(DEMO) == DEMO_TEXT


def test_a_table_with_one_arm_keeps_its_cells_on_one_line() -> None:
    assert render_text(SYSCALL) == SYSCALL_TEXT


def test_a_failed_experiment_says_what_is_missing_and_why() -> None:
    assert render_text(PARTIAL) == PARTIAL_TEXT


def test_boots_that_were_skipped_by_an_early_stop_are_none_that_count() -> None:
    """They are settled: 12 of 12 would stand beside the 9 that the host was reset for."""
    stopped = run("vmscape-iperf", "lab-amd", boots_done=12, boots_effective=9, stopped_after=3)
    report = " ".join(render_text(DEMO.model_copy(update={"runs": [stopped]})).split())
    assert "9 of 12 boots count; stopped after 3 blocks" in report


def test_markdown_has_the_same_cells_in_pipe_tables() -> None:
    lines = render_markdown(DEMO).splitlines()
    assert [line for line in lines if line.startswith(("###", "|"))] == DEMO_MARKDOWN.splitlines()


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_counted_time_stands_at_the_top_beside_the_host_and_in_every_caption(
    render: Callable[[ExperimentView], str],
) -> None:
    facts = {
        name: one.model_copy(update={"clock": Clock.COUNTED})
        for name, one in DEMO.host_facts.items()
    }
    report = " ".join(render(DEMO.model_copy(update={"host_facts": facts})).split())
    said = "COUNTED TIME (lab-amd): time counts instructions on these hosts: software only."
    assert 0 < report.index(said) < report.index("2 vCPUs), EMULATED, counted time")
    assert "lab-amd, EMULATED, COUNTED TIME" in report
    assert "counted time" not in render(DEMO).lower()


def test_bare_metal_is_never_called_emulated() -> None:
    assert "emulated" not in (render_text(SYSCALL) + render_markdown(SYSCALL)).lower()


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_emulated_stands_at_the_top_and_in_every_caption(
    render: Callable[[ExperimentView], str],
) -> None:
    report = render(many_arms())
    assert report.index("EMULATED (lab-amd)") < report.index("Host")
    assert "VMSCAPE, lab-amd,\nEMULATED" in report or "VMSCAPE, lab-amd, EMULATED" in report


def test_a_host_without_facts_takes_the_mark_of_its_comparison() -> None:
    assert "EMULATED" in render_text(DEMO.model_copy(update={"host_facts": {}}))


def test_arms_that_do_not_fit_go_into_further_tables() -> None:
    report = render_text(many_arms())
    assert all(f"variant-{i}" in report for i in range(2, 7))
    assert max(width(line) for line in report.splitlines()) <= COLUMNS


def test_an_experiment_that_waits_has_no_table_and_says_so() -> None:
    waiting = view(
        [vmscape([])],
        [run("vmscape-iperf", "lab-amd", state=RunState.QUEUED, boots_done=0)],
        state=ExperimentState.QUEUED,
        started_at=None,
        finished_at=None,
        boots_done=0,
    )
    report = render_text(waiting)
    assert "NOT FINISHED: queued, 0 of 12 planned boots taken" in report
    assert "submitted, not started" in report
    assert "no case has a value yet" in report


def test_a_baseline_that_was_not_effective_is_shown_as_such() -> None:
    base = CellView(arm_id=1, state="not_effective", n=0, blocks=0, mean=None)
    lone = CellView(arm_id=2, state="no_data", n=4, blocks=0, mean=None, note="no baseline")
    arms = [
        arm(1, "off", "vmscape/off", is_baseline=True, boots_effective=0, boots_not_effective=4),
        arm(2, "ibpb", "vmscape/ibpb"),
    ]
    report = render_text(
        view([vmscape([row("iperf user tcp", [base, lone])], arms)], [run("v", "lab-amd")])
    )
    assert "user tcp  not effective  n=4 no data" in report
    assert "off (vmscape/off, the baseline) on lab-amd: 4 of 4 boots" in report


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"disturbed": 1}, "Pace lab-amd: 1 iteration taken again, the processor was slowed"),
        (
            {"disturbed": 12, "unsteady": 3},
            "Pace lab-amd: 12 iterations taken again, the processor was slowed; "
            "3 iterations used though it was: it did not recover",
        ),
    ],
)
def test_a_processor_that_others_slowed_is_said_once_for_all_metrics_of_a_case(
    changes: dict[str, int], said: str
) -> None:
    rows = [
        row("iperf user udp", [baseline(1.0)], **changes),
        row("iperf user udp", [baseline(1.0)], metric="loss", metric_title="Loss", **changes),
    ]
    report = render_text(view([vmscape(rows)], [run("vmscape-iperf", "lab-amd")]))
    flat = " ".join(report.split())
    assert said in flat
    assert flat.count("Pace") == bool(said)


def test_secondary_metrics_follow_and_are_marked_exploratory() -> None:
    cells = [baseline(1.0), measured(2, 0.0, -1.0, 1.0, Verdict.UNDECIDED)]
    rows = [
        row("iperf user udp", cells, metric="loss", metric_title="Loss", primary=False),
        row("iperf user udp", cells),
    ]
    report = render_text(view([vmscape(rows)], [run("v", "lab-amd")], host_facts=FACTS))
    assert report.index("Throughput") < report.index("Loss (higher is better; secondary metric")


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_hostile_names_neither_forge_lines_nor_drive_the_terminal(
    render: Callable[[ExperimentView], str],
) -> None:
    report = render(hostile())
    assert "\x1b" not in report
    assert "\u202e" not in report
    assert "[31m" not in report
    assert "evil\n" not in report
    assert all(character == "\n" or character.isprintable() for character in report)


def test_hostile_names_are_shown_as_text_by_markdown() -> None:
    report = render_markdown(hostile())
    assert "<script>" not in report
    assert not re.search(r"(?<!\\)`", report)
    pipes = [line for line in report.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in pipes} == {4}


@given(name=st.text(min_size=1, max_size=90), mode=st.text(max_size=500))
@example(name=">0000", mode="0")
@settings(max_examples=60, deadline=None)
def test_no_name_makes_a_line_wider_than_a_mail(name: str, mode: str) -> None:
    arms = [
        arm(1, name, mode, is_baseline=True),
        arm(2, name, mode, cmdline=mode, observed=[mode], boots_not_effective=1),
    ]
    cells = [baseline(1e9), measured(2, 1e9, -1e12, 1e300, Verdict.UNDECIDED, note=mode)]
    rows = [row(name, cells, unit=name, metric_title=mode)]
    report = render_text(view([vmscape(rows, arms)], [run("v", "lab-amd")], name=name))
    assert max(width(line) for line in report.splitlines()) <= COLUMNS


def profiled_arm(arm_id: int, name: str, **changes: Any) -> ArmProfilesView:
    fields = {"is_baseline": False, "profiles": 4, "samples": 900, "functions": [], "counters": []}
    return ArmProfilesView(arm_id=arm_id, arm=name, **(fields | changes))


def test_the_functions_that_explain_a_difference_are_said_with_their_part_of_it() -> None:
    loop = FunctionChange(
        function="clear_bhb_loop", difference=38.21, low=30.04, high=46.4, q=0.003
    )
    gone = FunctionChange(function="<b>|x", difference=-1.5, low=-2, high=-1, q=0.04)
    [row_] = SYSCALL.comparisons[0].rows[:1]
    case = CaseProfilesView(
        experiment_id=1, case_id=row_.case_id, host=row_.host, system="host",
        event="cycles", unit="ns/op",
        arms=[
            profiled_arm(1, "off", is_baseline=True),
            profiled_arm(2, "loop", difference=44.0, low=40.0, high=48.0, functions=[loop, gone]),
            profiled_arm(3, "other", difference=0.0),
            profiled_arm(4, "unprofiled", profiles=0),
        ],
    )  # fmt: skip
    text = render_text(SYSCALL, profiles=[case])
    _, _, section = text.partition("What differs, by the profiles of separate passes\n")
    assert "loop against off, 4 profiles against 4, by cycles" in " ".join(section.split())
    assert "  all         +44.0 ns/op [+40.0, +48.0]\n" in section
    assert "  function    clear_bhb_loop +38.2 ns/op [+30.0, +46.4], q 0.003\n" in section
    assert "  function    <b>|x -1.50 ns/op [-2.00, -1.00], q 0.04\n" in section
    assert "none differs significantly (q <= 0.05)" in section
    assert "unprofiled" not in section
    assert max(len(line) for line in text.splitlines()) <= COLUMNS
    # Shares of everything add up to everything on both sides.
    by_share = profiled_arm(2, "loop", functions=[loop])
    shares = case.model_copy(update={"unit": "%", "arms": [case.arms[0], by_share]})
    text = render_text(SYSCALL, profiles=[shares])
    assert "  all  " not in text
    assert "clear_bhb_loop +38.2 % [+30.0, +46.4]" in text
    marked_up = render_markdown(SYSCALL, profiles=[case])
    assert "<b>" not in marked_up
    assert "+38.2 ns/op" in marked_up
