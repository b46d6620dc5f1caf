"""SQL of runs, boots and the hosts that runs hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, or_, select, text, tuple_, update
from sqlalchemy.orm import Session, joinedload, selectinload

from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments.repository import no_experiment
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Comparison, Experiment
from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import ending
from mitigauge.measurement.runs.kernel_build import KernelBuild
from mitigauge.measurement.runs.states import UNFINISHED_RUN_STATES, BootState, RunState
from mitigauge.measurement.runs.tables import Boot, HostLease, Run
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.waits import LONGEST_LEASE, LONGEST_WAIT, column_has_come


class BootLine(NamedTuple):
    """One boot in short, without what it was proven by."""

    id: int
    run_id: int
    arm_id: int
    block: int
    place: int
    attempt: int
    state: str
    reason: str
    started_at: datetime | None
    finished_at: datetime | None
    job_lasted_s: float | None


# A run whose host a person set aside looks again after so long.
LOOK_AGAIN_S = 600.0


def experiments_on_host(session: Session, host_id: int, *, limit: int) -> list[Experiment]:
    """At most so many experiments that have a run on the host, newest first."""
    own = select(Run.experiment_id).where(Run.host_id == host_id)
    return list(
        session.scalars(
            select(Experiment)
            .where(Experiment.id.in_(own))
            .order_by(Experiment.id.desc())
            .limit(limit)
        )
    )


def days_on_host(session: Session, host_id: int) -> dict[int, date]:
    """The day on which each of the host's concluded runs was, by its id; in UTC."""
    rows = session.execute(
        select(Run.id, func.date(func.timezone("UTC", Run.concluded_at)).label("day")).where(
            Run.host_id == host_id, Run.concluded_at.is_not(None)
        )
    )
    return {row.id: row.day for row in rows}


def runs_on_host(session: Session, host_id: int) -> list[int]:
    """Ids of all runs of the host."""
    return list(session.scalars(select(Run.id).where(Run.host_id == host_id)))


def newest_runs_on_host(session: Session, host_id: int, *, limit: int) -> list[int]:
    """Ids of the host's newest concluded runs."""
    return list(
        session.scalars(
            select(Run.id)
            .where(Run.host_id == host_id, Run.concluded_at.is_not(None))
            .order_by(Run.id.desc())
            .limit(limit)
        )
    )


def unfinished_runs(session: Session) -> list[Run]:
    """Runs that are not over, in the order in which they get their hosts."""
    return list(
        session.scalars(
            select(Run)
            .where(Run.state.in_(UNFINISHED_RUN_STATES))
            .order_by(Run.id)
            .options(joinedload(Run.host), joinedload(Run.experiment), joinedload(Run.comparison))
        )
    )


def states_of_runs(session: Session, experiment_id: int) -> set[RunState]:
    """The states of the experiment's runs."""
    return set(session.scalars(select(Run.state).where(Run.experiment_id == experiment_id)))


def runs_of(session: Session, *experiment_ids: int) -> list[Run]:
    """The experiments' runs in order, with host and comparison."""
    return list(
        session.scalars(
            select(Run)
            .where(Run.experiment_id.in_(experiment_ids))
            .order_by(Run.id)
            .options(joinedload(Run.host), joinedload(Run.comparison))
        )
    )


def is_judged(session: Session, experiment_id: int) -> bool:
    """Whether an experiment is over and, where anything ran, its verdicts are written."""
    experiment = session.get_one(Experiment, experiment_id, populate_existing=True)
    runs = session.scalars(select(Run).where(Run.experiment_id == experiment_id))
    return ending.is_judged(experiment, list(runs))


def verdict_changes(session: Session, experiment_id: int) -> int:
    """How often verdicts of the experiment's runs have changed. Raises :class:`NotFound`."""
    changes = session.scalar(
        select(func.sum(Run.verdict_changes)).where(Run.experiment_id == experiment_id)
    )
    if changes is None:
        raise no_experiment(experiment_id)
    return int(changes)


