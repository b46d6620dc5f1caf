"""What is to be done about a job next. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mitigauge.jobs.blame import MOST_TRIES

LOST_WORKERS_LIMIT = 3


class JobStep(StrEnum):
    """What a worker does with a job that it took."""

    GO_ON = "go on"
    CANCEL = "cancel"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class JobSituation:
    """Where a job stands. *age_s*: since it was begun; *limit_s*: how long it may take.

    *standing*: one of the service's own, which never ends.
    """

    standing: bool
    cancelled_by: str
    failures: int
    error: str
    lost_workers: int
    age_s: float
    limit_s: float


@dataclass(frozen=True, slots=True)
class JobAction:
    """The next step, and why it is another than to go on."""

    step: JobStep
    reason: str = ""


def decide(job: JobSituation) -> JobAction:
    """The next step of a job."""
    if job.standing:
        return JobAction(JobStep.GO_ON)
    if job.cancelled_by:
        return JobAction(JobStep.CANCEL, f"cancelled by {job.cancelled_by}")
    if job.lost_workers >= LOST_WORKERS_LIMIT:
        return JobAction(JobStep.GIVE_UP, f"it ended its worker {job.lost_workers} times in a row")
    if job.failures >= MOST_TRIES:
        return JobAction(
            JobStep.GIVE_UP, f"our side failed {job.failures} times in a row: {job.error}"
        )
    if job.age_s > job.limit_s:
        hours = job.limit_s / 3600
        return JobAction(JobStep.GIVE_UP, f"it took longer than {hours:.0f} h")
    return JobAction(JobStep.GO_ON)
