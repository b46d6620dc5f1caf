"""How far runs are, counted by the database: nothing is loaded to be counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.fleet.tables import Fingerprint, Host
from mitigauge.measurement.results.tables import Result
from mitigauge.measurement.runs.states import OPEN_BOOT_STATES, BootState
from mitigauge.measurement.runs.tables import Boot, Run

UNDER_WAY = (BootState.BOOTING, BootState.MEASURING)


@dataclass(slots=True)
class RunCounts:
    """Boots of one run. One that was made again counts once."""

    total: int = 0
    settled: int = 0
    """Nothing more becomes of them: taken, or left out."""
    taken: int = 0
    """Settled, and the host was rebooted for it."""
    to_come: int = 0
    """Boots that will still be made: an arm that was not effective is not booted again."""
    block: int | None = None
    """The block in hand; between two boots, that of the last one settled."""
    lab_faults: int = 0
    effective: int = 0
    mean_s: float = 0.0
    spread_s: float | None = None
    """Standard deviation of how long effective boots took; None for fewer than two."""


@dataclass(frozen=True, slots=True)
class CurrentBoot:
    """The boot that a run is making."""

    arm: str
    state: BootState
    block: int
    up: bool
    started_at: datetime | None
    job_detail: str


class BootCounts(NamedTuple):
    """Boots of an experiment. Those that were planned are taken, left out, or still to come."""

    planned: int = 0
    taken: int = 0
    left_out: int = 0


def boot_counts(session: Session, experiment_ids: Iterable[int]) -> dict[int, BootCounts]:
    """Counts of each of the experiments that has boots."""
    wanted = list(experiment_ids)
    if not wanted:
        return {}
    latest = _latest(select(Run.id).where(Run.experiment_id.in_(wanted))).subquery()
    is_settled = latest.c.state.not_in(OPEN_BOOT_STATES)
    rows = session.execute(
        select(
            Run.experiment_id,
            func.count(),
            func.count().filter(is_settled, latest.c.started_at.is_not(None)),
            func.count().filter(is_settled, latest.c.started_at.is_(None)),
        )
        .join(Run, Run.id == latest.c.run_id)
        .group_by(Run.experiment_id)
    )
    return {experiment_id: BootCounts(*counts) for experiment_id, *counts in rows}


def run_counts(session: Session, run_ids: Iterable[int]) -> dict[int, RunCounts]:
    """Counts of each of the runs."""
    wanted = list(run_ids)
    counts = {run_id: RunCounts() for run_id in wanted}
    if not wanted:
        return counts
    _count_places(session, wanted, counts)
    _count_times(session, wanted, counts)
    in_cases = (
        select(Boot.run_id, func.sum(func.jsonb_array_length(Result.lab_faults)))
        .join(Result, Result.boot_id == Boot.id)
        .where(Boot.run_id.in_(wanted), Result.lab_faults != [])
        .group_by(Boot.run_id)
    )
    for run_id, faults in session.execute(in_cases):
        counts[run_id].lab_faults += int(faults)
    return counts


def _latest(run_ids: Any) -> Select[int, int, int, str, datetime | None]:
    """The last attempt at each place of the runs' plans."""
    return (
        select(Boot.run_id, Boot.block, Boot.arm_id, Boot.state, Boot.started_at)
        .where(Boot.run_id.in_(run_ids))
        .ext(distinct_on(Boot.run_id, Boot.block, Boot.place))
        .order_by(Boot.run_id, Boot.block, Boot.place, Boot.attempt.desc())
    )


def _count_places(session: Session, run_ids: list[int], counts: dict[int, RunCounts]) -> None:
    latest = _latest(run_ids).subquery()
    dropped = (
        select(Boot.id)
        .where(
            Boot.run_id == latest.c.run_id,
            Boot.arm_id == latest.c.arm_id,
            Boot.state == BootState.NOT_EFFECTIVE,
        )
        .exists()
    )
    is_open = latest.c.state.in_(OPEN_BOOT_STATES)
    under_way = func.max(latest.c.block).filter(latest.c.state.in_(UNDER_WAY))
    rows = session.execute(
        select(
            latest.c.run_id,
            func.count(),
            func.count().filter(~is_open),
            func.count().filter(~is_open, latest.c.started_at.is_not(None)),
            func.count().filter(is_open, ~dropped),
            func.coalesce(under_way, func.max(latest.c.block).filter(~is_open)),
        ).group_by(latest.c.run_id)
    )
    for run_id, *numbers, block in rows:
        of_run = counts[run_id]
        of_run.total, of_run.settled, of_run.taken, of_run.to_come = numbers
        of_run.block = block


