"""Where runs stand, in words and with an honest estimate of the time left. Pure."""

from __future__ import annotations

from datetime import datetime

from mitigauge.measurement.fleet.availability import kept_from
from mitigauge.measurement.runs.count_repository import CurrentBoot, RunCounts
from mitigauge.measurement.runs.host_time import HostTime
from mitigauge.measurement.runs.states import WAITS_FOR_TURN, BootState, RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.measurement.runs.time_left import Remaining, remaining
from mitigauge.reporting.pages.schemas import BootsView, HostTimeView, RunView


def run_view(
    run: Run,
    counts: RunCounts,
    current: CurrentBoot | None,
    now: datetime,
    time: HostTime | None = None,
) -> RunView:
    """One run from the counts of its boots, as of *now*; *time*: its host's, once it is over."""
    left = left_of(run, counts, current, now)
    return RunView(
        id=run.id,
        comparison=run.comparison.name,
        host=run.host.name,
        state=run.state,
        step=run.step,
        detail=in_words(run, current, now),
        block=counts.block,
        blocks=run.comparison.blocks,
        boots_done=counts.taken,
        boots_left_out=counts.settled - counts.taken,
        boots_total=counts.total,
        boots_effective=counts.effective,
        lab_faults=counts.lab_faults,
        error=run.error,
        stopped_after=run.stopped_after,
        started_at=run.started_at,
        finished_at=run.finished_at,
        seconds_left=left.seconds if left else None,
        seconds_left_low=left.low if left else None,
        seconds_left_high=left.high if left else None,
        verdict_changes=run.verdict_changes,
        host_time=_host_time(time) if time else None,
    )


def _host_time(time: HostTime) -> HostTimeView:
    return HostTimeView(
        total_s=time.total_s,
        booting_s=time.booting_s,
        measuring_s=time.measuring_s,
        other_s=time.other_s,
        boots=[
            BootsView(method=method, boots=of.boots, mean_s=of.seconds / of.boots)
            for method, of in sorted(time.booted.items())
        ],
    )


def left_of(
    run: Run, counts: RunCounts, current: CurrentBoot | None, now: datetime
) -> Remaining | None:
    """The time that the run still takes; None before its first boot is done."""
    if run.state not in (RunState.QUEUED, RunState.RUNNING):
        return Remaining(0.0, 0.0, 0.0)
    since = (now - current.started_at).total_seconds() if current and current.started_at else 0.0
    return remaining(counts.mean_s, counts.spread_s, counts.effective, counts.to_come, since)


def in_words(run: Run, current: CurrentBoot | None, now: datetime) -> str:
    """What the run does now, with its *current* boot if one is under way."""
    if run.state == RunState.QUEUED:
        return _why_queued(run, now)
    if run.state != RunState.RUNNING:
        return run.state
    if run.step == WAITS_FOR_TURN:
        booted = current if current and current.state == BootState.MEASURING else None
        to_do = f" to measure {booted.arm}" if booted else ""
        return f"waiting{to_do}: another host of the machine has its turn"
    if current is None:
        return {
            "prepare": "preparing the host",
            "restore": "restoring the host",
            "boot.arm": "writing the boot entry",
            "judge": "judging the blocks made so far",
        }.get(run.step, "waiting")
    if current.state == BootState.BOOTING:
        doing = "verifying" if current.up else "booting"
        return f"{doing} {current.arm}"
    case = f": {current.job_detail}" if current.job_detail else ""
    return f"measuring {current.arm}{case}"


def _why_queued(run: Run, now: datetime) -> str:
    """A run that has not begun waits for its host, which may be set aside or reserved."""
    kept = kept_from(run.host, now)
    return f"waiting: {kept.why}" if kept else "waiting for its host"
