"""What each target is told of an experiment, and KCIDB's own schema of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mitigauge.core.effect import CellState, Verdict
from mitigauge.reporting.letters.reply.headline import Conclusion
from mitigauge.reporting.letters.reply.reply import lead_cells
from mitigauge.reporting.pages.schemas import CellView, ComparisonView, ExperimentView
from mitigauge.reporting.publications import github, kcidb, patchwork
from mitigauge.reporting.publications.facts import Facts, KernelFacts
from tests.matrix_views import SYSCALL_ROW, arm, baseline, measured, row, run, view

COMMIT = "0123456789" * 4
# As whoever receives it checks it: its own program, in a process of its own.
CHECK = "import json, sys, kcidb_io; kcidb_io.schema.V5_3.validate(json.load(sys.stdin))"
OPEN = Verdict.UNDECIDED


def kernel(release: str, *patches: str, commit: str = "") -> KernelFacts:
    return KernelFacts(release, "linux-source-7.2 7.2.12-1", "lab", "gcc-14", patches, commit)


def facts(
    *verdicts: Verdict | None, kernels: Sequence[KernelFacts] | None = None, hostile: str = "",
    same_kernel: bool = False, boots: dict[str, Any] | None = None, unmeasured: int = 0,
) -> Facts:  # fmt: skip
    other = "7.2-a" if same_kernel else "7.2-b"
    arms = [
        arm(1, "before", "m/on", kernel="7.2-a", is_baseline=True),
        arm(2, f"this{hostile}", "m/on", kernel=other, **(boots or {})),
    ]
    rows = [
        row(f"case {number}{hostile}",
            [baseline(100.0), measured(2, 3.0, 2.0, 4.0, verdict)],
            **SYSCALL_ROW)
        for number, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip
    rows += [
        row(f"lost {number}", [baseline(100.0), CellView(arm_id=2, state="no_data", n=0, blocks=0,
                                                         mean=None)], **SYSCALL_ROW)
        for number in range(unmeasured)
    ]  # fmt: skip
    comparison = ComparisonView(
        id=1, name="since", family_title="M", hosts=["icx-1"], arms=arms, rows=rows,
        emulated=True, counted=True,
    )  # fmt: skip
    of: ExperimentView = view([comparison], [run("since", "icx-1")], boots_total=8)
    known = kernels if kernels is not None else [kernel("7.2-a"), kernel("7.2-b", "ab" * 32)]
    return Facts(of, lead_cells(of), known, ["m1@x", "m2@x"], "toys v1",
                 "https://m.example.org/experiments/7")  # fmt: skip


def checked(body: dict[str, Any]) -> str:
    """What KCIDB's program says against it; empty: nothing."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK], input=json.dumps(body), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


def test_a_submission_is_as_kcidb_wants_it_and_links_what_it_names() -> None:
    body = kcidb.submission(facts(Verdict.WORSE, OPEN), "mitigauge")
    assert checked(body) == ""
    [test, other] = body["tests"]
    assert (test["status"], other["status"]) == ("FAIL", "DONE")
    assert test["number"] == {"value": 1.0, "unit": "ns"}
    assert test["path"] == "mitigauge.case_1.time_per_call"
    builds = {each["id"]: each["checkout_id"] for each in body["builds"]}
    assert {each["build_id"] for each in body["tests"]} == set(builds)
    [checkout] = body["checkouts"]
    assert checkout["id"] == builds[test["build_id"]]
    # sha256sum *.patch | cut -c-64 | sha256sum, by hand.
    said = "82a6564112bc37029d3b015453401525faa10b0729c2f72d3032a5f4c13bad51"
    assert checkout["patchset_hash"] == said


def test_a_figure_that_was_withdrawn_is_missing_there_under_its_own_id() -> None:
    before = kcidb.submission(facts(Verdict.WORSE), "mitigauge")
    gone = facts(Verdict.WORSE)
    [cell] = [each.cell for each in gone.cells]
    cell.mean, cell.verdict, cell.state = None, None, CellState.NO_DATA
    gone = replace(gone, cells=lead_cells(gone.view))
    after = kcidb.submission(gone, "mitigauge")
    assert checked(after) == ""
    assert [(each["id"], each["status"]) for each in after["tests"]] == [
        (before["tests"][0]["id"], "MISS")
    ]
    assert "number" not in after["tests"][0]


