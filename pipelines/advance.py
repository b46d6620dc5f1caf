"""``advance``: one step of one run.

Lock the lease, load, decide (pure), act, and commit the outcome with the next state in one
transaction that checks the lease's epoch. Killed anywhere, it can be done again: every step
first looks at the world, and only what was committed happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TypeVar
from uuid import UUID, uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.actor import acting, acting_for
from mitigauge.core.errors import StaleEpoch
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import get_settings
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.runs import attempt_repository, outcomes
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.attempt_repository import LOST_ENDS
from mitigauge.measurement.runs.lease_repository import Lease
from mitigauge.measurement.runs.states import (
    UNFINISHED_RUN_STATES,
    WAITS_FOR_TURN,
    Activity,
    RunState,
)
from mitigauge.measurement.runs.tables import Run, StepAttempt
from mitigauge.measurement.runs.turns import end_turn, take_turn
from mitigauge.storage.database.engine import database_now, in_words, is_away, transaction
from pipelines.decision import LOST_WORKERS_LIMIT, Action, Step, decide
from pipelines.host_control import HostControl, HostFactory, LabFault
from pipelines.host_watch import HostWatch, NoWatch
from pipelines.insist import insist
from pipelines.lease import HeldLease, clock, renewal_engine
from pipelines.situation import situation_of
from pipelines.steps import STEPS
from pipelines.steps.context import Done, StepContext, broken, done_despite

log = get_logger(__name__)
_T = TypeVar("_T")

HOST_BUSY_RETRY_S = 5.0
TURN_RETRY_S = 2.0
# Steps that begin something on a machine that hosts may share; others go on with it.
BEGINS = {
    Step.PREPARE: Activity.BOOTING,
    Step.ARM: Activity.BOOTING,
    Step.RESTORE: Activity.BOOTING,
    Step.START: Activity.MEASURING,
}
# Those that are taken again and again until what they wait for has come.
WAITING_STEPS = (Step.AWAIT, Step.POLL)
# Outcomes after which a run's next step follows at once.
GOES_ON = ("done", "interrupted")


@dataclass(frozen=True)
class Advancer:
    """All that advancing needs."""

    engine: Engine
    hosts: HostFactory
    catalog: Catalog = field(default_factory=Catalog)
    lease_seconds: float = field(default_factory=lambda: get_settings().lease_seconds)
    watch: HostWatch = field(default_factory=NoWatch)

    @cached_property
    def _process(self) -> UUID:
        """Who we are in attempts, so that what a worker left when it died is known together."""
        return uuid4()

    @cached_property
    def _renewals(self) -> Engine:
        return renewal_engine(self.engine)

    def advance(self, run_id: int, *, stopping: Callable[[], bool] = lambda: False) -> float | None:
        """Take one step of the run; seconds until it wants the next, None when it is over.

        A step that waits for its host comes back early once *stopping* says so. Raises what
        :func:`mitigauge.storage.database.engine.is_away` knows, when the database stays away for
        long.
        """
        with acting(acting_for(f"run {run_id}")):
            return self._advance(run_id, stopping)

    def _advance(self, run_id: int, stopping: Callable[[], bool]) -> float | None:
        holder = uuid4()
        taken = self._insist(lambda: self._take(run_id, holder))
        if not isinstance(taken, _Taken):
            if taken is None:
                self.watch.drop(run_id)
            return taken
        if taken.action.step not in WAITING_STEPS:
            self.watch.drop(run_id)
        with self._held(taken) as held:
            context = self._context(taken, held, stopping)
            done = self._act(taken, context)
            try:
                pause = self._settle(taken, context, done)
            except StaleEpoch as refused:
                log.warning("commit refused", run=run_id, reason=refused.message)
                self._insist(lambda: self._note_refusal(taken))
                return HOST_BUSY_RETRY_S
        if pause is None:
            conclude_closed(self.engine)
        return pause

    def _held(self, taken: _Taken) -> HeldLease:
        lease = taken.lease
        return HeldLease(
            f"run {lease.run_id}",
            self._renewals,
            lambda session, seconds: leases.renew(session, lease, seconds),
            self.lease_seconds,
            since=taken.since,
        )

    def _take(self, run_id: int, holder: UUID) -> _Taken | float | None:
        since = clock()
        with transaction(self.engine) as session:
            found = run_rows.host_and_state(session, run_id)
            if found is None or found[1] in FINAL_STATES:
                return None
            waits_s = run_rows.wait_for_host(session, run_id)
            if waits_s is not None:
                return waits_s
            lease = leases.acquire(
                session, host_id=found[0], run_id=run_id, holder=holder, seconds=self.lease_seconds
            )
            if lease is None:
                return _wait_for_host(session, run_id, found[0])
            # What was read before is not believed: another worker may have held the lease.
            run_rows.lock_run(session, run_id)
            run = run_rows.run_whole(session, run_id)
            if run.state not in UNFINISHED_RUN_STATES:
                leases.release(session, lease)
                return None
            return self._begin(session, run, lease, since)

    def _begin(self, session: Session, run: Run, lease: Lease, since: float) -> _Taken | float:
        _count_lost_workers(session, run, lease)
        outcomes.begin(session, run)
        run.epoch = lease.epoch
        action = decide(situation_of(session, run))
        begins = BEGINS.get(action.step)
        if begins and not take_turn(session, lease, begins):
            run.step = WAITS_FOR_TURN
            leases.set_down(session, lease)
            return _later(session, run, TURN_RETRY_S)
        run.step = action.step
        if attempt_repository.attempt_under(session, run.id, lease.epoch) is None:
            session.add(
                StepAttempt(
                    run_id=run.id,
                    boot_id=action.boot_id,
                    step=action.step,
                    epoch=lease.epoch,
                    worker=self._process,
                )
            )
        return _Taken(lease, action, run, since)

    def _context(self, taken: _Taken, held: HeldLease, stopping: Callable[[], bool]) -> StepContext:
        run = taken.run
        run_log = _RunLog(self.engine, run.experiment_id, run.id, held)

        def open_host() -> HostControl:
            return self.hosts(run.experiment.environment, run.host.name, run_log)

        return StepContext(
            run, taken.action, open_host, self.engine, self.catalog, stopping, self.watch
        )

    def _act(self, taken: _Taken, context: StepContext) -> Done:
        try:
            return STEPS[taken.action.step](context)
        except LabFault as fault:
            return done_despite(context, fault)
        except Exception as error:
            log.exception("step failed", run=taken.run.id, step=taken.action.step)
            return done_despite(context, error)

    def _settle(self, taken: _Taken, context: StepContext, done: Done) -> float | None:
        try:
            return self._insist(lambda: self._commit(taken, done))
        except StaleEpoch:
            raise
        except Exception as error:
            if is_away(error):
                raise
            log.exception("commit failed", run=taken.run.id, step=taken.action.step)
            failed = broken(context, error)
            return self._insist(lambda: self._commit(taken, failed))

    def _commit(self, taken: _Taken, done: Done) -> float | None:
        with transaction(self.engine) as session:
            attempt = attempt_repository.attempt_under(session, taken.run.id, taken.lease.epoch)
            if attempt and attempt.finished_at and attempt.outcome not in LOST_ENDS:
                # Nobody else writes under our epoch: this was done, and the answer was lost.
                return _pause_after(session, taken.run.id, done)
            leases.require(session, taken.lease)
            run_rows.lock_run(session, taken.run.id)
            run = run_rows.run_whole(session, taken.run.id)
            run.lost_workers = 0
            done.apply(session, run)
            _close_attempt(session, attempt, done.outcome, done.detail)
            if done.event:
                _record(session, run, str(taken.action.step), done.event)
            if run.state not in UNFINISHED_RUN_STATES:
                leases.release(session, taken.lease)
                return None
            if run.state == RunState.QUEUED:
                leases.release(session, taken.lease)
                return _seconds_until(session, run)
            if done.outcome not in GOES_ON and taken.action.boot_id is None:
                # Until it is prepared or restored again, maybe for long, it disturbs nobody.
                end_turn(session, taken.lease)
            leases.set_down(session, taken.lease)
            return _later(session, run, done.again_in_s)

    def _note_refusal(self, taken: _Taken) -> None:
        with transaction(self.engine) as session:
            attempt = attempt_repository.attempt_under(session, taken.run.id, taken.lease.epoch)
            _close_attempt(session, attempt, "refused", "the lease was taken over")
            _record(
                session,
                taken.run,
                "fence",
                f"{taken.action.step}: epoch {taken.lease.epoch} came back late and was refused",
            )

    def _insist(self, commit: Callable[[], _T]) -> _T:
        return insist(commit, 10 * self.lease_seconds)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A lease in hand and what is to be done under it."""

    lease: Lease
    action: Action
    run: Run
    since: float
    """A clock() from before the lease was taken."""


