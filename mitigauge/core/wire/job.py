"""A job of cases on a host: its files, how it stands, and how its cases ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

from .case import Case

FILE: Final = "job.json"
STATE_FILE: Final = "state.json"
# Of a job, a case and a collector: the name of a file and of a systemd unit.
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

State = Literal["running", "finished", "failed", "missing"]
RUNNING: Final = "running"
FINISHED: Final = "finished"
FAILED: Final = "failed"
MISSING: Final = "missing"

# sysexits.h: the lab failed, not what is measured.
EX_TEMPFAIL: Final = 75
# What a shell's `timeout` answers with.
TIMED_OUT: Final = 124
OK: Final = "ok"
OUTCOMES: Final[Mapping[int, str]] = {0: OK, EX_TEMPFAIL: "lab_fault", TIMED_OUT: "timeout"}

# What `run` finds in its environment: the host's clock, the processor to pin to, and a file that
# outlives cases and boots.
CLOCK_VARIABLE: Final = "MITIGAUGE_CLOCK"
CPU_VARIABLE: Final = "MITIGAUGE_CPU"
PACE_VARIABLE: Final = "MITIGAUGE_PACE"


class Job(TypedDict):
    """job.json."""

    job: str
    cases: Sequence[Case]
    nmi_source: str
    exact_source: str
    clock: str


class Gates(TypedDict):
    """What the host's kernel counted while a case ran; bits of taint that came, and its lines."""

    throttled: int
    machine_checks: int
    tainted: int
    kernel_log: Sequence[str]


class FinishedCase(TypedDict):
    """How one case ended."""

    case_id: str
    exit_code: int
    outcome: str
    seconds: float
    gates: Gates


class Report(TypedDict, total=False):
    """What workload_job answers of a job."""

    state: State
    detail: str
    current_case: str | None
    profiling: bool
    seconds: float


class JobState(Report, total=False):
    """state.json."""

    job: str
    boot_id: str
    pid: int
    started_at: str
    finished_at: str
    cases: int
    finished_cases: list[FinishedCase]


def outcome_of(exit_code: int) -> str:
    """How a case ended, by its workload's exit code."""
    return OUTCOMES.get(exit_code, FAILED)


def unit_of(job: str) -> str:
    """The job's systemd unit."""
    return f"mitigauge-{job}.service"