def test_what_is_sent_twice_is_one_there() -> None:
    assert kcidb.submission(facts(OPEN), "o") == kcidb.submission(facts(OPEN), "o")


def test_kcidb_s_program_notices_what_is_wrong() -> None:
    body = kcidb.submission(facts(OPEN), "mitigauge")
    body["tests"][0]["number"]["value"] = "fast"
    assert "ValidationError" in checked(body)


@pytest.mark.parametrize("hostile", ["\x00", "../..", "a" * 5000, "\u202e\U0001f4a5", " . "])
def test_names_from_outside_break_no_row(hostile: str) -> None:
    body = kcidb.submission(facts(OPEN, hostile=hostile), "mitigauge")
    assert checked(body) == ""


def test_kernels_that_were_not_built_here_have_no_row() -> None:
    body = kcidb.submission(facts(Verdict.WORSE, kernels=[]), "mitigauge")
    assert (body["tests"], body["builds"], body["checkouts"]) == ([], [], [])


@pytest.mark.parametrize(
    ("verdicts", "same", "conclusion", "state", "run_says"),
    [
        ([Verdict.SAME, Verdict.WORSE], False, Conclusion.WORSE, "fail", "failure"),
        ([Verdict.SAME, Verdict.BETTER], False, Conclusion.NOT_WORSE, "success", "success"),
        ([Verdict.SAME, OPEN], False, Conclusion.CANNOT_TELL, "warning", "neutral"),
        ([None], False, Conclusion.CANNOT_TELL, "warning", "neutral"),
        ([Verdict.WORSE], True, Conclusion.NO_KERNELS, "warning", "neutral"),
    ],
)
def test_a_check_says_fail_for_a_worse_kernel_alone(
    verdicts: list[Verdict | None], same: bool, conclusion: Conclusion, state: str, run_says: str
) -> None:
    told = facts(*verdicts, same_kernel=same)
    assert told.conclusion is conclusion
    assert patchwork.check(told)["state"] == state
    assert github.check_run(told, "text")["conclusion"] == run_says


def test_a_check_stands_on_the_last_patch_under_a_context_of_its_own() -> None:
    told = facts(OPEN)
    assert patchwork.message_id(told) == "m2@x"
    check = patchwork.check(told)
    assert check["context"] == "mitigauge-7"
    assert check["description"] == (
        "toys v1: [emulated, counted] Worse? cannot tell: 1 undecided against before"
    )
    assert check["target_url"] == "https://m.example.org/experiments/7"


def test_where_one_of_two_hosts_is_emulated_that_is_said_of_a_part() -> None:
    told = facts(OPEN)
    [lab] = told.view.comparisons
    metal = lab.model_copy(update={"id": 2, "emulated": False, "counted": False})

    def of(*comparisons: ComparisonView) -> str:
        view = told.view.model_copy(update={"comparisons": list(comparisons)})
        return replace(told, view=view, cells=lead_cells(view)).summary

    assert of(lab, metal).startswith("[in part emulated, counted] Worse?")
    assert of(metal).startswith("Worse?")
    # What was not measured there has no figure in the line.
    unmeasured = metal.model_copy(update={"rows": []})
    assert of(lab, unmeasured).startswith("[emulated, counted] Worse?")


def test_a_check_run_is_of_the_commit_that_is_judged() -> None:
    kernels = [kernel("7.2-a", commit="f" * 40), kernel("7.2-b", commit=COMMIT)]
    told = facts(Verdict.WORSE, kernels=kernels)
    made = github.check_run(told, "x" * 100_000)
    assert (made["head_sha"], made["external_id"]) == (COMMIT, "experiment-7")
    for place in ("title", "summary"):
        said = "[emulated, counted] Worse? yes: case 1 +3.0% [+2.0, +4.0] against before"
        assert made["output"][place] == said
    assert len(made["output"]["text"]) == github.LONGEST
    assert github.commit(facts(Verdict.WORSE)) == ""


def test_a_kernel_with_patches_is_not_the_commit_that_it_is_built_on() -> None:
    kernels = [kernel("7.2-a", commit="f" * 40), kernel("7.2-b", "ab" * 32, commit=COMMIT)]
    assert github.commit(facts(Verdict.WORSE, kernels=kernels)) == ""


NOTHING_RAN = {"boots_effective": 0, "boots_failed": 0}


