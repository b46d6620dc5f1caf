"""What kinds of jobs there are, and where one stands."""

from __future__ import annotations

from enum import StrEnum


class JobKind(StrEnum):
    """What a job does. A run is none of these: it has tables of its own."""

    KERNEL = "kernel"
    REVISION = "revision"
    BISECTION = "bisection"
    ARCHIVES = "archives"
    MAILBOX = "mailbox"
    WEEKLY = "weekly"
    BACKUP = "backup"
    DIGESTS = "digests"
    STUDY = "study"
    PUBLICATIONS = "publications"


class JobState(StrEnum):
    """Where a job stands; see docs/concepts.md."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_JOB_STATES = (JobState.QUEUED, JobState.RUNNING)


class Ability(StrEnum):
    """What a worker must be able to do for a job, beside runs on hosts."""

    KERNELS = "kernels"
    ARCHIVES = "archives"
    MAIL = "mail"
    LETTERS = "letters"
    BACKUPS = "backups"
    DIGESTS = "digests"


NEEDS = {
    JobKind.KERNEL: Ability.KERNELS,
    JobKind.REVISION: Ability.KERNELS,
    JobKind.BISECTION: Ability.KERNELS,
    JobKind.ARCHIVES: Ability.ARCHIVES,
    JobKind.MAILBOX: Ability.MAIL,
    JobKind.WEEKLY: Ability.LETTERS,
    JobKind.BACKUP: Ability.BACKUPS,
    JobKind.DIGESTS: Ability.DIGESTS,
    JobKind.STUDY: Ability.KERNELS,
    JobKind.PUBLICATIONS: Ability.DIGESTS,
}
# Jobs of the service itself: one of each, which never ends.
STANDING = (
    JobKind.ARCHIVES, JobKind.MAILBOX, JobKind.WEEKLY, JobKind.BACKUP, JobKind.DIGESTS,
    JobKind.PUBLICATIONS,
)  # fmt: skip
