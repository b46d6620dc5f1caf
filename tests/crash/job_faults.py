"""Faults in the steps of jobs, one at each of their commits.

A worker ends before a commit (nothing of it happened), right after one (it never hears of it), or
sleeps until its lease is another's and then goes on as if nothing had been. What the database
holds afterwards is what it would hold after a SIGKILL: an open transaction is rolled back.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import Engine, event, text
from sqlalchemy.orm import Session

from mitigauge.jobs import repository
from mitigauge.jobs.states import Ability
from mitigauge.storage.database.engine import transaction
from pipelines.jobs.engine import JobAdvancer

BEFORE, AFTER, ASLEEP = "before", "after", "asleep"
KINDS = (BEFORE, AFTER, ASLEEP)
# A job that wants so many steps is stuck.
MOST_STEPS = 400


class Killed(BaseException):
    """The worker is gone."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Of which kind, and at which commit of a step (0 is the one that takes the job)."""

    kind: str
    commit: int


@dataclass
class _Armed:
    """Listens to the commits of one thread, and makes the fault at its own."""

    fault: Fault
    take_over: Callable[[], None]
    made: dict[str, int]
    thread: threading.Thread = field(default_factory=threading.current_thread)
    seen: int = 0

    def before(self, session: Session) -> None:
        if threading.current_thread() is not self.thread or session.in_nested_transaction():
            return
        self.seen += 1
        if self.seen != self.fault.commit + 1:
            return
        self.made[self.fault.kind] = self.made.get(self.fault.kind, 0) + 1
        if self.fault.kind == BEFORE:
            raise Killed
        session.info["fault"] = self.fault.kind

    def after(self, session: Session) -> None:
        kind = session.info.pop("fault", None)
        if kind == AFTER:
            raise Killed
        if kind == ASLEEP:
            self.take_over()


@dataclass
class Faulty:
    """Takes steps of jobs with faults in them. *between*: what the world does between two steps."""

    engine: Engine
    advancer: JobAdvancer
    between: Callable[[], None] = lambda: None
    made: dict[str, int] = field(default_factory=dict)

    def finish(self, faults: Iterator[Fault]) -> None:
        """Go on until no job is open but the service's own that wait. Raises where one is stuck."""
        for _ in range(MOST_STEPS):
            due = self._due()
            if not due:
                return
            for job in due:
                self._step(job, next(faults, None))
            self.between()
        raise AssertionError(f"stuck after {MOST_STEPS} steps")

    def _step(self, job: int, fault: Fault | None) -> None:
        if fault is None:
            self.advancer.advance(job)
            return
        try:
            with self._armed(job, fault):
                self.advancer.advance(job)
        except Killed:
            self._lapse(job)

    @contextmanager
    def _armed(self, job: int, fault: Fault) -> Iterator[None]:
        armed = _Armed(fault, lambda: self._take_over(job), self.made)
        event.listen(Session, "before_commit", armed.before)
        event.listen(Session, "after_commit", armed.after)
        try:
            yield
        finally:
            event.remove(Session, "before_commit", armed.before)
            event.remove(Session, "after_commit", armed.after)

    def _take_over(self, job: int) -> None:
        """Another worker takes the next step, since this one sleeps."""
        self._lapse(job)
        self.advancer.advance(job)

    def _lapse(self, job: int) -> None:
        """The lease is over: the worker that had it was not heard of for long enough."""
        with transaction(self.engine) as session:
            session.execute(
                text("update job set expires_at = now() - interval '1 s' where id = :id"),
                {"id": job},
            )

    def _due(self) -> list[int]:
        """Jobs that are open; none is waited for, but those of the service rest after a look."""
        with transaction(self.engine) as session:
            # Workers that were lost here were no fault of the step's.
            session.execute(text("update job set lost_workers = 0"))
            session.execute(text("update job set wake_at = now() where subject <> ''"))
            found = repository.jobs_to_wake(session, list(Ability), grace_s=0)
            return [job for job, _ in found]


def random_faults(seed: int, count: int, most_commits: int = 8) -> Iterator[Fault]:
    """So many faults, one a step, at commits 0…*most_commits* − 1."""
    numbers = random.Random(seed)
    for _ in range(count):
        yield Fault(numbers.choice(KINDS), numbers.randrange(most_commits))
