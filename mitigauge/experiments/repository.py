"""SQL of experiments, runs, boots and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import takewhile
from uuid import UUID

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from mitigauge.database import database_now
from mitigauge.errors import NotFound
from mitigauge.experiments.states import FINAL_STATES
from mitigauge.experiments.tables import (
    AaOutcome,
    Boot,
    Case,
    Comparison,
    Event,
    Experiment,
    Iteration,
    Result,
    Run,
    StepAttempt,
)
from mitigauge.fleet.tables import Host, HostLease

UNFINISHED = ("queued", "running")
FAULTS = ("lab_fault", "failed")
# Ends of attempts that others wrote down for a worker that did not.
LOST_ENDS = ("lost", "refused")


def experiment(session: Session, experiment_id: int) -> Experiment:
    """One experiment with comparisons, arms, cases and runs. Raises :class:`NotFound`."""
    found = session.scalars(
        select(Experiment)
        .where(Experiment.id == experiment_id)
        .options(
            selectinload(Experiment.comparisons).selectinload(Comparison.arms),
            selectinload(Experiment.comparisons).selectinload(Comparison.cases),
            selectinload(Experiment.runs).joinedload(Run.host),
            selectinload(Experiment.runs).joinedload(Run.comparison),
        )
    ).one_or_none()
    if found is None:
        raise _no_experiment(experiment_id)
    return found


def _no_experiment(experiment_id: int) -> NotFound:
    return NotFound(
        f"there is no experiment {experiment_id}", hint="`mitigauge experiment list` shows all."
    )


def is_cancelled(session: Session, experiment_id: int) -> bool:
    """Whether it was asked to stop."""
    state = session.scalars(select(Experiment.state).where(Experiment.id == experiment_id))
    return state.one() == "cancelled"


def experiments(session: Session, limit: int = 200) -> list[Experiment]:
    """Newest first, with their runs and hosts."""
    return list(
        session.scalars(
            select(Experiment)
            .order_by(Experiment.id.desc())
            .limit(limit)
            .options(selectinload(Experiment.runs).joinedload(Run.host))
        )
    )


def experiments_on_host(session: Session, host_id: int) -> list[Experiment]:
    """Experiments that have a run on the host, newest first."""
    return list(
        session.scalars(
            select(Experiment)
            .where(Experiment.runs.any(Run.host_id == host_id))
            .order_by(Experiment.id.desc())
            .options(selectinload(Experiment.runs).joinedload(Run.host))
        )
    )


def run_whole(session: Session, run_id: int) -> Run:
    """One run with all it takes to decide what comes next. Raises :class:`NotFound`."""
    found = session.scalars(
        select(Run)
        .where(Run.id == run_id)
        .options(
            joinedload(Run.host),
            joinedload(Run.experiment),
            joinedload(Run.comparison).selectinload(Comparison.arms),
            joinedload(Run.comparison).selectinload(Comparison.cases),
            selectinload(Run.boots).joinedload(Boot.arm),
            selectinload(Run.boots).selectinload(Boot.results),
        )
    ).one_or_none()
    if found is None:
        raise NotFound(f"there is no run {run_id}", hint="It may have been deleted.")
    return found


def host_and_state(session: Session, run_id: int) -> tuple[int, str] | None:
    """(host id, state) of a run; None where there is no such run."""
    found = session.execute(select(Run.host_id, Run.state).where(Run.id == run_id)).one_or_none()
    return None if found is None else (found[0], found[1])


def wake_later(session: Session, run_id: int, seconds: float) -> None:
    """Let a run that waits be woken in so many seconds, by the database's clock."""
    at = database_now(session) + timedelta(seconds=seconds)
    session.execute(
        update(Run).where(Run.id == run_id, Run.state.in_(UNFINISHED)).values(wake_at=at)
    )


def wait_for_probe(session: Session, run_id: int) -> float | None:
    """Let a queued run whose host is set aside wait for the next probe.

    Returns the seconds until then; None where it need not wait.
    """
    probe_at = session.scalar(
        select(Host.probe_at)
        .join(Run, Run.host_id == Host.id)
        .where(Run.id == run_id, Run.state == "queued", Host.probe_at.is_not(None))
    )
    if probe_at is None:
        return None
    seconds = (probe_at - database_now(session)).total_seconds()
    if seconds <= 0:
        return None
    wake_later(session, run_id, seconds)
    return seconds