def stamp(session: Session, experiment_id: int) -> str:
    """Another text after every change to the experiment, its runs, their hosts and boots.

    PostgreSQL's number of the transaction that wrote each row last. Whatever a boot gives is
    stored together with a change of its run, and a verdict is counted in it. Raises
    :class:`NotFound`.
    """
    rows = text("""
        select md5(string_agg(row, ',' order by row)) from (
            select 'e' || experiment.xmin as row from experiment where id = :experiment
            union all
            select 'r' || run.id || ':' || run.xmin || ':' || host.xmin
            from run join host on host.id = run.host_id where run.experiment_id = :experiment
            union all
            select 'b' || boot.id || ':' || boot.xmin
            from boot join run on run.id = boot.run_id where run.experiment_id = :experiment
        ) as rows
    """)
    found: str | None = session.scalar(rows, {"experiment": experiment_id})
    if found is None:
        raise no_experiment(experiment_id)
    return found


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
        update(Run).where(Run.id == run_id, Run.state.in_(UNFINISHED_RUN_STATES)).values(wake_at=at)
    )


def wait_for_host(session: Session, run_id: int) -> float | None:
    """Let a queued run wait whose host is set aside or reserved, a day at most.

    Returns the seconds until it is woken; None where it need not wait. Whoever gives the host back
    wakes it earlier.
    """
    host = session.scalars(
        select(Host)
        .join(Run, Run.host_id == Host.id)
        .where(Run.id == run_id, Run.state == RunState.QUEUED)
    ).one_or_none()
    now = database_now(session)
    kept = None if host is None else kept_from(host, now)
    if kept is None:
        return None
    until_s = LOOK_AGAIN_S if kept.until is None else (kept.until - now).total_seconds()
    seconds = min(until_s, LONGEST_WAIT.total_seconds())
    wake_later(session, run_id, seconds)
    return seconds


def wake_runs_of_host(session: Session, host_id: int) -> None:
    """Wake all runs that wait for a host, now."""
    session.execute(
        update(Run)
        .where(Run.host_id == host_id, Run.state == RunState.QUEUED)
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
            .with_for_update(key_share=True)
        )
    )


def run_line(session: Session, run_id: int) -> Run:
    """One run by itself. Raises :class:`NotFound`."""
    found = session.get(Run, run_id)
    if found is None:
        raise NotFound(f"there is no run {run_id}", hint="It may have been deleted.")
    return found


def kernel_builds(session: Session, experiment_id: int) -> dict[str, KernelBuild]:
    """Release → the build that boots of the experiment had to show."""
    found: dict[str, KernelBuild] = {}
    for builds in session.scalars(select(Run.kernels).where(Run.experiment_id == experiment_id)):
        found.update(builds)
    return found


def unconcluded(session: Session) -> list[int]:
    """Runs that are over and have no last verdicts yet."""
    return list(
        session.scalars(
            select(Run.id)
            .where(Run.state.in_(FINAL_STATES), Run.concluded_at.is_(None))
            .order_by(Run.id)
        )
    )


def without_noise(session: Session) -> list[int]:
    """Runs that are concluded and whose cases' noise was not worked out yet."""
    return list(
        session.scalars(
            select(Run.id)
            .where(Run.concluded_at.is_not(None), Run.noise_at.is_(None))
            .order_by(Run.id)
        )
    )


def unconcluded_experiments(session: Session) -> list[int]:
    """Experiments that are over, all their runs concluded, and that have no headline yet."""
    waits = select(Run.id).where(Run.experiment_id == Experiment.id, Run.concluded_at.is_(None))
    return list(
        session.scalars(
            select(Experiment.id)
            .where(
                Experiment.finished_at.is_not(None),
                Experiment.concluded_at.is_(None),
                ~waits.exists(),
            )
            .order_by(Experiment.id)
        )
    )


def errors_of(session: Session, experiment_id: int, *, limit: int) -> list[str]:
    """What some of the experiment's runs failed of."""
    wanted = select(Run.error).where(Run.experiment_id == experiment_id, Run.error != "")
    return list(session.scalars(wanted.limit(limit)))