@dataclass(frozen=True, slots=True)
class _RunLog:
    engine: Engine
    experiment_id: int
    run_id: int
    held: HeldLease

    def line(self, kind: str, text: str) -> None:
        """Write down at once; what cannot be is in the worker's own log alone."""
        try:
            with transaction(self.engine) as session:
                record_event(
                    session,
                    experiment_id=self.experiment_id,
                    run_id=self.run_id,
                    kind=kind,
                    text=text,
                )
        except Exception as error:
            if not is_away(error):
                log.exception("event not stored", run=self.run_id)
            log.warning("event not stored", run=self.run_id, text=text, error=in_words(error))

    def alive(self) -> bool:
        """See RunLog."""
        return self.held.alive()

    def holds(self) -> bool:
        """See RunLog."""
        return self.held.holds()


def _count_lost_workers(session: Session, run: Run, lease: Lease) -> None:
    """Write down for workers that could not that they began a step; too many end the run."""
    for attempt in attempt_repository.unfinished_attempts(session, run.id, lease.epoch):
        outcomes.worker_lost(session, run, attempt)
        _close_attempt(session, attempt, "lost", "the worker did not come back")
        # Parts of one add up to a little less than they should.
        if run.lost_workers < LOST_WORKERS_LIMIT - 1e-6 or run.ending:
            continue
        run.ending = f"{attempt.step} ended its worker {LOST_WORKERS_LIMIT} times in a row"
        if attempt.step == Step.RESTORE:
            outcomes.restored(run)
            outcomes.set_aside(session, run, f"it could not be restored: {run.ending}")


