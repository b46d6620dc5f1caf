"""Jobs: what the service does by itself, a step at a time. One module a kind."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from mitigauge.core.settings import Settings
from mitigauge.jobs import service
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.service import SERVICE, JobRequest
from mitigauge.jobs.states import NEEDS, STANDING, JobKind
from mitigauge.tracking.studies.service import kinds_in
from pipelines.jobs.archives import ArchivesRunner
from pipelines.jobs.backup import BackupRunner
from pipelines.jobs.bisection import BisectionRunner
from pipelines.jobs.context import JobRunner
from pipelines.jobs.digests import DigestsRunner
from pipelines.jobs.kernel import KernelRunner
from pipelines.jobs.mailbox import MailboxRunner
from pipelines.jobs.publications import PublicationsRunner
from pipelines.jobs.revision import RevisionRunner
from pipelines.jobs.study import StudyRunner
from pipelines.jobs.weekly import WeeklyRunner

_TITLES = {
    JobKind.ARCHIVES: "look at archives for new revisions",
    JobKind.MAILBOX: "read and answer mails",
    JobKind.WEEKLY: "make and send the weekly letter",
    JobKind.BACKUP: "take backups",
    JobKind.DIGESTS: "tell subscribers what happened",
    JobKind.PUBLICATIONS: "publish results",
}


def runners_of(settings: Settings) -> Mapping[JobKind, JobRunner]:
    """How each kind of job is done. Raises InvalidInput for a setting that names no study."""
    return {
        JobKind.KERNEL: KernelRunner(),
        JobKind.REVISION: RevisionRunner(studies=kinds_in(settings.studies)),
        JobKind.BISECTION: BisectionRunner(),
        JobKind.ARCHIVES: ArchivesRunner(settings),
        JobKind.MAILBOX: MailboxRunner(settings),
        JobKind.WEEKLY: WeeklyRunner(settings),
        JobKind.BACKUP: BackupRunner(settings),
        JobKind.DIGESTS: DigestsRunner(settings),
        JobKind.STUDY: StudyRunner(),
        JobKind.PUBLICATIONS: PublicationsRunner(settings),
    }


def begin_standing_jobs(session: Session, can: Abilities) -> None:
    """See that there is one of each of the service's own jobs that a worker can do."""
    for kind in STANDING:
        if NEEDS[kind] in can.jobs:
            service.ask(session, JobRequest(kind, "", _TITLES[kind], SERVICE))
