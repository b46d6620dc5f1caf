"""The runner on a host, with real processes as workloads."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.loading import stage_runner

Bench = tuple[Path, Path]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """(staged workloads with the runner, job directory)."""
    workloads, job = tmp_path / "workloads", tmp_path / "job"
    workloads.mkdir()
    job.mkdir()
    stage_runner(workloads)
    return workloads, job


def add_workload(bench: Bench, name: str, script: str) -> None:
    directory = bench[0] / name
    directory.mkdir()
    (directory / "run").write_text(f"#!/bin/sh\n{script}\n")
    (directory / "run").chmod(0o755)


def run_job(bench: Bench, *cases: tuple[str, str], timeout_s: int = 30) -> dict[str, Any]:
    """Final state after running (case_id, workload) pairs."""
    listed = [
        {"case_id": case_id, "workload": workload, "parameters": {}, "iterations": 1,
         "warmup": 0, "timeout_s": timeout_s}
        for case_id, workload in cases
    ]  # fmt: skip
    (bench[1] / "job.json").write_text(json.dumps({"job": "j", "cases": listed}))
    done = subprocess.run(
        [sys.executable, "-B", bench[0] / "_runner", bench[1]],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout + done.stderr == ""
    state: dict[str, Any] = json.loads((bench[1] / "state.json").read_text())
    return state


def test_cases_run_in_order_and_a_failed_one_does_not_stop_the_rest(bench: Bench) -> None:
    add_workload(bench, "good", 'echo "$(basename "$2")" >> "$2/../order"; cp "$1" "$2/seen.json"')
    add_workload(bench, "bad", "echo broken >&2; exit 3")
    add_workload(bench, "lab", "exit 75")
    state = run_job(bench, ("b", "good"), ("x", "bad"), ("y", "lab"), ("z", "none"), ("a", "good"))
    assert state["state"] == "finished"
    assert state["seconds"] >= sum(f["seconds"] for f in state["finished_cases"]) - 0.1
    assert state["current_case"] is None
    assert [(f["case_id"], f["exit_code"], f["outcome"]) for f in state["finished_cases"]] == [
        ("b", 0, "ok"),
        ("x", 3, "failed"),
        ("y", 75, "lab_fault"),
        ("z", 127, "failed"),
        ("a", 0, "ok"),
    ]
    assert (bench[1] / "order").read_text() == "b\na\n"
    assert (bench[1] / "x/stderr.txt").read_text() == "broken\n"
    assert json.loads((bench[1] / "b/seen.json").read_text())["case_id"] == "b"


def test_a_case_past_its_time_out_is_killed_with_all_its_children(bench: Bench) -> None:
    add_workload(bench, "slow", 'sh -c "trap : TERM; echo \\$\\$ > $2/child; sleep 300; sleep 300"')
    began = time.monotonic()
    state = run_job(bench, ("c", "slow"), timeout_s=1)
    assert time.monotonic() - began < 200
    assert state["finished_cases"][0]["outcome"] == "timeout"
    assert "no end within 1 s" in (bench[1] / "c/stderr.txt").read_text()
    assert gone(int((bench[1] / "c/child").read_text()))


def test_what_a_case_leaves_running_ends_with_it(bench: Bench) -> None:
    add_workload(bench, "leaky", 'sleep 300 & echo $! > "$2/child"')
    assert run_job(bench, ("c", "leaky"))["finished_cases"][0]["outcome"] == "ok"
    assert gone(int((bench[1] / "c/child").read_text()))


def test_the_state_names_the_current_case_while_it_runs(bench: Bench) -> None:
    add_workload(bench, "look", 'cat "$2/../state.json" > "$2/state"')
    run_job(bench, ("one", "look"), ("two", "look"))
    during = json.loads((bench[1] / "two/state").read_text())
    assert (during["state"], during["current_case"], during["cases"]) == ("running", "two", 2)
    assert [case["case_id"] for case in during["finished_cases"]] == ["one"]


def gone(pid: int) -> bool:
    """Whether the process ends soon; one that waits to be reaped counts as ended."""
    for _ in range(50):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_nothing_is_measured_before_who_started_it_is_gone(bench: Bench) -> None:
    """But whoever waits for the job's end finds it before that."""
    add_workload(bench, "good", 'date > "$2/measured"')
    case = {
        "case_id": "a", "workload": "good", "parameters": {}, "iterations": 1, "warmup": 0,
        "timeout_s": 30,
    }  # fmt: skip
    (bench[1] / "job.json").write_text(json.dumps({"job": "j", "cases": [case]}))
    with subprocess.Popen(["sleep", "300"]) as starter:
        runner = subprocess.Popen(
            [sys.executable, "-B", bench[0] / "_runner", bench[1], str(starter.pid)]
        )
        state = bench[1] / "state.json"
        deadline = time.monotonic() + 20
        while not state.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        said = json.loads(state.read_text())
        assert (said["state"], said["pid"], said["current_case"]) == ("running", runner.pid, None)
        time.sleep(0.5)
        assert not (bench[1] / "a").exists()
        starter.kill()
        assert runner.wait(30) == 0
    assert (bench[1] / "a" / "measured").exists()
