"""The first page, from rows that were written to be read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.jobs import views as job_views
from mitigauge.jobs import worker_repository as worker_rows
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.fleet.recorded_hosts import is_recorded
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.reporting.home.schemas import (
    Approval,
    HomeView,
    HostForAPerson,
    RunningNow,
    WaitingForHosts,
)
from mitigauge.reporting.pages.experiments import summaries
from mitigauge.reporting.pages.host_schemas import HostQueue
from mitigauge.reporting.pages.queue import UNSERVED, queues_of
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.repository import RegressionFilter
from mitigauge.tracking.regressions.states import RegressionState
from mitigauge.tracking.series import repository as series_rows
from mitigauge.tracking.series import request_repository as request_rows

# Of each kind so many lines; the whole lists are a click away.
MOST_LINES: Final = 8
MOST_LATEST: Final = 5
FAILED_WITHIN: Final = timedelta(days=3)
NOBODYS: Final = RegressionFilter((RegressionState.NEW, RegressionState.CONFIRMED))


def show_home(session: Session) -> HomeView:
    """What runs, what is new, what waits for a person."""
    hosts = fleet.all_hosts(session)
    workers = worker_rows.abilities(session)
    now = database_now(session)
    queues = queues_of(session, hosts, workers, now)
    found = regressions.list_regressions(session, NOBODYS, limit=MOST_LINES)
    running = _running(session, queues)
    waiting = [queue for queue in queues if queue.waiting]
    return HomeView(
        now=now,
        running=running[:MOST_LINES],
        running_total=len(running),
        waiting=[_waiting(queue) for queue in waiting[:MOST_LINES]],
        waiting_total=sum(len(queue.waiting) for queue in waiting),
        regressions=found.regressions,
        regression_counts=found.counts,
        approvals=[
            Approval(
                series=series.name, title=series.title, revision=revision.label,
                sender=revision.sender, why=revision.why,
            )
            for series, revision in series_rows.waiting_for_approval(session, MOST_LINES)
        ],
        requests=request_rows.count_waiting(session),
        hosts=_hosts_for_a_person(hosts, queues, now)[:MOST_LINES],
        jobs=job_views.failed_jobs(session, now - FAILED_WITHIN, MOST_LINES),
        workers=len(workers),
        latest=summaries(session, experiment_rows.ended_last(session, MOST_LATEST)),
        experiments=experiment_rows.count(session),
    )  # fmt: skip


def _running(session: Session, queues: Sequence[HostQueue]) -> list[RunningNow]:
    """Runs that have their hosts; who ends first stands first."""
    held = [(queue, queue.running) for queue in queues if queue.running]
    counts = run_counts.run_counts(session, [run.run_id for _, run in held])
    lines = [
        RunningNow(
            host=queue.host,
            environment=queue.environment,
            run=run,
            boots_done=counts[run.run_id].taken,
            boots_total=counts[run.run_id].total,
        )
        for queue, run in held
    ]
    return sorted(lines, key=lambda line: (line.run.takes_s is None, line.run.takes_s or 0.0))


def _waiting(queue: HostQueue) -> WaitingForHosts:
    first = queue.waiting[0]
    return WaitingForHosts(
        host=queue.host,
        environment=queue.environment,
        runs=len(queue.waiting),
        starts_in_s=first.starts_in_s,
        not_known=first.not_known,
    )


def _hosts_for_a_person(
    hosts: Sequence[Host], queues: Sequence[HostQueue], now: datetime
) -> list[HostForAPerson]:
    """Hosts that are set aside, and hosts that something waits for and no worker reaches."""
    by_host = {(queue.environment, queue.host): queue for queue in queues}
    found = []
    for host in hosts:
        if is_recorded(host.environment):
            continue
        queue = by_host.get((host.environment, host.name))
        kept = kept_from(host, now) if host.set_aside_at else None
        unserved = queue is not None and queue.waiting and queue.kept == UNSERVED
        if kept is None and not unserved:
            continue
        found.append(
            HostForAPerson(
                host=host.name,
                environment=host.environment,
                why=kept.why if kept else UNSERVED,
                waiting=len(queue.waiting) if queue else 0,
            )
        )
    return sorted(found, key=lambda line: -line.waiting)
