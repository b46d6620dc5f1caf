"""What a step gets, and what it gives back."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.errors import MitigaugeError, NotReady
from mitigauge.core.hostile_text import clean
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import attempt_repository, outcomes
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import DISK_FULL, database_now, is_away, transaction
from pipelines.cleaned_host import CleanedHost
from pipelines.decision import ATTEMPTS_A_PLACE, SILENT_PREPARATIONS_LIMIT, Action, Step
from pipelines.host_control import HostControl, LabFault, LeaseGone, Unanswered
from pipelines.host_watch import HostWatch, NoWatch

log = get_logger(__name__)

FAULT_RETRY_S = 5.0
INTERRUPTED_RETRY_S = 1.0
# What is away comes back without our doing: it is asked for again, and never given up.
AWAY_RETRY_S = 10.0
LONGEST_RETRY_S = 300.0
# For so long a host that was up may stay silent before its boot is given up.
SILENCE_LIMIT_S = 60.0
SILENCE_RETRY_S = 5.0


@dataclass(frozen=True)
class StepContext:
    """A run as it was loaded, the action decided on, and the way to the host."""

    run: Run
    action: Action
    open_host: Callable[[], HostControl]
    engine: Engine
    catalog: Catalog
    stopping: Callable[[], bool] = lambda: False
    """Whether the worker is about to stop, so that nothing should be waited for."""
    watch: HostWatch = field(default_factory=NoWatch)
    """What waits for the host beside the steps."""

    @property
    def host(self) -> HostControl:
        """The host to act on, opened when a step first needs it.

        Raises :class:`LabFault` where it cannot be: it left the inventory, say.
        """
        # Not a cached_property: until Python 3.12 its lock is one for all contexts, so that a
        # host that is slow to open would hold up the steps of all others.
        if "opened_host" not in self.__dict__:
            self.__dict__["opened_host"] = self._opened_host()
        opened: HostControl = self.__dict__["opened_host"]
        return opened

    def _opened_host(self) -> HostControl:
        try:
            return CleanedHost(self.open_host())
        except LabFault:
            raise
        except Exception as error:
            raise HostMissing(
                f"{self.run.host.name} cannot be opened: {in_one_line(error)}",
                hint="See the environment's inventory.",
            ) from error

    @property
    def place(self) -> tuple[str, str]:
        """Environment and name of the host."""
        return self.run.experiment.environment, self.run.host.name

    @property
    def boot(self) -> Boot:
        """The boot the action is about."""
        return boot_of(self.run, self.action.boot_id)

    def open_cases(self) -> list[Case]:
        """The cases of which nothing is stored yet for the boot."""
        with transaction(self.engine) as session:
            answered = result_rows.digests_of_boot(session, self.boot.id)
        return [case for case in self.run.comparison.cases if case.id not in answered]

    def seconds_since(self, moment: datetime | None) -> float:
        """Seconds passed by the database's clock; 0 for a moment that was not noted."""
        if moment is None:
            return 0.0
        with transaction(self.engine) as session:
            return (database_now(session) - moment).total_seconds()

    def goes_on(self) -> bool:
        """Whether a step that waits should go on waiting."""
        if self.stopping():
            return False
        try:
            with transaction(self.engine) as session:
                return not experiment_rows.is_cancelled(session, self.run.experiment_id)
        except Exception as error:
            if not is_away(error):
                raise
            return True  # what runs on the host goes on while the database is away


class HostMissing(LabFault):
    """A host cannot be opened: it is not in the inventory, or that cannot be read."""


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


def done_despite(context: StepContext, error: Exception) -> Done:
    """The outcome of a step that raised *error*. Raises nothing itself."""
    try:
        return _done_despite(context, error)
    except Exception as second:
        log.exception("no outcome", run=context.run.id, step=context.action.step)
        # The database being away, most likely: the step is taken again, whatever it was.
        return interrupted(f"{in_one_line(error)}; then: {in_one_line(second)}")


def _done_despite(context: StepContext, error: Exception) -> Done:
    if isinstance(error, LeaseGone) or is_away(error):
        return interrupted(in_one_line(error))
    if isinstance(error, Unanswered):
        return unanswered(context, error)
    if isinstance(error, LabFault):
        return faulted(context, error)
    return broken(context, error)


def interrupted(reason: str) -> Done:
    """The outcome of a step that was stopped before its end and says nothing of the host."""
    return Done(
        lambda _session, _run: None,
        outcome="interrupted",
        detail=reason,
        event=f"interrupted, the step is taken again: {reason}",
        again_in_s=INTERRUPTED_RETRY_S,
    )