def _count_times(session: Session, run_ids: list[int], counts: dict[int, RunCounts]) -> None:
    seconds = func.extract("epoch", Boot.finished_at - Boot.started_at)
    effective = Boot.state == BootState.EFFECTIVE
    rows = session.execute(
        select(
            Boot.run_id,
            func.count().filter(Boot.state == BootState.LAB_FAULT),
            func.count(seconds).filter(effective),
            func.coalesce(func.avg(seconds).filter(effective), 0.0),
            func.stddev_samp(seconds).filter(effective),
        )
        .where(Boot.run_id.in_(run_ids))
        .group_by(Boot.run_id)
    )
    for run_id, faults, number, mean, spread in rows:
        of_run = counts[run_id]
        of_run.lab_faults, of_run.effective = faults, number
        of_run.mean_s = float(mean)
        of_run.spread_s = None if spread is None else float(spread)


def boot_seconds_by_host(
    session: Session, host_ids: Iterable[int]
) -> dict[int, tuple[int, float, float | None]]:
    """host id → (effective boots, their mean seconds, standard deviation) of all its runs."""
    wanted = list(host_ids)
    if not wanted:
        return {}
    seconds = func.extract("epoch", Boot.finished_at - Boot.started_at)
    rows = session.execute(
        select(Run.host_id, func.count(seconds), func.avg(seconds), func.stddev_samp(seconds))
        .join(Run, Boot.run_id == Run.id)
        .where(Run.host_id.in_(wanted), Boot.state == BootState.EFFECTIVE)
        .where(seconds.is_not(None))
        .group_by(Run.host_id)
    )
    return {
        host_id: (number, float(mean), None if spread is None else float(spread))
        for host_id, number, mean, spread in rows
    }


def current_boots(session: Session, run_ids: Iterable[int]) -> dict[int, CurrentBoot]:
    """run id → the boot that it is making, of runs that make one."""
    wanted = list(run_ids)
    if not wanted:
        return {}
    rows = session.execute(
        select(
            Boot.run_id,
            Arm.name,
            Boot.state,
            Boot.block,
            Boot.up_at.is_not(None),
            Boot.started_at,
            Boot.job_detail,
        )
        .join(Arm, Boot.arm_id == Arm.id)
        .where(Boot.run_id.in_(wanted), Boot.state.in_(UNDER_WAY))
    )
    return {
        run_id: CurrentBoot(arm, BootState(state), block, up, started_at, detail)
        for run_id, arm, state, block, up, started_at, detail in rows
    }


def states_by_arm(session: Session, run_ids: Iterable[int]) -> dict[int, dict[str, dict[str, int]]]:
    """arm id → host → boot state → boots, retries included."""
    rows = session.execute(
        select(Boot.arm_id, Host.name, Boot.state, func.count())
        .join(Run, Boot.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .where(Boot.run_id.in_(list(run_ids)))
        .group_by(Boot.arm_id, Host.name, Boot.state)
        .order_by(Host.name)
    )
    counts: dict[int, dict[str, dict[str, int]]] = {}
    for arm_id, host, state, number in rows:
        counts.setdefault(arm_id, {}).setdefault(host, {})[state] = number
    return counts


def observed_by_arm(session: Session, run_ids: Iterable[int]) -> dict[int, list[str]]:
    """arm id → what kernels said instead where the mode was not in force, each once."""
    rows = session.execute(
        select(Boot.arm_id, func.coalesce(Boot.observed, ""))
        .where(Boot.run_id.in_(list(run_ids)), Boot.state == BootState.NOT_EFFECTIVE)
        .group_by(Boot.arm_id, Boot.observed)
        .order_by(Boot.arm_id, func.min(Boot.id))
    )
    found: dict[int, list[str]] = {}
    for arm_id, observed in rows:
        found.setdefault(arm_id, []).append(observed)
    return found


def kernels_by_run(session: Session, run_ids: Iterable[int]) -> dict[int, list[str]]:
    """run id → kernel releases that its boots really ran, in the order of their first boots."""
    release = func.coalesce(Boot.proof["kernel_release"].astext, "")
    rows = session.execute(
        select(Boot.run_id, release)
        .where(Boot.run_id.in_(list(run_ids)), Boot.verified_at.is_not(None))
        .group_by(Boot.run_id, release)
        .order_by(Boot.run_id, func.min(Boot.id))
    )
    found: dict[int, list[str]] = {}
    for run_id, kernel in rows:
        found.setdefault(run_id, []).append(kernel)
    return found


def first_facts(session: Session, run_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """run id → facts of the first fingerprint that one of its boots had."""
    rows = session.execute(
        select(Boot.run_id, Fingerprint.facts)
        .join(Fingerprint, Boot.fingerprint_id == Fingerprint.id)
        .where(Boot.run_id.in_(list(run_ids)))
        .ext(distinct_on(Boot.run_id))
        .order_by(Boot.run_id, Boot.id)
    )
    return {row[0]: row[1] for row in rows}
