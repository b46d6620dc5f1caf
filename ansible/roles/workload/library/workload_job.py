#!/usr/bin/python
"""Ansible module: start a detached job of workload cases, or look how it stands.

Either may wait for the job's end, and then returns what it left.

A job is a directory with job.json (what to run), state.json (kept by the runner)
and one directory for each case. Starting one that exists changes nothing.
"""

from __future__ import annotations

import base64
import io
import json
import os
import select
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_changes import ChangesError, note_paths
from ansible.module_utils.mitigauge_wire import exact, profile
from ansible.module_utils.mitigauge_wire import job as wire
from ansible.module_utils.mitigauge_wire.case import HIGHEST_HZ, REQUIRED
from ansible.module_utils.mitigauge_wire.case import limit_s as case_limit_s
from ansible.module_utils.mitigauge_wire.clock import CLOCKS, REAL

DOCUMENTATION = r"""
module: workload_job
short_description: Start or look at a detached job of workload cases
options:
  state: {description: what is wanted, choices: [started, polled], type: str, required: true}
  job: {description: unique name of the job, type: str, required: true}
  cases: {description: cases in the order in which they run, type: list, elements: dict}
  cpus: {description: "processors the job may use, as in 0-1,4; empty: all", type: str, default: ""}
  wait_s: {description: seconds to wait for the end of a running job, type: int, default: 0}
  nmi_source: {description: "where NMIs come from, or empty", type: str, default: ""}
  exact_source: {description: "where blocks are counted, or empty", type: str, default: ""}
  clock: {description: what is its time, choices: [real, counted], default: real}
  jobs: {description: directory of all jobs, type: path, required: true}
  workloads: {description: directory of the staged workloads, type: path, required: true}
  archive_limit_bytes: {description: largest archive returned, type: int, required: true}
author: [Mitigauge contributors]
"""

# For the whole unit, beyond the sum of its cases' time-outs.
UNIT_MARGIN_S = 120
# How often whoever waits looks whether the runner has begun: it should know before anything is
# measured.
WATCH_INTERVAL_S = 0.1
CAPTURES = (
    *(
        f"*/{profile.DIRECTORY}/{of}{profile.TEXT}.*"
        for of in ("", f"{profile.GUEST}/", f"{profile.OFF_CPU}/")
    ),
    f"*/{exact.DIRECTORY}/{exact.WINDOW.format('*')}",
)


class JobError(Exception):
    """The job cannot be started or read; the text says why."""


def check_name(what: str, value: str) -> str:
    """`value` if it can be the name of a file and of a systemd unit."""
    if not wire.NAME.fullmatch(value):
        raise JobError(
            f"{what} {value!r}: only letters, digits, dot, dash and underscore, a letter or digit "
            "first, at most 128"
        )
    return value


def check_cases(cases: list[dict[str, Any]], workloads: Path) -> None:
    """Refuse what the runner could not run, before anything is started."""
    if not cases:
        raise JobError("a job needs at least one case")
    seen: set[str] = set()
    for index, case in enumerate(cases):
        for name, kind in REQUIRED.items():
            if not isinstance(case.get(name), kind):
                raise JobError(f"case {index}: {name}: {case.get(name)!r} is not {kind.__name__}")
        check_hz(index, case.get("profile_hz"))
        check_collect(index, case.get("collect"))
        if check_name("case_id", case["case_id"]) in seen:
            raise JobError(f"case_id {case['case_id']!r} is there twice")
        seen.add(case["case_id"])
        program = workloads / check_name("workload", case["workload"]) / "run"
        if not program.is_file():
            raise JobError(
                f"case {case['case_id']}: workload {case['workload']!r} is not staged on this host "
                f"({program}); run prepare.yml first"
            )


