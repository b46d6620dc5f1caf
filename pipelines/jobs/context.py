"""What a step of a job sees, and what it gives back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.errors import Interrupted
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.logger import get_logger
from mitigauge.jobs import repository, service
from mitigauge.jobs.lease import JobLease
from mitigauge.jobs.states import JobState
from mitigauge.jobs.tables import Job
from mitigauge.storage.database.engine import in_words, is_away, transaction
from pipelines.lease import HeldLease

log = get_logger(__name__)

# How often a step asks whether somebody cancelled it, and says how far it is.
ASK_EVERY_S = 2.0
LONGEST_PROGRESS = 300


def _nothing(_session: Session, _job: Job) -> None:
    """Nothing is changed."""


@dataclass(frozen=True, slots=True)
class JobDone:
    """What came of a step.

    *apply* is carried out in the transaction that commits the step. *state*: the job is over so;
    None where it goes on, after *again_in_s*. *idle*: there was nothing to do, and nothing of the
    attempt is kept. *interrupted*: it was ended from outside. *failed*: our side failed, and it is
    tried again; *why* says either.
    """

    apply: Callable[[Session, Job], None] = _nothing
    again_in_s: float = 0.0
    state: JobState | None = None
    why: str = ""
    idle: bool = False
    failed: bool = False
    interrupted: bool = False

    @property
    def outcome(self) -> str:
        """In a word."""
        if self.failed:
            return "failed"
        return "interrupted" if self.interrupted else "done"


class JobRunner(Protocol):
    """How jobs of one kind are done."""

    @property
    def limit_s(self) -> float:
        """How long a job may take; infinite for the service's own."""
        ...

    def go_on(self, context: JobContext) -> JobDone:
        """Do the next thing. May raise whatever it likes; see ``mitigauge.jobs.blame``."""
        ...

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """Our side failed, and it is tried again: what the job is about is to say so."""
        ...

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The job ends before it is done: what it is about is brought to an end with it."""
        ...


class StandingRunner:
    """Of the service's own jobs, which never end and have nobody else to tell."""

    limit_s = math.inf

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """The job's own row says it."""

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """It does not end."""


@dataclass(slots=True)
class _Asked:
    at: float = -1e9
    cancelled: bool = False
    said_at: float = -1e9


@dataclass(frozen=True)
class JobContext:
    """One step of a job, under a lease."""

    job: Job
    lease: JobLease
    held: HeldLease
    engine: Engine
    stopping: Callable[[], bool]
    _asked: _Asked = field(default_factory=_Asked)

    def fence(self, session: Session) -> None:
        """Lock the job for this transaction; raise StaleEpoch where it is another's now."""
        service.require(session, self.lease)

    def transaction(self) -> AbstractContextManager[Session]:
        """A transaction that commits only while the job is ours."""
        return transaction(self.engine, self.fence)

    def why_to_stop(self) -> str:
        """Why the step is to end now; empty while it may go on. Asks the database now and then."""
        if not self.held.alive():
            return "its lease is over"
        if self.stopping():
            return "its worker stops"
        return "it was cancelled" if self._is_cancelled() else ""

    def require_wanted(self) -> None:
        """Raise :class:`Interrupted` where the step is to end now."""
        why = self.why_to_stop()
        if why:
            raise Interrupted(why)

    def say(self, text: str) -> None:
        """Append a line to the job's log, at once. Raises nothing."""
        self._quietly(lambda session: service.say(session, self.job.id, text))

    def progress(self, text: str) -> None:
        """Say what is done now; more often than every two seconds, it is left out."""
        now = time.monotonic()
        if now - self._asked.said_at >= ASK_EVERY_S:
            self._asked.said_at = now
            words = clean_text(text)[:LONGEST_PROGRESS]
            self._quietly(lambda session: repository.note_progress(session, self.lease, words))

    def _is_cancelled(self) -> bool:
        now = time.monotonic()
        if not self._asked.cancelled and now - self._asked.at >= ASK_EVERY_S:
            self._asked.at = now
            self._quietly(self._ask)
        return self._asked.cancelled

    def _ask(self, session: Session) -> None:
        self._asked.cancelled = repository.is_cancelled(session, self.job.id)

    def _quietly(self, do: Callable[[Session], None]) -> None:
        try:
            with transaction(self.engine) as session:
                do(session)
        except Exception as error:
            if not is_away(error):
                log.exception("job", job=self.job.id)
            log.warning("not noted", job=self.job.id, error=in_words(error))