@pytest.mark.parametrize(
    ("verdicts", "boots", "unmeasured", "state", "run_says"),
    [
        # The revision's arm has no boot, or was measured in a part of what was planned.
        ([], NOTHING_RAN, 2, "warning", "neutral"),
        ([Verdict.SAME], {}, 1, "warning", "neutral"),
        ([Verdict.WORSE], {}, 1, "fail", "failure"),
        # It panics at every boot, while the baseline boots.
        ([], {**NOTHING_RAN, "down_on": {"icx-1": 4}}, 2, "fail", "failure"),
        # Once may be chance.
        ([], {**NOTHING_RAN, "down_on": {"icx-1": 1}}, 2, "warning", "neutral"),
        # Another kernel came up: nothing is known of this one.
        ([], {**NOTHING_RAN, "boots_failed": 4}, 2, "warning", "neutral"),
    ],
)
def test_what_was_planned_and_not_measured_is_no_success(
    verdicts: list[Verdict], boots: dict[str, Any], unmeasured: int, state: str, run_says: str
) -> None:
    told = facts(*verdicts, boots=boots, unmeasured=unmeasured)
    assert patchwork.check(told)["state"] == state
    assert github.check_run(told, "text")["conclusion"] == run_says


def of_kernels(*others: tuple[str, str, str, Verdict | None]) -> Facts:
    """A baseline of kernel a in mode m/on, and arms: name, kernel, mode, and what they came to."""
    arms = [arm(1, "base", "m/on", kernel="a", is_baseline=True)]
    cells = [baseline(100.0)]
    for number, (name, release, mode, verdict) in enumerate(others, 2):
        arms.append(arm(number, name, mode, kernel=release, up_on=["icx-1"]))
        cells.append(measured(number, 10.0, 9.0, 11.0, verdict))
    comparison = ComparisonView(
        id=1, name="since", family_title="M", hosts=["icx-1"], arms=arms,
        rows=[row("case", cells, **SYSCALL_ROW)], emulated=False,
    )  # fmt: skip
    of = view([comparison], [run("since", "icx-1")], boots_total=8)
    known = [kernel(name, commit=name * 40) for name in "abc"]
    known.append(kernel("patched", "ab" * 32, commit="a" * 40))
    return Facts(of, lead_cells(of), known, ["m1@x"], "toys v1", "")


def test_a_check_run_is_of_its_own_commit_s_figures_and_a_check_of_the_patches_alone() -> None:
    told = of_kernels(
        ("this", "patched", "m/on", Verdict.WORSE), ("next", "b", "m/on", Verdict.SAME)
    )
    assert github.commit(told) == "b" * 40
    assert github.check_run(told, "")["conclusion"] == "success"
    assert patchwork.check(told)["state"] == "fail"
    other = of_kernels(
        ("this", "patched", "m/on", Verdict.SAME), ("next", "b", "m/on", Verdict.WORSE)
    )
    assert github.check_run(other, "")["conclusion"] == "failure"
    assert patchwork.check(other)["state"] == "success"


def test_of_several_commits_none_gets_a_check_run() -> None:
    told = of_kernels(("one", "b", "m/on", Verdict.SAME), ("two", "c", "m/on", Verdict.WORSE))
    assert github.commit(told) == ""


def test_a_kernel_in_another_mode_is_judged_only_where_there_is_none_in_the_same() -> None:
    same = ("this", "patched", "m/on", Verdict.SAME)
    clear = ("this-clear", "patched", "m/clear", Verdict.WORSE)
    assert patchwork.check(of_kernels(same, clear))["state"] == "success"
    alone = patchwork.check(of_kernels(clear))
    assert alone["state"] == "fail"
    assert "this-clear +10.0% [+9.0, +11.0] against base" in alone["description"]


def test_a_mode_that_does_not_boot_is_not_its_kernel() -> None:
    told = of_kernels(("this", "patched", "m/on", Verdict.SAME), ("x", "patched", "m/x", None))
    told.view.comparisons[0].arms[2].up_on = []
    told.view.comparisons[0].arms[2].down_on = {"icx-1": 4}
    assert patchwork.check(told)["state"] == "success"
    told.view.comparisons[0].arms[1].up_on = []
    assert (
        "it does not boot: this and x came up in none of 4 boots on icx-1"
        in (patchwork.check(told)["description"])
    )