def check_hz(index: int, value: Any) -> None:
    """Refuse a sampling frequency that perf would not take; None is no profile."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= HIGHEST_HZ:
        raise JobError(
            f"case {index}: profile_hz: {value!r} is not a whole number from 1 to {HIGHEST_HZ}"
        )


def check_collect(index: int, names: Any) -> None:
    """Refuse what could not be the names of collectors; None or an empty list is none."""
    known = isinstance(names, list) and all(
        isinstance(name, str) and wire.NAME.fullmatch(name) for name in names
    )
    if names is not None and not known:
        raise JobError(f"case {index}: collect: {names!r} is no list of collectors' names")


def limit_s(case: dict[str, Any]) -> int:
    """Seconds after which the case has ended for certain, its profiled pass included."""
    limit: int = case_limit_s(
        case["timeout_s"],
        case.get("profile_hz"),
        off_cpu=case.get("profile_off_cpu"),
        exact=case.get("exact"),
    )
    return limit


def unit_active(job: str) -> bool:
    """Whether the job's unit is running or about to."""
    done = subprocess.run(
        ["systemctl", "is-active", wire.unit_of(job)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip() in {"active", "activating", "deactivating", "reloading"}


def boot_id() -> str:
    """Identity of the present boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def read_state(directory: Path) -> dict[str, Any]:
    """state.json; empty if the runner has not begun."""
    try:
        state: dict[str, Any] = json.loads((directory / wire.STATE_FILE).read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise JobError(f"{directory}/{wire.STATE_FILE} is torn: {error}") from None
    return state


def look(directory: Path, job: str) -> dict[str, Any]:
    """How the job stands: running, finished, failed (interrupted) or missing."""
    # The unit first: asked the other way round, one that ends between the two
    # questions would look interrupted.
    active = unit_active(job)
    state = read_state(directory)
    if not state and active:
        state = {"state": wire.RUNNING, "detail": "the runner is about to start"}
    elif not state:
        there = (directory / wire.FILE).is_file()
        detail = "written, but never started" if there else "not on this host"
        state = {"state": wire.MISSING, "detail": detail}
    elif state["state"] == wire.RUNNING and not active:
        state["state"] = wire.FAILED
        rebooted = state["boot_id"] != boot_id()
        state["detail"] = (
            "the host rebooted while it ran" if rebooted else "its unit ended before the job did"
        ) + log_tail(directory)
    return {"current_case": None, "finished_cases": [], **state}


def log_tail(directory: Path) -> str:
    """The runner's last words, if it said any."""
    log = directory / "runner.log"
    text = log.read_bytes()[-1024:].decode(errors="replace").strip() if log.is_file() else ""
    return f": {text}" if text else ""


def unit_command(
    job: str, directory: Path, runner: Path, cpus: str, limit_s: int, after: int | None = None
) -> list[str]:
    """The systemd-run that starts the runner, away from this connection.

    *after*: a process whose end the runner waits for before it measures anything.
    """
    command = [
        "systemd-run", f"--unit=mitigauge-{job}", "--collect", "--quiet",
        f"--description=Mitigauge job {job}",
        "--property=StandardOutput=null", f"--property=StandardError=append:{directory}/runner.log",
        f"--property=RuntimeMaxSec={limit_s}", "--property=KillMode=control-group",
    ]  # fmt: skip
    if cpus:
        command.append(f"--property=CPUAffinity={cpus}")
    return [*command, str(runner), str(directory), *([] if after is None else [str(after)])]


def start(params: dict[str, Any], *, check_mode: bool) -> tuple[bool, dict[str, Any]]:
    """(changed, how the job stands) after seeing to it that the job was started once."""
    job, directory = params["job"], Path(params["jobs"], params["job"])
    present = look(directory, job)
    if present["state"] != wire.MISSING:
        return False, present
    workloads = Path(params["workloads"])
    check_cases(params["cases"] or [], workloads)
    if check_mode:
        return True, present
    directory.mkdir(parents=True, exist_ok=True)
    part = directory / f".{wire.FILE}.part"
    content = wire.Job(
        job=job,
        cases=params["cases"],
        nmi_source=params["nmi_source"],
        exact_source=params["exact_source"],
        clock=params["clock"],
    )
    part.write_text(json.dumps(content))
    part.replace(directory / wire.FILE)
    unit_limit_s = sum(limit_s(case) for case in params["cases"]) + UNIT_MARGIN_S
    # Who stays until the job's end is silent meanwhile; who goes must be gone.
    after = None if params["wait_s"] > 0 else os.getpid()
    done = subprocess.run(
        unit_command(job, directory, workloads / "_runner", params["cpus"], unit_limit_s, after),
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode and not unit_active(job):
        raise JobError(f"systemd-run for job {job}: {done.stderr.strip()}")
    return True, look(directory, job)


def await_end(directory: Path, seconds: float) -> None:
    """Wait for the end of a running job's runner, *seconds* at most.

    What is measured meanwhile must not notice, least of all on a host with one processor. So
    once the runner is there, the kernel says when it ends, and nothing looks in between.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state = read_state(directory)
        if state:
            if state["state"] == wire.RUNNING:
                sleep_until_end(state["pid"], deadline - time.monotonic())
            return
        time.sleep(WATCH_INTERVAL_S)


def sleep_until_end(pid: int, seconds: float) -> None:
    """Return when the process is no more, or after *seconds*."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([process], [], [], max(0.0, seconds))
    finally:
        os.close(process)


def tarred(directory: Path, left_out: set[Path]) -> bytes:
    """The job's directory as tar.gz without the files left out."""
    names = {f"{directory.name}/{path.relative_to(directory)}" for path in left_out}
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=6) as tar:
        tar.add(
            directory, arcname=directory.name,
            filter=lambda member: None if member.name in names else member,
        )  # fmt: skip
    return raw.getvalue()


def packed(directory: Path, limit_bytes: int) -> str:
    """The job's directory as tar.gz in base64.

    Captures are in it as far as they fit, the smallest first: figures must not be
    lost to a large profile. Whoever reads profile.json misses those left out.
    """
    captures = {path for pattern in CAPTURES for path in directory.glob(pattern)}
    raw = tarred(directory, captures)
    if len(raw) > limit_bytes:
        raise JobError(
            f"job {directory.name}: its archive of {len(raw)} bytes exceeds "
            f"workload_archive_limit_bytes ({limit_bytes})"
        )
    kept = fitting(captures, limit_bytes - len(raw))
    if kept:
        raw = tarred(directory, captures - kept)
    return base64.b64encode(raw).decode()


def fitting(captures: set[Path], room_bytes: int) -> set[Path]:
    """The smallest of the captures that fit together, packed in a tar."""
    kept: set[Path] = set()
    for path in sorted(captures, key=lambda path: (path.stat().st_size, path)):
        # They are compressed already: gzip adds a little, a header comes before each.
        room_bytes -= path.stat().st_size * 101 // 100 + 2 * tarfile.BLOCKSIZE
        if room_bytes < 0:
            break
        kept.add(path)
    return kept


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["started", "polled"], "required": True},
            "job": {"type": "str", "required": True},
            "cases": {"type": "list", "elements": "dict"},
            "cpus": {"type": "str", "default": ""},
            "nmi_source": {"type": "str", "default": ""},
            "exact_source": {"type": "str", "default": ""},
            "clock": {"type": "str", "choices": list(CLOCKS), "default": REAL},
            "wait_s": {"type": "int", "default": 0},
            "jobs": {"type": "path", "required": True},
            "workloads": {"type": "path", "required": True},
            "archive_limit_bytes": {"type": "int", "required": True},
        },
        required_if=[("state", "started", ("cases",))],
        supports_check_mode=True,
    )
    params = module.params
    try:
        check_name("job", params["job"])
        directory = Path(params["jobs"], params["job"])
        changed, starting = False, params["state"] == "started"
        if starting:
            if not module.check_mode:
                note_paths([params["jobs"]])
            changed, job = start(params, check_mode=module.check_mode)
        else:
            job = look(directory, params["job"])
        if job["state"] == wire.RUNNING and params["wait_s"] > 0:
            await_end(directory, params["wait_s"])
            job = look(directory, params["job"])
        result: dict[str, Any] = {"changed": changed, "mitigauge": {"job": job}}
        wanted = not starting or params["wait_s"] > 0
        if wanted and job["state"] in {wire.FINISHED, wire.FAILED}:
            result["archive"] = packed(directory, params["archive_limit_bytes"])
        module.exit_json(**result)
    except (JobError, ChangesError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
