"""Cancelling, postponing and bringing back: what both the worker and the API do to runs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import OPERATOR, Right, roles_with
from mitigauge.core.errors import Conflict, Forbidden, InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.availability import is_reserved, require_time
from mitigauge.measurement.fleet.subject import subject_of
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import (
    OPEN_BOOT_STATES,
    UNFINISHED_RUN_STATES,
    BootState,
    RunState,
)
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import database_now

log = get_logger(__name__)

# Longer than a person's work on a host takes; if it was cut off, runs then go on.
LONGEST_WORK_S = 3600.0
# What a boot of a block that has not begun may be already.
UNTOUCHED = (BootState.PLANNED, BootState.SKIPPED)


def in_order(boots: Iterable[Boot]) -> list[Boot]:
    """Boots in the order in which they are made."""
    return sorted(boots, key=lambda b: (b.block, b.attempt, b.place))


def unjudged_blocks(run: Run) -> int | None:
    """Complete blocks that are to be judged; None while there are none.

    One is due only between two blocks: within one, its arms would not be alike in boots.
    """
    coming = next((boot for boot in in_order(run.boots) if boot.state in OPEN_BOOT_STATES), None)
    if coming is None or coming.state != BootState.PLANNED:
        return None
    done = coming.block - 1
    begun = any(b.block > done and b.state not in UNTOUCHED for b in run.boots)
    return None if done < 1 or begun or run.judged_blocks >= done else done


def cancel(session: Session, experiment_id: int) -> None:
    """Ask an experiment to stop: each run restores its host and ends.

    A run that has no host yet ends at once, whoever holds its host.
    """
    runs = run_rows.locked_runs(session, experiment_id)
    experiment = experiment_rows.locked_experiment(session, experiment_id)
    if experiment.state in FINAL_STATES:
        raise Conflict(
            f"experiment {experiment_id} is {experiment.state}", hint="There is nothing to cancel."
        )
    audit.record(
        session,
        Action.EXPERIMENT_CANCEL,
        Subject(SubjectKind.EXPERIMENT, experiment_id),
        before={"state": experiment.state},
        after={"state": ExperimentState.CANCELLED},
    )
    experiment.state = ExperimentState.CANCELLED
    record_event(
        session,
        experiment_id=experiment_id,
        run_id=None,
        kind="cancelled",
        text="cancel requested; hosts are restored first",
    )
    for run in runs:
        if run.state == RunState.QUEUED:
            outcomes.finish(session, run, state=RunState.CANCELLED, error="cancelled")
        elif run.state in UNFINISHED_RUN_STATES:
            run.wake_at = database_now(session)


def postpone(session: Session, run_id: int, seconds: float, reason: str) -> None:
    """Leave a run alone for so long for which no step could be begun, and say why."""
    run = session.get_one(Run, run_id)
    run_rows.wake_later(session, run_id, seconds)
    record_event(
        session,
        experiment_id=run.experiment_id,
        run_id=run_id,
        kind="failed",
        text=f"no step could be begun, again in {seconds:.0f} s: {reason}",
    )


def keep_out(session: Session, environment: str, name: str, reason: str) -> bool:
    """Let no run begin on the host for as long as a person works on it; False if none did.

    False where it was set aside already, and where it took part in nothing yet, so that nobody
    brings it back but who set it aside. Raises :class:`Conflict` while a run holds the host.
    """
    host = fleet.host_if_known(session, environment, name)
    if host is None:
        return False
    # Locked first: whoever takes a lease at the same time has to wait, or is seen.
    was_aside = fleet.locked_host(session, host.id).set_aside_at is not None
    require_free(session, environment, name)
    if was_aside:
        return False
    log.info("host set aside", host=name, environment=environment, reason=reason)
    absences.set_aside(session, host.id, reason, pause_s=LONGEST_WORK_S)
    audit.record(session, Action.HOST_SET_ASIDE, subject_of(host), after={"reason": reason})
    return True


def require_free(session: Session, environment: str, name: str) -> None:
    """Raise :class:`Conflict` while a run holds the host."""
    host = fleet.host_if_known(session, environment, name)
    holder = host and leases.holding_run(session, host.id)
    if holder:
        run = session.get_one(Run, holder)
        raise Conflict(
            f"{environment}/{name} is held by run {holder} of experiment {run.experiment_id}",
            hint=f"Wait for its end, or `mitigauge experiment cancel {run.experiment_id}`.",
        )


def bring_back(session: Session, environment: str, name: str, *, by: str = OPERATOR) -> bool:
    """Let runs begin again on a host that was set aside; False where it was not.

    Without *by*, whom a rule stands for, what a person set aside stays so. Raises
    :class:`NotFound` for a host that took part in nothing yet.
    """
    host = fleet.host_named(session, environment, name)
    before = {"set_aside_by": host.set_aside_by or "a rule", "reason": host.set_aside_reason}
    if not absences.bring_back(session, host.id, by=by):
        return False
    audit.record(session, Action.HOST_RESUME, subject_of(host), before=before)
    run_rows.wake_runs_of_host(session, host.id)
    return True


def set_aside(session: Session, environment: str, name: str, *, reason: str, by: str) -> int | None:
    """Let no run begin on a host until a person brings it back; the run that still holds it.

    A run that holds the host goes on until its end. Raises :class:`NotFound`,
    :class:`InvalidInput` without a reason, and :class:`Conflict` where a person did so before.
    """
    said = _reason(reason)
    host = fleet.locked_host(session, fleet.host_named(session, environment, name).id)
    if host.set_aside_by:
        raise Conflict(
            f"{environment}/{name} is set aside already, by {host.set_aside_by}: "
            f"{host.set_aside_reason}",
            hint=f"`mitigauge host resume {name} --environment {environment}` takes it back.",
        )
    audit.record(
        session,
        Action.HOST_SET_ASIDE,
        subject_of(host),
        before={"reason": host.set_aside_reason or None},
        after={"reason": said, "set_aside_by": by},
    )
    log.info("host set aside", host=name, environment=environment, by=by, reason=said)
    absences.set_aside_by_hand(session, host, said, by)
    return leases.holding_run(session, host.id)


def reserve(
    session: Session, environment: str, name: str, *, until: datetime, reason: str, by: str
) -> int | None:
    """Keep a host for a person: no run begins on it before *until*; the run that still holds it.

    A run that holds the host goes on until its end. Who reserved it may do so again, with another
    time. Raises :class:`NotFound`, :class:`InvalidInput` for a bad time or reason, and
    :class:`Conflict` where it is somebody else's.
    """
    said = _reason(reason)
    host = fleet.locked_host(session, fleet.host_named(session, environment, name).id)
    now = database_now(session)
    require_time(until, now)
    if is_reserved(host, now) and host.reserved_by != by:
        raise Conflict(
            f"{environment}/{name} is reserved by {host.reserved_by} until "
            f"{host.reserved_until:%Y-%m-%d %H:%M} UTC: {host.reserved_reason}",
            hint=f"Ask {host.reserved_by}, or `mitigauge host release {name}` breaks it.",
        )
    audit.record(
        session,
        Action.HOST_RESERVE,
        subject_of(host),
        before=_reservation(host) if is_reserved(host, now) else None,
        after={"reserved_by": by, "until": until, "reason": said},
    )
    absences.reserve(session, host, until=until, reason=said, by=by)
    return leases.holding_run(session, host.id)


def release(
    session: Session, environment: str, name: str, *, by: str, may_break: bool
) -> str | None:
    """Let runs begin on a reserved host again; whose it was, None where it was nobody's.

    Raises :class:`NotFound`, and :class:`Forbidden` for somebody else's unless *may_break*.
    """
    host = fleet.locked_host(session, fleet.host_named(session, environment, name).id)
    if not is_reserved(host, database_now(session)):
        return None
    owner = host.reserved_by
    if owner != by and not may_break:
        raise Forbidden(
            f"{environment}/{name} is reserved by {owner}, not by {by}",
            hint=f"Ask {owner}, or one of the roles {', '.join(roles_with(Right.SET_ASIDE))}.",
        )
    audit.record(session, Action.HOST_RELEASE, subject_of(host), before=_reservation(host))
    absences.release(session, host, by=by)
    run_rows.wake_runs_of_host(session, host.id)
    return owner


def _reservation(host: Host) -> dict[str, object]:
    """Whose a host is, as entries of the audit log have it."""
    return {
        "reserved_by": host.reserved_by,
        "until": host.reserved_until,
        "reason": host.reserved_reason,
    }


def _reason(text: str) -> str:
    said = " ".join(clean_text(text).split())
    if not said:
        raise InvalidInput("a reason is missing", hint="Say what for: others read it.")
    if len(said) > absences.LONGEST_REASON:
        raise InvalidInput(
            f"the reason has {len(said)} characters",
            hint=f"Use at most {absences.LONGEST_REASON}.",
        )
    return said
