#!/usr/bin/python3
"""Runs a job's cases on the host, one after the other: `_runner JOB_DIR`.

Started detached by systemd, so that a lost connection costs nothing. It keeps
`state.json` whole at all times (written aside, then renamed); each case's raw
files lie in JOB_DIR/<case_id>/. A failed case does not stop those after it.
Standard library only; writes nothing to the console.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EX_TEMPFAIL = 75
# What a shell's `timeout` answers with.
TIMED_OUT = 124
# From SIGTERM to SIGKILL: a workload may have a guest to stop.
TERM_GRACE_S = 5
OUTCOMES = {0: "ok", EX_TEMPFAIL: "lab_fault", TIMED_OUT: "timeout"}


def now() -> str:
    """The time as RFC 3339, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Replace `path` as a whole; it is on disk when this returns."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End everything the case started: politely, then for certain."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
        except ProcessLookupError:
            break
        try:
            process.wait(TERM_GRACE_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def run_case(case: dict[str, Any], workloads: Path, output: Path) -> int:
    """Exit code of the case's workload, TIMED_OUT past its `timeout_s`."""
    output.mkdir()
    path = output / "case.json"
    write_json(path, case)
    program = workloads / case["workload"] / "run"
    with (output / "stdout.txt").open("wb") as out, (output / "stderr.txt").open("wb") as err:
        try:
            process = subprocess.Popen(
                [str(program), str(path), str(output)], stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )  # fmt: skip
        except OSError as error:
            err.write(f"{program}: {error}\n".encode())
            return 127
        try:
            return process.wait(case["timeout_s"])
        except subprocess.TimeoutExpired:
            err.write(f"\nkilled: no end within {case['timeout_s']} s\n".encode())
            return TIMED_OUT
        finally:
            # Also after an orderly end: nothing of a case may run into the next one.
            end_group(process)


def boot_id() -> str:
    """Identity of the present boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def run_job(directory: Path, workloads: Path) -> None:
    """Run all cases of `directory`/job.json, keeping state.json up to date."""
    job = json.loads((directory / "job.json").read_text())
    state: dict[str, Any] = {
        "state": "running", "job": job["job"], "boot_id": boot_id(), "started_at": now(),
        "current_case": None, "cases": len(job["cases"]), "finished_cases": [], "detail": "",
    }  # fmt: skip
    for case in job["cases"]:
        state["current_case"] = case["case_id"]
        write_json(directory / "state.json", state)
        began = time.monotonic()
        code = run_case(case, workloads, directory / case["case_id"])
        state["finished_cases"].append(
            {
                "case_id": case["case_id"],
                "exit_code": code,
                "outcome": OUTCOMES.get(code, "failed"),
                "seconds": round(time.monotonic() - began, 2),
            }
        )
    state |= {"state": "finished", "current_case": None, "finished_at": now()}
    write_json(directory / "state.json", state)


if __name__ == "__main__":
    run_job(Path(sys.argv[1]), Path(__file__).resolve().parent)