def wake_runs_of_host(session: Session, host_id: int) -> None:
    """Wake all runs that wait for a host, now."""
    session.execute(
        update(Run)
        .where(Run.host_id == host_id, Run.state == "queued")
        .values(wake_at=database_now(session))
    )


def locked_runs(session: Session, experiment_id: int) -> list[Run]:
    """The experiment's runs with their boots, locked.

    Whoever locks runs and their experiment takes the runs first, in order, as a step does.
    """
    return list(
        session.scalars(
            select(Run)
            .where(Run.experiment_id == experiment_id)
            .order_by(Run.id)
            .options(selectinload(Run.boots))
            .with_for_update()
        )
    )


def locked_experiment(session: Session, experiment_id: int) -> Experiment:
    """The experiment, locked. Raises :class:`NotFound`."""
    found = session.get(Experiment, experiment_id, with_for_update=True, populate_existing=True)
    if found is None:
        raise _no_experiment(experiment_id)
    return found


def lock_run(session: Session, run_id: int) -> None:
    """Keep others from changing the run until the transaction ends."""
    session.execute(select(Run.id).where(Run.id == run_id).with_for_update())


def boots_of(session: Session, run_ids: Iterable[int]) -> list[Boot]:
    """All boots of the runs in plan order, with arm, fingerprint and results."""
    return list(
        session.scalars(
            select(Boot)
            .where(Boot.run_id.in_(list(run_ids)))
            .order_by(Boot.run_id, Boot.block, Boot.place, Boot.attempt)
            .options(joinedload(Boot.arm), joinedload(Boot.fingerprint), selectinload(Boot.results))
        )
    )


def boot(session: Session, boot_id: int) -> Boot:
    """One boot with everything it can be traced to. Raises :class:`NotFound`."""
    found = session.scalars(
        select(Boot)
        .where(Boot.id == boot_id)
        .options(
            joinedload(Boot.arm),
            joinedload(Boot.fingerprint),
            joinedload(Boot.run).joinedload(Run.host),
            joinedload(Boot.run).joinedload(Run.experiment),
            joinedload(Boot.run).joinedload(Run.comparison).selectinload(Comparison.cases),
            selectinload(Boot.results).selectinload(Result.iterations),
        )
    ).one_or_none()
    if found is None:
        raise NotFound(
            f"there is no boot {boot_id}", hint="A case's page lists the boots it counts."
        )
    return found


def case(session: Session, experiment_id: int, case_id: int) -> tuple[Case, Comparison]:
    """A case of the experiment and its comparison. Raises :class:`NotFound`."""
    found = session.execute(
        select(Case, Comparison)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .where(Case.id == case_id, Comparison.experiment_id == experiment_id)
    ).one_or_none()
    if found is None:
        raise NotFound(
            f"experiment {experiment_id} has no case {case_id}",
            hint="Its matrix lists the cases.",
        )
    return found[0], found[1]


def values_of(
    session: Session, run_ids: Iterable[int], case_id: int | None = None
) -> list[tuple[int, int, str, str, float, bool | None]]:
    """(boot, case, metric, phase, value, slowed) of every iteration, each phase's in order.

    *slowed*: whether the processor was beyond the workload's limit beside it; ``None``
    where nobody looked.
    """
    statement = (
        select(
            Result.boot_id,
            Result.case_id,
            Iteration.metric,
            Iteration.phase,
            Iteration.value,
            Iteration.slowdown > Result.slowdown_limit,
        )
        .join(Result, Iteration.result_id == Result.id)
        .join(Boot, Result.boot_id == Boot.id)
        .where(Boot.run_id.in_(list(run_ids)))
        .order_by(
            Result.boot_id, Result.case_id, Iteration.metric, Iteration.phase, Iteration.position
        )
    )
    if case_id is not None:
        statement = statement.where(Result.case_id == case_id)
    return [
        (boot_id, case, metric, phase, value, slowed)
        for boot_id, case, metric, phase, value, slowed in session.execute(statement)
    ]


