"""The time of hosts, as the database sums it up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.host_time import Booted, HostTime
from mitigauge.measurement.runs.states import UNCOUNTED_BOOT_STATES
from mitigauge.measurement.runs.tables import Boot, Run


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