def _wait_for_host(session: Session, run_id: int, host_id: int) -> float:
    """The host is held: by another run, or by a worker that acts on this one right now."""
    if leases.holding_run(session, host_id) != run_id:
        run_rows.wake_later(session, run_id, HOST_BUSY_RETRY_S)
    return HOST_BUSY_RETRY_S


def _close_attempt(
    session: Session, attempt: StepAttempt | None, outcome: str, detail: str
) -> None:
    if attempt is None:
        return
    attempt.outcome = outcome
    attempt.detail = detail[:4000]
    attempt.finished_at = database_now(session)


def _pause_after(session: Session, run_id: int, done: Done) -> float | None:
    found = run_rows.host_and_state(session, run_id)
    return None if found is None or found[1] in FINAL_STATES else done.again_in_s


def _seconds_until(session: Session, run: Run) -> float:
    """Seconds until the run's own time to wake."""
    if run.wake_at is None:
        return 0.0
    return max((run.wake_at - database_now(session)).total_seconds(), 0.0)


def _later(session: Session, run: Run, seconds: float) -> float:
    run.wake_at = database_now(session) + timedelta(seconds=seconds)
    return seconds


def _record(session: Session, run: Run, kind: str, text: str) -> None:
    record_event(session, experiment_id=run.experiment_id, run_id=run.id, kind=kind, text=text)
