"""``advance``: one step of one run.

Load, decide (pure), act, and commit the outcome with the next state in one
transaction that checks the lease's epoch. Killed anywhere, it can be done again:
every step first looks at the world, and only what was committed happened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar
from uuid import UUID, uuid4

import structlog
from sqlalchemy import Engine, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from mitigauge.catalog import Catalog
from mitigauge.database import database_now, transaction
from mitigauge.errors import StaleEpoch
from mitigauge.experiments import outcomes, repository
from mitigauge.experiments.event_log import record_event
from mitigauge.experiments.states import WAITS_FOR_TURN
from mitigauge.experiments.tables import Run, StepAttempt
from mitigauge.fleet import leases
from mitigauge.fleet.leases import Lease
from mitigauge.fleet.turns import Activity, end_turn, take_turn
from mitigauge.settings import get_settings
from pipelines.decide import Action, Step, decide
from pipelines.host_control import HostFactory, LabFault, Unanswered
from pipelines.lease import HeldLease
from pipelines.situation import situation_of
from pipelines.steps import STEPS
from pipelines.steps.context import FAULTS, Done, StepContext, broken, faulted, unanswered

log = structlog.get_logger()
_T = TypeVar("_T")

HOST_BUSY_RETRY_S = 5.0
TURN_RETRY_S = 2.0
DATABASE_RETRY_S = 1.0
# Steps that begin something on a machine that hosts may share; others go on with it.
BEGINS = {
    Step.PREPARE: Activity.BOOTING,
    Step.ARM: Activity.BOOTING,
    Step.RESTORE: Activity.BOOTING,
    Step.START: Activity.MEASURING,
}


@dataclass(frozen=True)
class Advancer:
    """All that advancing needs. *holder* names this worker in leases."""

    engine: Engine
    hosts: HostFactory
    catalog: Catalog = field(default_factory=Catalog)
    lease_seconds: float = field(default_factory=lambda: get_settings().lease_seconds)
    holder: UUID = field(default_factory=uuid4)

    def advance(self, run_id: int, *, stopping: Callable[[], bool] = lambda: False) -> float | None:
        """Take one step of the run; seconds until it wants the next, None when it is over.

        A step that waits for its host comes back early once *stopping* says so.
        """
        asked = time.monotonic()
        taken = self._take(run_id)
        if not isinstance(taken, _Taken):
            return taken
        with HeldLease(self.engine, taken.lease, self.lease_seconds, since=asked) as held:
            context = self._context(taken, held, stopping)
            done = self._act(taken, context)
            try:
                return self._settle(taken, context, done)
            except StaleEpoch as refused:
                log.warning("commit refused", run=run_id, reason=refused.message)
                self._insist(lambda: self._note_refusal(taken))
                return HOST_BUSY_RETRY_S

    def _take(self, run_id: int) -> _Taken | float | None:
        with transaction(self.engine) as session:
            run = repository.run_whole(session, run_id)
            if run.state in outcomes.FINAL_RUN_STATES:
                return None
            lease = leases.acquire(
                session,
                host_id=run.host_id,
                run_id=run_id,
                holder=self.holder,
                seconds=self.lease_seconds,
            )
            if lease is None:
                return _later(session, run, HOST_BUSY_RETRY_S)
            outcomes.begin(session, run)
            run.epoch = lease.epoch
            action = decide(situation_of(session, run))
            begins = BEGINS.get(action.step)
            if begins and not take_turn(session, lease, begins):
                run.step = WAITS_FOR_TURN
                leases.set_down(session, lease)
                return _later(session, run, TURN_RETRY_S)
            run.step = action.step
            session.add(
                StepAttempt(
                    run_id=run_id, boot_id=action.boot_id, step=action.step, epoch=lease.epoch
                )
            )
            return _Taken(lease, action, run)

    def _context(self, taken: _Taken, held: HeldLease, stopping: Callable[[], bool]) -> StepContext:
        run_log = _RunLog(self.engine, taken.run.experiment_id, taken.run.id, held)
        host = self.hosts(taken.run.experiment.environment, taken.run.host.name, run_log)
        return StepContext(taken.run, taken.action, host, self.engine, self.catalog, stopping)

    def _act(self, taken: _Taken, context: StepContext) -> Done:
        try:
            return STEPS[taken.action.step](context)
        except Unanswered as fault:
            return unanswered(context, fault)
        except LabFault as fault:
            return faulted(context, fault)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("step failed", run=taken.run.id, step=taken.action.step)
            return broken(context, error)

    def _settle(self, taken: _Taken, context: StepContext, done: Done) -> float | None:
        try:
            return self._insist(lambda: self._commit(taken, done))
        except (OperationalError, StaleEpoch):
            raise
        except Exception as error:
            log.exception("commit failed", run=taken.run.id, step=taken.action.step)
            failed = broken(context, error)
            return self._insist(lambda: self._commit(taken, failed))

    def _commit(self, taken: _Taken, done: Done) -> float | None:
        with transaction(self.engine) as session:
            leases.require(session, taken.lease)
            run = repository.run_whole(session, taken.run.id)
            done.apply(session, run)
            self._close_attempt(session, taken, done.outcome, done.detail)
            if done.event:
                _record(session, run, str(taken.action.step), done.event)
            if run.state in outcomes.FINAL_RUN_STATES:
                leases.release(session, taken.lease)
                return None
            if done.outcome in FAULTS and taken.action.boot_id is None:
                # Until it is prepared or restored again, maybe for long, it disturbs nobody.
                end_turn(session, taken.lease)
            leases.set_down(session, taken.lease)
            return _later(session, run, done.again_in_s)

    def _note_refusal(self, taken: _Taken) -> None:
        with transaction(self.engine) as session:
            self._close_attempt(session, taken, "refused", "the lease was taken over")
            _record(
                session,
                taken.run,
                "fence",
                f"{taken.action.step}: epoch {taken.lease.epoch} came back late and was refused",
            )

    def _close_attempt(self, session: Session, taken: _Taken, outcome: str, detail: str) -> None:
        attempt = session.scalars(
            select(StepAttempt).where(
                StepAttempt.run_id == taken.run.id,
                StepAttempt.epoch == taken.lease.epoch,
                StepAttempt.step == taken.action.step,
            )
        ).one()
        attempt.outcome = outcome
        attempt.detail = detail[:4000]
        attempt.finished_at = database_now(session)

    def _insist(self, commit: Callable[[], _T]) -> _T:
        """Commit once the database is back, so that a finished step is not thrown away."""
        deadline = math.inf
        while True:
            try:
                return commit()
            except OperationalError as error:
                # From the first refusal on: a worker may have slept within its commit.
                deadline = min(deadline, time.monotonic() + 10 * self.lease_seconds)
                if time.monotonic() > deadline:
                    raise
                log.warning("database away, commit waits", error=str(error.orig))
                time.sleep(DATABASE_RETRY_S)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A lease in hand and what is to be done under it."""

    lease: Lease
    action: Action
    run: Run


@dataclass(frozen=True, slots=True)
class _RunLog:
    engine: Engine
    experiment_id: int
    run_id: int
    held: HeldLease

    def line(self, kind: str, text: str) -> None:
        try:
            with transaction(self.engine) as session:
                record_event(
                    session,
                    experiment_id=self.experiment_id,
                    run_id=self.run_id,
                    kind=kind,
                    text=text,
                )
        except OperationalError as error:
            log.warning("event not stored", run=self.run_id, text=text, error=str(error.orig))

    def alive(self) -> bool:
        return self.held.alive()

    def holds(self) -> bool:
        return self.held.holds()


def _later(session: Session, run: Run, seconds: float) -> float:
    run.wake_at = database_now(session) + timedelta(seconds=seconds)
    return seconds


def _record(session: Session, run: Run, kind: str, text: str) -> None:
    record_event(session, experiment_id=run.experiment_id, run_id=run.id, kind=kind, text=text)
