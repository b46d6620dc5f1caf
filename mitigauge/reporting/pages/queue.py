"""What waits for which host, and when it will run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from mitigauge.jobs import worker_repository as worker_rows
from mitigauge.jobs.abilities import Abilities
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.fleet.recorded_hosts import is_recorded
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.count_repository import RunCounts
from mitigauge.measurement.runs.queue import Place, places
from mitigauge.measurement.runs.tables import Run
from mitigauge.measurement.runs.time_left import Remaining, remaining
from mitigauge.reporting.pages.host_schemas import HostQueue, QueuedRun
from mitigauge.reporting.pages.runs import left_of
from mitigauge.storage.database.engine import database_now

UNSERVED = (
    "no worker that runs now reaches it: start `mitigauge worker` where its inventory and key are"
)


def host_queues(session: Session, name: str | None = None) -> list[HostQueue]:
    """The queue of every host that has one or that somebody keeps; of one host where named."""
    now = database_now(session)
    return queues_of(session, fleet.all_hosts(session), worker_rows.abilities(session), now, name)


def queues_of(
    session: Session,
    every: Sequence[Host],
    workers: Sequence[Abilities],
    now: datetime,
    name: str | None = None,
) -> list[HostQueue]:
    """The same, of all hosts and of what the workers can do that work now."""
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in run_rows.unfinished_runs(session):
        if name in (None, run.host.name):
            runs[run.host_id].append(run)
    holders = run_rows.runs_holding_hosts(session)
    hosts = [host for host in every if not is_recorded(host.environment)]
    counts = run_counts.run_counts(session, [run.id for own in runs.values() for run in own])
    usual = run_counts.boot_seconds_by_host(session, list(runs))
    current = run_counts.current_boots(session, list(holders.values()))
    times = _Times(counts, usual, current, now)
    return [
        _queue(
            host,
            runs[host.id],
            holders.get(host.id),
            times,
            served=any(each.reaches(host.environment, host.name) for each in workers),
        )
        for host in hosts
        if (runs[host.id] or kept_from(host, now)) and name in (None, host.name)
    ]


class _Times:
    """What is known of how long runs take."""

    def __init__(
        self,
        counts: Mapping[int, RunCounts],
        usual: Mapping[int, tuple[int, float, float | None]],
        current: Mapping[int, run_counts.CurrentBoot],
        now: datetime,
    ) -> None:
        self._counts, self._usual, self._current, self.now = counts, usual, current, now

    def left(self, run: Run) -> Remaining | None:
        """What is left of the run: by its own boots, else by those made on its host before."""
        counts = self._counts[run.id]
        own = left_of(run, counts, self._current.get(run.id), self.now)
        if own is not None or run.host_id not in self._usual:
            return own
        boots, mean, spread = self._usual[run.host_id]
        return remaining(mean, spread, boots, counts.to_come)


def _queue(
    host: Host, runs: Sequence[Run], holder_id: int | None, times: _Times, *, served: bool
) -> HostQueue:
    holder = next((run for run in runs if run.id == holder_id), None)
    waiting = [run for run in runs if run is not holder]
    kept = kept_from(host, times.now)
    kept_s: float | None = 0.0
    if kept is not None:
        kept_s = None if kept.until is None else (kept.until - times.now).total_seconds()
    why = kept.why if kept else ""
    if kept is None and not served:
        kept_s, why = None, UNSERVED
    found = places(
        times.left(holder) if holder else None,
        [times.left(run) for run in waiting],
        is_held=holder_id is not None,
        kept_s=kept_s,
        kept=why,
    )
    return HostQueue(
        host=host.name,
        environment=host.environment,
        kept=why,
        running=_line(holder, times.left(holder), None) if holder else None,
        waiting=[
            _line(run, times.left(run), place) for run, place in zip(waiting, found, strict=True)
        ],
    )


def _line(run: Run, left: Remaining | None, place: Place | None) -> QueuedRun:
    starts = place.starts if place else None
    return QueuedRun(
        run_id=run.id,
        experiment_id=run.experiment_id,
        experiment=run.experiment.name,
        comparison=run.comparison.name,
        submitted_by=run.experiment.submitted_by,
        state=run.state,
        takes_s=left.seconds if left else None,
        takes_low_s=left.low if left else None,
        takes_high_s=left.high if left else None,
        starts_in_s=starts.seconds if starts else None,
        starts_low_s=starts.low if starts else None,
        starts_high_s=starts.high if starts else None,
        not_known=place.why if place else "",
    )
