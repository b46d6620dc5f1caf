#!/usr/bin/python3 -B
"""Runs a job's cases on the host, one after the other: `_runner JOB_DIR [PID]`.

Nothing is measured before process PID, which started it, is gone.

Started detached by systemd, so that a lost connection costs nothing. It keeps
`state.json` whole at all times (written aside, then renamed); each case's raw
files lie in JOB_DIR/<case_id>/. A failed case does not stop those after it.

Beside a case runs what its `collect` names (_collecting.py), in a process of its own, and what
takes `slowed_percent` of each processor's time (_slowing.py).
Cases with `profile_hz` run once more under a profiler, after every timed pass of the
job: a profiler never runs beside a figure that counts, and whatever happens to it
changes nothing of the timed pass (_profiling.py). Where the host's emulator counts what runs,
cases with `exact` run once more under its eyes (_exact.py).
Standard library only; writes nothing to the console.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from _cases import run_logged, workload_command, write_json
from _collecting import collecting, gates, passed
from _exact import exact_case
from _kit.wire.case import Case
from _kit.wire.clock import REAL
from _kit.wire.job import (
    CLOCK_VARIABLE,
    EX_TEMPFAIL,
    FILE,
    FINISHED,
    OK,
    PACE_VARIABLE,
    RUNNING,
    STATE_FILE,
    FinishedCase,
    Job,
    JobState,
    outcome_of,
)
from _off_cpu import off_cpu_case
from _profiling import profile_case
from _slowing import Slowdown

# On an emulated host a module takes seconds to end.
GONE_WITHIN_S = 20.0


def now() -> str:
    """The time as RFC 3339, UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def run_case(case: Case, workloads: Path, output: Path) -> int:
    """Exit code of the case's workload, TIMED_OUT past its `timeout_s`."""
    output.mkdir()
    # What was written until now is not to be written back while something is measured.
    os.sync()
    with (
        collecting(case.get("collect") or (), workloads, output),
        Slowdown(case.get("slowed_percent") or 0, output) as slowdown,
    ):
        code = run_logged(workload_command(case, workloads, output), output, case["timeout_s"])
    return code or (0 if slowdown.was_kept else EX_TEMPFAIL)


def boot_id() -> str:
    """Identity of the present boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def await_end(pid: int) -> None:
    """Return when the process is no more, or after GONE_WITHIN_S."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([process], [], [], GONE_WITHIN_S)
    os.close(process)


def run_job(directory: Path, workloads: Path, after: int | None = None) -> None:
    """Run all cases of `directory`/job.json, keeping state.json up to date.

    `after`: the process whose end is awaited first.
    """
    job: Job = json.loads((directory / FILE).read_text())
    # What is built against a shared machine's noise is of no use where time counts.
    os.environ[CLOCK_VARIABLE] = job.get("clock", REAL)
    state = JobState(
        state=RUNNING, job=job["job"], boot_id=boot_id(), pid=os.getpid(), started_at=now(),
        current_case=None, cases=len(job["cases"]), finished_cases=[], detail="",
    )  # fmt: skip
    if after is not None:
        # Whoever waits for this job's end finds it here, before anything is measured.
        write_json(directory / STATE_FILE, state)
        await_end(after)
    job_began = time.monotonic()
    for case in job["cases"]:
        state["current_case"] = case["case_id"]
        write_json(directory / STATE_FILE, state)
        before, began = gates(), time.monotonic()
        code = run_case(case, workloads, directory / case["case_id"])
        state["finished_cases"].append(
            FinishedCase(
                case_id=case["case_id"],
                exit_code=code,
                outcome=outcome_of(code),
                seconds=round(time.monotonic() - began, 2),
                gates=passed(before),
            )
        )
    run_profiles(directory, workloads, job, state)
    seconds = round(time.monotonic() - job_began, 2)
    state["state"], state["current_case"] = FINISHED, None
    state["finished_at"], state["seconds"] = now(), seconds
    write_json(directory / STATE_FILE, state)


def run_profiles(directory: Path, workloads: Path, job: Job, state: JobState) -> None:
    """The profiled and counted passes of cases that want them and whose timed pass ended well."""
    well = {case["case_id"] for case in state["finished_cases"] if case["outcome"] == OK}
    for case in job["cases"]:
        counts = bool(case.get("exact") and job.get("exact_source"))
        if case["case_id"] not in well or not (case.get("profile_hz") or counts):
            continue
        state["current_case"], state["profiling"] = case["case_id"], True
        write_json(directory / STATE_FILE, state)
        timed = directory / case["case_id"]
        if case.get("profile_hz"):
            profile_case(case, workloads, timed, job.get("nmi_source", ""))
            if case.get("profile_off_cpu"):
                off_cpu_case(case, workloads, timed)
        if counts:
            exact_case(case, workloads, timed, job["exact_source"])
    state.pop("profiling", None)


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    # How fast the processor can be, from one case to the next and over reboots.
    os.environ[PACE_VARIABLE] = str(here / "_pace.json")
    run_job(Path(sys.argv[1]), here, int(sys.argv[2]) if len(sys.argv) > 2 else None)