def faulted(context: StepContext, fault: LabFault) -> Done:
    """The outcome of a step during which the lab failed."""
    if context.action.step is Step.PREPARE:
        return _unprepared(fault)
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


def _unprepared(fault: LabFault) -> Done:
    """The outcome of preparing a host that did not play along.

    One that does not answer, or is not there, is set aside after some tries, and its runs wait.
    So is one that answers and that run after run cannot prepare; a single run that cannot has
    asked for something that the host does not have, and gives up by itself.
    """
    silent = isinstance(fault, Unanswered | HostMissing)

    def apply(session: Session, run: Run) -> None:
        outcomes.broke(run)
        tried = run.consecutive_faults >= SILENT_PREPARATIONS_LIMIT
        aside = run.host.set_aside_at is not None
        if silent and (tried or aside):
            # Counted no further: however long it takes, the run waits for its host.
            run.consecutive_faults = SILENT_PREPARATIONS_LIMIT - 1
            outcomes.put_back(session, run, fault.message)
        elif not silent and (aside or run.host.failed_preparations >= outcomes.FAILED_PREPARATIONS):
            outcomes.put_back(session, run, fault.message)

    return Done(
        apply,
        outcome="unanswered" if silent else "lab_fault",
        detail=fault.message,
        event=f"the host cannot be prepared: {fault.message}",
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
        since = attempt_repository.unanswered_since(session, boot_id)
    if context.seconds_since(since) > SILENCE_LIMIT_S:
        return faulted(context, fault)
    said = in_one_line(fault)
    return Done(
        lambda _session, _run: None,
        outcome="unanswered",
        detail=said,
        event=f"{context.action.step}: no answer, asked again in {SILENCE_RETRY_S:.0f} s: {said}",
        again_in_s=SILENCE_RETRY_S,
    )


# What no host and no file of anybody's should be able to bring about.
OWN_FAULTS = (LookupError, TypeError, AttributeError, ArithmeticError, AssertionError)


def broken(context: StepContext, error: Exception) -> Done:
    """The outcome of a step that failed through neither the lab nor the arm.

    A blob store that does not answer and a full disk of ours are waited for. Anything else, a
    fault of our own say, is tried again at growing intervals, until the run gives up with the
    error's text.
    """
    waits = isinstance(error, NotReady) or is_disk_full(error)
    said = in_one_line(error)
    if isinstance(error, OWN_FAULTS):
        said = f"a fault of this service's own, no word about host or arm; its log has it: {said}"
    if is_disk_full(error):
        said = f"no space left on the control side, which is no fault of the host: {said}"
    again = AWAY_RETRY_S if waits else retry_after_s(context.run.consecutive_faults)

    def apply(session: Session, run: Run) -> None:
        if waits:
            return
        outcomes.broke(run)
        if context.action.step is Step.RESTORE:
            outcomes.restored(run)
            outcomes.set_aside(session, run, f"it could not be restored: {said}")

    return Done(
        apply,
        outcome="waits" if waits else "failed",
        detail=said,
        event=f"{context.action.step} failed, again in {again:.0f} s: {said}",
        again_in_s=again,
    )


def is_disk_full(error: BaseException) -> bool:
    """Whether the control side, or its database, has no room left."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(getattr(error, "orig", None), "sqlstate", None) == DISK_FULL


def retry_after_s(faults: int) -> float:
    """Seconds until a step is tried again that has failed *faults* times before in a row."""
    # Restoring a host is never given up, so the power must not grow without end.
    return min(LONGEST_RETRY_S, FAULT_RETRY_S * 2.0 ** min(faults, 10))


def in_one_line(error: BaseException) -> str:
    """One line of what went wrong, as PostgreSQL can store it."""
    if isinstance(error, MitigaugeError):
        text = str(error)
    else:
        # What the database refused, without the statement and all its values.
        cause = getattr(error, "orig", None) or error
        text = f"{type(cause).__name__}: {cause}"
    return " ".join(str(clean(text)).split())[:500]


def _serial_tail(context: StepContext) -> str:
    """The console's part of a fault's story; a fault of the console's own is told there."""
    since = context.boot.serial_offset if context.action.boot_id else None
    try:
        return context.host.serial_tail(since)
    except Exception as fault:
        log.exception("no serial log", run=context.run.id)
        return f"(no serial log: {in_one_line(fault)})"
