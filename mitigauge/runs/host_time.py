"""What a run's host did with its time: boot, measure, and all else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from mitigauge.clock import Clock
from mitigauge.fleet.boot_method import BootMethod
from mitigauge.runs.states import UNCOUNTED_BOOT_STATES
from mitigauge.runs.tables import Boot, Run


@dataclass(frozen=True, slots=True)
class Booted:
    """Boots by one method: how many, and their seconds from the reboot to the SSH greeting."""

    boots: int
    seconds: float


@dataclass(slots=True)
class HostTime:
    """Seconds of one run, by the database's clock but for measuring, which the host times.

    Where the host's clock counts instructions, measuring is from its job's start to what came of
    it, by the database's clock too.
    """

    total_s: float
    measuring_s: float = 0.0
    booted: dict[BootMethod, Booted] = field(default_factory=dict)

    @property
    def booting_s(self) -> float:
        """Seconds in which the host was on its way up."""
        return sum(of.seconds for of in self.booted.values())

    @property
    def other_s(self) -> float:
        """The rest: preparing, plays before and after a boot, judging, restoring, waiting."""
        return max(self.total_s - self.booting_s - self.measuring_s, 0.0)


def host_times(session: Session, run_ids: Iterable[int]) -> Mapping[int, HostTime]:
    """The time of each of the runs that is over."""
    over = (
        select(Run.id, func.extract("epoch", Run.finished_at - Run.started_at))
        .where(Run.id.in_(list(run_ids)), Run.finished_at.is_not(None))
        .where(Run.started_at.is_not(None))
    )
    times = {run_id: HostTime(float(seconds or 0)) for run_id, seconds in session.execute(over)}
    if not times:
        return times
    came_up = func.coalesce(Boot.up_at, Boot.finished_at)
    took = func.extract("epoch", came_up - Boot.rebooted_at)
    waited = func.extract("epoch", Boot.finished_at - Boot.job_started_at)
    measured = case((Run.clock == Clock.COUNTED, waited), else_=Boot.job_lasted_s)
    by_method = (
        select(
            Boot.run_id,
            Boot.method,
            func.count(),
            func.coalesce(func.sum(took), 0),
            func.coalesce(func.sum(measured), 0),
        )
        .join(Run)
        .where(Boot.run_id.in_(list(times)), Boot.rebooted_at.is_not(None))
        .group_by(Boot.run_id, Boot.method)
    )
    for run_id, method, boots, booting, measuring in session.execute(by_method):
        if method != BootMethod.WITHIN:
            times[run_id].booted[BootMethod(method)] = Booted(boots, float(booting or 0))
        times[run_id].measuring_s += float(measuring or 0)
    return times


def wasted_seconds(session: Session, host_id: int) -> float:
    """Seconds of all the host's boots that count for nothing, from their start to their end."""
    seconds = func.extract("epoch", Boot.finished_at - Boot.started_at)
    found = session.scalars(
        select(func.sum(seconds))
        .join(Run, Boot.run_id == Run.id)
        .where(Run.host_id == host_id, Boot.state.in_(UNCOUNTED_BOOT_STATES))
    ).one()
    return float(found or 0.0)
