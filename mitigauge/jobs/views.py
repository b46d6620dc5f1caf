"""Jobs and workers as commands and the API show them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.jobs import repository, service, worker_repository
from mitigauge.jobs.schemas import (
    JobAttemptView,
    JobEventView,
    JobView,
    JobWhole,
    WorkerView,
)
from mitigauge.jobs.states import OPEN_JOB_STATES, STANDING, Ability, JobState
from mitigauge.jobs.tables import Job
from mitigauge.storage.database.engine import database_now

# Of one job's log, the latest.
MOST_LINES = 500
IN_WORDS = {
    Ability.KERNELS: "builds kernels",
    Ability.ARCHIVES: "looks at archives",
    Ability.MAIL: "reads mails",
    Ability.LETTERS: "sends letters",
    Ability.BACKUPS: "takes backups",
    Ability.DIGESTS: "tells subscribers",
}


def list_jobs(
    session: Session,
    *,
    standing: bool = False,
    find: str = "",
    states: Collection[JobState] = (),
) -> list[JobView]:
    """The newest jobs that have the words; *standing*: with the service's own."""
    able = served(session)
    rows = repository.listed(session, standing=standing, find=find, states=states)
    return [_view(job, able) for job in rows]


def failed_jobs(session: Session, since: datetime, limit: int) -> list[JobView]:
    """Jobs that failed since then and were not begun anew, the newest first."""
    failed = repository.failed_since(session, since, limit)
    able = served(session) if failed else set()
    return [_view(job, able) for job in failed]


def view_job(session: Session, job_id: int) -> JobView:
    """One job without its log. Raises NotFound."""
    return _view(service.find(session, job_id), served(session))


def show_job(session: Session, job_id: int) -> JobWhole:
    """One job. Raises NotFound."""
    job = service.find(session, job_id)
    return JobWhole(
        **_view(job, served(session)).model_dump(),
        events=list_events(session, job_id, repository.last_event_id(session, job_id) - MOST_LINES),
        attempts=[
            JobAttemptView.model_validate(each) for each in repository.attempts_of(session, job_id)
        ],
    )


def list_events(session: Session, job_id: int, after: int = 0) -> list[JobEventView]:
    """The lines of a job's log after that id."""
    return [
        JobEventView.model_validate(each)
        for each in repository.events_after(session, job_id, after)
    ]


def list_workers(session: Session) -> list[WorkerView]:
    """Workers of the last week, the newest first."""
    gone = database_now(session) - worker_repository.GONE_AFTER
    return [
        WorkerView(
            name=each.name,
            machine=each.machine,
            version=each.version,
            schema_revision=each.schema,
            alive=each.stopped_at is None and each.seen_at > gone,
            stopped=each.stopped_at is not None,
            jobs=each.abilities.jobs,
            hosts=each.abilities.hosts,
            architecture=each.abilities.architecture,
            lacks=each.abilities.lacks,
            started_at=each.started_at,
            seen_at=each.seen_at,
        )
        for each in worker_repository.listed(session)
    ]


def served(session: Session) -> set[Ability]:
    """What the workers can do that are alive, together."""
    return {each for found in worker_repository.abilities(session) for each in found.jobs}


def unserved_in_words(need: Ability) -> str:
    """What to do where no worker can do it."""
    return f"no worker that runs now {IN_WORDS[need]}: start one with `mitigauge worker`"


def _view(job: Job, able: Collection[Ability]) -> JobView:
    view = JobView.model_validate(job)
    waits = job.state in OPEN_JOB_STATES and job.kind not in STANDING and job.need not in able
    return view.model_copy(update={"waits": unserved_in_words(job.need)}) if waits else view