def result_of(session: Session, boot_id: int, case_id: int) -> Result | None:
    """What is stored for the case of the boot, if anything."""
    return session.scalars(
        select(Result).where(Result.boot_id == boot_id, Result.case_id == case_id)
    ).one_or_none()


def steps_of(session: Session, boot_id: int) -> list[StepAttempt]:
    """Every attempt at a step of the boot, in order."""
    return list(
        session.scalars(
            select(StepAttempt).where(StepAttempt.boot_id == boot_id).order_by(StepAttempt.id)
        )
    )


def attempt_under(session: Session, run_id: int, epoch: int) -> StepAttempt | None:
    """The attempt that was begun under the epoch, if one was."""
    return session.scalars(
        select(StepAttempt).where(StepAttempt.run_id == run_id, StepAttempt.epoch == epoch)
    ).one_or_none()


def lost_with(session: Session, worker: UUID | None) -> int:
    """How many attempts a worker left without an end when it was lost; at least 1."""
    if worker is None:
        return 1
    open_ends = or_(StepAttempt.finished_at.is_(None), StepAttempt.outcome.in_(LOST_ENDS))
    left = select(func.count()).where(StepAttempt.worker == worker, open_ends)
    return max(session.scalar(left) or 0, 1)


def has_begun(session: Session, run_id: int, step: str) -> bool:
    """Whether the run ever began the step, whatever came of it."""
    begun = select(StepAttempt.id).where(StepAttempt.run_id == run_id, StepAttempt.step == step)
    return bool(session.scalar(select(begun.exists())))


def unfinished_attempts(session: Session, run_id: int, before_epoch: int) -> list[StepAttempt]:
    """Attempts under earlier epochs whose end nobody wrote down, in order."""
    return list(
        session.scalars(
            select(StepAttempt)
            .where(
                StepAttempt.run_id == run_id,
                StepAttempt.epoch < before_epoch,
                StepAttempt.finished_at.is_(None),
            )
            .order_by(StepAttempt.id)
        )
    )


def lost_during(session: Session, boot_id: int, step: str) -> bool:
    """Whether a worker was lost while it took that step of the boot, which it may have done."""
    steps = steps_of(session, boot_id)
    return any(attempt.step == step and attempt.outcome in LOST_ENDS for attempt in steps)


def unanswered_since(session: Session, boot_id: int) -> datetime | None:
    """When the first of the boot's latest steps began that all heard nothing of the host.

    None if the latest step that ended was answered; the step in hand is not looked at.
    """
    ended = [step for step in steps_of(session, boot_id) if step.finished_at is not None]
    silent = list(takewhile(lambda step: step.outcome == "unanswered", reversed(ended)))
    return silent[-1].started_at if silent else None


def last_fault(session: Session, run_id: int) -> str:
    """Why a step of the run failed most recently; empty if none did."""
    faults = StepAttempt.outcome.in_(FAULTS)
    return (
        session.scalar(
            select(StepAttempt.detail)
            .where(StepAttempt.run_id == run_id, faults)
            .order_by(StepAttempt.id.desc())
            .limit(1)
        )
        or ""
    )


def events_after(
    session: Session, experiment_id: int, after: int = 0, limit: int = 500
) -> list[Event]:
    """Events with an id above *after*, oldest first."""
    return list(
        session.scalars(
            select(Event)
            .where(Event.experiment_id == experiment_id, Event.id > after)
            .order_by(Event.id)
            .limit(limit)
        )
    )


def last_event_id(session: Session, experiment_id: int) -> int:
    """The newest event's id; 0 where there is none."""
    newest = session.scalar(select(func.max(Event.id)).where(Event.experiment_id == experiment_id))
    return newest or 0


