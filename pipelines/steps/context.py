"""What a step gets, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from mitigauge.catalog import Catalog
from mitigauge.database import database_now, transaction
from mitigauge.errors import MitigaugeError, NotReady
from mitigauge.experiments import outcomes, repository
from mitigauge.experiments.states import BootState
from mitigauge.experiments.tables import Boot, Run
from mitigauge.hostile import clean
from pipelines.decide import ATTEMPTS_A_PLACE, Action, Step
from pipelines.host_control import HostControl, LabFault, Unanswered

# Outcomes of steps that came to nothing.
FAULTS = ("lab_fault", "failed")
FAULT_RETRY_S = 5.0
# What is away comes back without our doing: it is asked for again, and never given up.
AWAY_RETRY_S = 10.0
LONGEST_RETRY_S = 300.0
# For so long a host that was up may stay silent before its boot is given up.
SILENCE_LIMIT_S = 60.0
SILENCE_RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class StepContext:
    """A run as it was loaded, the action decided on, and the host to act on."""

    run: Run
    action: Action
    host: HostControl
    engine: Engine
    catalog: Catalog
    stopping: Callable[[], bool] = lambda: False
    """Whether the worker is about to stop, so that nothing should be waited for."""

    @property
    def boot(self) -> Boot:
        """The boot the action is about."""
        return boot_of(self.run, self.action.boot_id)

    def seconds_since(self, moment: datetime | None) -> float:
        """Seconds passed by the database's clock; 0 for a moment that was not noted."""
        if moment is None:
            return 0.0
        with transaction(self.engine) as session:
            return (database_now(session) - moment).total_seconds()

    def wanted(self) -> bool:
        """Whether a step that waits should go on waiting."""
        if self.stopping():
            return False
        try:
            with transaction(self.engine) as session:
                return not repository.is_cancelled(session, self.run.experiment_id)
        except OperationalError:
            return True  # what runs on the host goes on while the database is away


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did: ``apply`` writes it down within the fenced transaction."""

    apply: Callable[[Session, Run], None]
    outcome: str = "done"
    detail: str = ""
    event: str = ""
    again_in_s: float = 0.0


def boot_of(run: Run, boot_id: int | None) -> Boot:
    """The run's boot of that id."""
    return next(boot for boot in run.boots if boot.id == boot_id)


def faulted(context: StepContext, fault: LabFault) -> Done:
    """The outcome of a step during which the lab failed."""
    tail = _serial_tail(context)

    def apply(session: Session, run: Run) -> None:
        boot_id = context.action.boot_id
        outcomes.faulted(
            session,
            run,
            boot_of(run, boot_id) if boot_id else None,
            fault.message,
            serial_tail=tail,
            attempts=ATTEMPTS_A_PLACE,
        )

    return Done(
        apply,
        outcome="lab_fault",
        detail=fault.message,
        event=f"lab fault: {fault.message}",
        again_in_s=FAULT_RETRY_S,
    )


def unanswered(context: StepContext, fault: Unanswered) -> Done:
    """The outcome of a step whose host did not answer.

    A boot that is up is not given up for it at once: a job that has run for minutes may have
    ended, and a host under load refuses connections for seconds. The step is done again until
    nothing was heard for SILENCE_LIMIT_S.
    """
    boot_id = context.action.boot_id
    if boot_id is None or context.boot.state == BootState.PLANNED:
        return faulted(context, fault)
    with transaction(context.engine) as session:
        since = repository.unanswered_since(session, boot_id)
    if context.seconds_since(since) > SILENCE_LIMIT_S:
        return faulted(context, fault)
    said = _in_words(fault)
    return Done(
        lambda _session, _run: None,
        outcome="unanswered",
        detail=said,
        event=f"{context.action.step}: no answer, asked again in {SILENCE_RETRY_S:.0f} s: {said}",
        again_in_s=SILENCE_RETRY_S,
    )


def broken(context: StepContext, error: Exception) -> Done:
    """The outcome of a step that failed through neither the lab nor the arm.

    A blob store that does not answer is waited for. Anything else, a fault of our own say,
    is tried again at growing intervals, until the run gives up with the error's text.
    """
    away = isinstance(error, NotReady)
    said = _in_words(error)
    again = AWAY_RETRY_S if away else retry_after_s(context.run.consecutive_faults)

    def apply(_: Session, run: Run) -> None:
        if away:
            return
        outcomes.broke(run)
        if context.action.step is Step.RESTORE:
            outcomes.restored(run)

    return Done(
        apply,
        outcome="failed",
        detail=said,
        event=f"{context.action.step} failed, again in {again:.0f} s: {said}",
        again_in_s=again,
    )


def retry_after_s(faults: int) -> float:
    """Seconds until a step is tried again that has failed *faults* times before in a row."""
    # Restoring a host is never given up, so the power must not grow without end.
    return min(LONGEST_RETRY_S, FAULT_RETRY_S * 2.0 ** min(faults, 10))


def _in_words(error: Exception) -> str:
    """One line of what went wrong, as PostgreSQL can store it."""
    if isinstance(error, MitigaugeError):
        text = str(error)
    else:
        # What the database refused, without the statement and all its values.
        cause = getattr(error, "orig", None) or error
        text = f"{type(cause).__name__}: {cause}"
    return " ".join(str(clean(text)).split())[:500]


def _serial_tail(context: StepContext) -> str:
    since = context.boot.serial_offset if context.action.boot_id else None
    try:
        return context.host.serial_tail(since)
    except LabFault as fault:
        return f"(no serial log: {fault.message})"