def lock_run(session: Session, run_id: int) -> None:
    """Keep others from changing the run until the transaction ends."""
    session.execute(select(Run.id).where(Run.id == run_id).with_for_update(key_share=True))


def boot_lines(session: Session, run_ids: Iterable[int]) -> list[BootLine]:
    """All boots of the runs in plan order, in short."""
    rows = session.execute(
        select(*(getattr(Boot, name) for name in BootLine._fields))
        .where(Boot.run_id.in_(list(run_ids)))
        .order_by(Boot.run_id, Boot.block, Boot.place, Boot.attempt)
    )
    return [BootLine(*row) for row in rows]


def effective_lines(session: Session, run_ids: Iterable[int]) -> list[BootLine]:
    """Those of them that count."""
    return [line for line in boot_lines(session, run_ids) if line.state == BootState.EFFECTIVE]


def boots_of(session: Session, run_ids: Iterable[int]) -> list[Boot]:
    """All boots of the runs in plan order, with arm and fingerprint."""
    return list(
        session.scalars(
            select(Boot)
            .where(Boot.run_id.in_(list(run_ids)))
            .order_by(Boot.run_id, Boot.block, Boot.place, Boot.attempt)
            .options(joinedload(Boot.arm), joinedload(Boot.fingerprint))
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
        )
    ).one_or_none()
    if found is None:
        raise NotFound(
            f"there is no boot {boot_id}", hint="A case's page lists the boots it counts."
        )
    return found


def runs_to_wake(
    session: Session, hosts: Mapping[str, Collection[str]], *, grace_s: float
) -> list[tuple[int, str]]:
    """Runs whose time has come, on which nobody acts and whose host no other run holds.

    Each with its environment. *hosts*: environment → hosts that the asking worker reaches.
    ``grace_s`` leaves a run alone that was only just woken. When a host is given back, all
    runs that wait for it are found, and one of them gets it.
    """
    acting = (
        select(HostLease.id)
        .where(
            HostLease.run_id == Run.id,
            HostLease.released_at.is_(None),
            HostLease.holder.is_not(None),
            ~column_has_come(HostLease.expires_at, LONGEST_LEASE),
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
    reached = [(environment, host) for environment, own in hosts.items() for host in own]
    return [
        (run_id, environment)
        for run_id, environment in session.execute(
            select(Run.id, Host.environment)
            .join(Host, Run.host_id == Host.id)
            .where(
                tuple_(Host.environment, Host.name).in_(reached),
                Run.state.in_(UNFINISHED_RUN_STATES),
                or_(
                    Run.wake_at.is_(None),
                    column_has_come(Run.wake_at, LONGEST_WAIT, grace=timedelta(seconds=grace_s)),
                ),
                ~acting,
                ~elsewhere,
            )
            .order_by(Run.id)
        )
    ]


def any_unfinished(session: Session, hosts: Mapping[str, Collection[str]]) -> bool:
    """Whether a run on one of those hosts is not over; *hosts*: as :func:`runs_to_wake`."""
    reached = [(environment, host) for environment, own in hosts.items() for host in own]
    wanted = (
        select(Run.id)
        .join(Host, Run.host_id == Host.id)
        .where(
            Run.state.in_(UNFINISHED_RUN_STATES), tuple_(Host.environment, Host.name).in_(reached)
        )
    )
    return session.scalar(wanted.limit(1)) is not None


def place_of(session: Session, run_id: int) -> tuple[str, str] | None:
    """Environment and host of the run."""
    wanted = select(Host.environment, Host.name).join(Run, Run.host_id == Host.id)
    row = session.execute(wanted.where(Run.id == run_id)).one_or_none()
    return None if row is None else (row[0], row[1])


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


def runs_holding_hosts(session: Session) -> dict[int, int]:
    """host id → run id of every lease in force."""
    rows = session.execute(
        select(HostLease.host_id, HostLease.run_id).where(HostLease.released_at.is_(None))
    )
    return {row[0]: row[1] for row in rows}