def runs_to_wake(session: Session, *, grace_s: float) -> list[int]:
    """Runs whose time has come, on which nobody acts and whose host no other run holds.

    ``grace_s`` leaves a run alone that was only just woken. When a host is given back, all
    runs that wait for it are found, and one of them gets it.
    """
    now = database_now(session)
    acting = (
        select(HostLease.id)
        .where(
            HostLease.run_id == Run.id,
            HostLease.released_at.is_(None),
            HostLease.holder.is_not(None),
            HostLease.expires_at > now,
        )
        .exists()
    )
    elsewhere = (
        select(HostLease.id)
        .where(
            HostLease.host_id == Run.host_id,
            HostLease.run_id != Run.id,
            HostLease.released_at.is_(None),
        )
        .exists()
    )
    return list(
        session.scalars(
            select(Run.id)
            .where(
                Run.state.in_(UNFINISHED),
                or_(Run.wake_at.is_(None), Run.wake_at <= now - timedelta(seconds=grace_s)),
                ~acting,
                ~elsewhere,
            )
            .order_by(Run.id)
        )
    )


def free_final_runs(session: Session) -> list[int]:
    """Give back hosts that runs hold which are over; returns the hosts' ids.

    No step leaves such a lease behind. One that is there all the same would keep the host from
    everybody for ever.
    """
    over = select(Run.id).where(Run.state.in_(FINAL_STATES))
    freed = session.scalars(
        update(HostLease)
        .where(HostLease.released_at.is_(None), HostLease.run_id.in_(over))
        .values(released_at=database_now(session), holder=None)
        .returning(HostLease.host_id)
    )
    return list(freed)


def unconcluded(session: Session) -> list[int]:
    """Experiments that are over and have no conclusion yet."""
    over = Experiment.finished_at.is_not(None) & Experiment.concluded_at.is_(None)
    return list(session.scalars(select(Experiment.id).where(over).order_by(Experiment.id)))


def boot_counts_by_host(session: Session) -> dict[int, dict[str, int]]:
    """host id → boot state → number of boots."""
    rows = session.execute(
        select(Run.host_id, Boot.state, func.count())
        .join(Run, Boot.run_id == Run.id)
        .group_by(Run.host_id, Boot.state)
    )
    counts: dict[int, dict[str, int]] = {}
    for host_id, state, number in rows:
        counts.setdefault(host_id, {})[state] = number
    return counts


def boot_counts_by_fingerprint(session: Session, host_id: int) -> dict[int, int]:
    """fingerprint id → boots that had it."""
    rows = session.execute(
        select(Boot.fingerprint_id, func.count())
        .join(Run, Boot.run_id == Run.id)
        .where(Run.host_id == host_id, Boot.fingerprint_id.is_not(None))
        .group_by(Boot.fingerprint_id)
    )
    return {fingerprint: number for fingerprint, number in rows if fingerprint}


def aa_counts(session: Session, host_id: int) -> list[tuple[str, str, dict[str, int]]]:
    """(workload, metric, verdict → how often) of doubled arms on the host."""
    rows = session.execute(
        select(Case.workload, AaOutcome.metric, AaOutcome.verdict, func.count())
        .join(Case, AaOutcome.case_id == Case.id)
        .join(Run, AaOutcome.run_id == Run.id)
        .where(Run.host_id == host_id)
        .group_by(Case.workload, AaOutcome.metric, AaOutcome.verdict)
        .order_by(Case.workload, AaOutcome.metric)
    )
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for workload, metric, verdict, number in rows:
        counts.setdefault((workload, metric), {})[verdict] = number
    return [(workload, metric, of) for (workload, metric), of in counts.items()]


def experiment_names_by_run(session: Session, run_of: Mapping[int, int]) -> dict[int, str]:
    """Turn key → run id into key → the name of the run's experiment."""
    rows = session.execute(
        select(Run.id, Experiment.name)
        .join(Experiment, Run.experiment_id == Experiment.id)
        .where(Run.id.in_(run_of.values()))
    )
    names = {row[0]: row[1] for row in rows}
    return {key: names[run_id] for key, run_id in run_of.items() if run_id in names}


def measuring_seconds(session: Session, run_id: int) -> dict[tuple[int, int], float]:
    """Seconds that each case took within each boot of a run, by (boot, case)."""
    rows = session.execute(
        select(Result.boot_id, Result.case_id, Result.started_at, Result.finished_at)
        .join(Boot, Result.boot_id == Boot.id)
        .where(Boot.run_id == run_id, Result.state == "measured")
    )
    return {
        (boot_id, case_id): (finished - started).total_seconds()
        for boot_id, case_id, started, finished in rows
        if started and finished
    }
