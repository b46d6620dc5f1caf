"""Our own CI: what a stranger's pull request can start, and on whose machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml

WORKFLOWS = sorted(
    path
    for path in (REPOSITORY / ".github" / "workflows").iterdir()
    if path.suffix in (".yml", ".yaml")
)
# Only who may write to the repository can cause these. All others, and those that GitHub adds
# one day, may come from anybody.
OURS = {"push", "workflow_dispatch", "schedule", "repository_dispatch"}
GITHUBS_MACHINES = re.compile(r"(ubuntu|windows|macos)-[0-9a-z.]+")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def workflow(path: Path) -> dict[str, Any]:
    return parse_yaml(path.read_text("utf-8"), str(path)).data


def triggers(document: dict[str, Any]) -> set[str]:
    on = document["on"]
    return {on} if isinstance(on, str) else set(on)


def faults(document: dict[str, Any]) -> list[str]:
    """What a stranger could make of a workflow."""
    found = []
    strangers = triggers(document) - OURS
    for name, job in document["jobs"].items():
        found += [f"{name}: {fault}" for fault in faults_of_job(job, strangers)]
        for step in job.get("steps", []):
            found += [f"{name}: {fault}" for fault in faults_of_step(step)]
    if document.get("permissions") != {"contents": "read"}:
        found.append("its token can do more than read")
    if "concurrency" not in document:
        found.append("runs pile up")
    if "secrets" in str(document):
        found.append("it has secrets")
    return found


def faults_of_job(job: dict[str, Any], strangers: set[str]) -> Iterator[str]:
    wanted = job.get("runs-on", "a workflow that is called")
    labels = [wanted] if isinstance(wanted, str) else wanted
    on_githubs = isinstance(labels, list) and all(
        isinstance(label, str) and GITHUBS_MACHINES.fullmatch(label) for label in labels
    )
    if strangers and not on_githubs:
        yield f"{sorted(strangers)} reaches {wanted}"
    if not on_githubs and not job.get("environment"):
        yield "nobody is asked before it runs on a machine of ours"
    if "permissions" in job:
        yield "has rights of its own"
    # Only what people who may write here start by hand may compile a kernel twice, and only
    # machines that measure may boot for a day.
    longest = 120 if strangers or not on_githubs else 300
    if "mitigauge-measure" in labels:
        longest = 1440
    if not 0 < job.get("timeout-minutes", 0) <= longest:
        yield "has no time-out"


def faults_of_step(step: dict[str, Any]) -> Iterator[str]:
    used = step.get("uses", "")
    if used and not PINNED.fullmatch(used):
        yield f"{used} is not pinned by its commit"
    if "checkout@" in used and step.get("with", {}).get("persist-credentials") is not False:
        yield "the checkout keeps its token"
    if "${{" in step.get("run", ""):
        yield "a value is put into a script"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_stranger_reaches_a_machine_of_ours(path: Path) -> None:
    assert faults(workflow(path)) == []


def test_there_is_a_workflow_for_pull_requests_and_one_for_the_lab() -> None:
    found = {path.name: workflow(path) for path in WORKFLOWS}
    assert "pull_request" in triggers(found["ci.yml"])
    assert triggers(found["lab.yml"]) == {"push", "workflow_dispatch"}


GOOD = """\
on: {TRIGGER: }
permissions: {contents: read}
concurrency: {group: x}
jobs:
  one:
    runs-on: RUNNER
    environment: lab
    timeout-minutes: 9
    steps: [{run: make}]
"""


@pytest.mark.parametrize(
    "trigger", ["pull_request", "pull_request_target", "issue_comment", "workflow_run", "fork"]
)
@pytest.mark.parametrize(
    "runner",
    ["self-hosted", "[self-hosted, linux]", "'${{ matrix.os }}'", "{group: ours}", "our-machine"],
)
def test_a_workflow_that_lets_strangers_in_would_be_found(trigger: str, runner: str) -> None:
    text = GOOD.replace("TRIGGER", trigger).replace("RUNNER", runner)
    assert any("reaches" in fault for fault in faults(parse_yaml(text, "w").data))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("contents: read", "contents: write"),
        ("timeout-minutes: 9", "timeout-minutes: 0"),
        ("environment: lab", "if: always()"),
        ("run: make", "uses: actions/checkout@v5"),
        ("run: make", f"uses: actions/checkout@{'a' * 40}"),
        ("run: make", "run: 'echo ${{ github.head_ref }}'"),
        ("run: make", "run: make, env: {A: '${{ secrets.KEY }}'}"),
    ],
)
def test_a_workflow_that_gives_too_much_would_be_found(old: str, new: str) -> None:
    good = GOOD.replace("TRIGGER", "push").replace("RUNNER", "[self-hosted]")
    assert faults(parse_yaml(good, "w").data) == []
    assert faults(parse_yaml(good.replace(old, new), "w").data)


OUR_JOB = {
    "MITIGAUGE_RUNNER_REPOSITORY": "us/mitigauge",
    "GITHUB_REPOSITORY": "us/mitigauge",
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_WORKFLOW_REF": "us/mitigauge/.github/workflows/lab.yml@refs/heads/main",
}


def guarded(**changes: str) -> int:
    return subprocess.run(
        [REPOSITORY / "scripts" / "runner-guard.sh"],
        env={"PATH": os.defpath, **OUR_JOB, **changes},
        capture_output=True,
        check=False,
    ).returncode


def test_the_runners_guard_lets_our_own_jobs_through() -> None:
    assert guarded() == 0
    assert guarded(GITHUB_EVENT_NAME="workflow_dispatch") == 0
    other = "us/mitigauge/.github/workflows/series.yml@refs/heads/main"
    assert guarded(GITHUB_WORKFLOW_REF=other) == 1
    assert guarded(GITHUB_WORKFLOW_REF=other, MITIGAUGE_RUNNER_WORKFLOWS="measure.yml series.yml",
                   GITHUB_EVENT_NAME="repository_dispatch") == 0  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"GITHUB_EVENT_NAME": "pull_request"},
        {"GITHUB_EVENT_NAME": "pull_request_target"},
        {"GITHUB_EVENT_NAME": ""},
        {"GITHUB_REPOSITORY": "them/mitigauge"},
        {"GITHUB_REF": "refs/pull/7/merge"},
        {"GITHUB_REF": "refs/heads/main2"},
        {"GITHUB_WORKFLOW_REF": "us/mitigauge/.github/workflows/evil.yml@refs/heads/main"},
        {"GITHUB_WORKFLOW_REF": "us/mitigauge/.github/workflows/lab.yml@refs/pull/7/merge"},
        {"MITIGAUGE_RUNNER_REPOSITORY": ""},
        {"MITIGAUGE_RUNNER_REPOSITORY": "*", "GITHUB_REPOSITORY": "them/mitigauge"},
    ],
)
def test_the_runners_guard_ends_every_other_job(changes: dict[str, str]) -> None:
    assert guarded(**changes) == 1


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "pipelines" / "ci").glob("*.yml")), ids=lambda path: str(path.name)
)
def test_what_runs_the_pipeline_stands_where_github_finds_it(file: Path) -> None:
    assert (REPOSITORY / ".github" / "workflows" / file.name).read_text() == file.read_text()
