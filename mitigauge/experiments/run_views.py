"""Where runs stand, in words and with an honest estimate of the time left. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mitigauge.experiments.remaining import Remaining, remaining
from mitigauge.experiments.schemas import RunView
from mitigauge.experiments.states import OPEN_BOOT_STATES, WAITS_FOR_TURN, BootState, RunState
from mitigauge.experiments.tables import Boot, Run


def done_and_total(boots: Sequence[Boot]) -> tuple[int, int]:
    """Boots settled and boots there are; one that was made again counts once."""
    places = {(b.run_id, b.block, b.place): b.state for b in boots}
    settled = sum(state not in OPEN_BOOT_STATES for state in places.values())
    return settled, len(places)


def run_view(run: Run, boots: Sequence[Boot], now: datetime) -> RunView:
    """One run from its boots, as of *now*."""
    done, total = done_and_total(boots)
    current = next((b for b in boots if b.state in (BootState.BOOTING, BootState.MEASURING)), None)
    left = _remaining(run, boots, _boots_to_come(boots), current, now)
    faults = sum(b.state == BootState.LAB_FAULT for b in boots)
    faults += sum(len(result.lab_faults) for b in boots for result in b.results)
    return RunView(
        id=run.id,
        comparison=run.comparison.name,
        host=run.host.name,
        state=RunState(run.state),
        step=run.step,
        detail=in_words(run, current),
        block=_block(boots, current),
        blocks=run.comparison.blocks,
        boots_done=done,
        boots_total=total,
        lab_faults=faults,
        error=run.error,
        stopped_after=run.stopped_after,
        started_at=run.started_at,
        finished_at=run.finished_at,
        seconds_left=left.seconds if left else None,
        seconds_left_low=left.low if left else None,
        seconds_left_high=left.high if left else None,
    )


def _boots_to_come(boots: Sequence[Boot]) -> int:
    """Boots that will still be made: an arm once found not effective is not booted again."""
    dropped = {boot.arm_id for boot in boots if boot.state == BootState.NOT_EFFECTIVE}
    return sum(boot.state in OPEN_BOOT_STATES and boot.arm_id not in dropped for boot in boots)


def _block(boots: Sequence[Boot], current: Boot | None) -> int | None:
    """The block in hand; between two boots, that of the last one settled."""
    if current:
        return current.block
    settled = [boot.block for boot in boots if boot.state not in OPEN_BOOT_STATES]
    return max(settled, default=None)


def _remaining(
    run: Run, boots: Sequence[Boot], boots_left: int, current: Boot | None, now: datetime
) -> Remaining | None:
    took = [
        (b.finished_at - b.started_at).total_seconds()
        for b in boots
        if b.state == BootState.EFFECTIVE and b.finished_at and b.started_at
    ]
    if run.state not in ("queued", "running"):
        return Remaining(0.0, 0.0, 0.0)
    since = (now - current.started_at).total_seconds() if current and current.started_at else 0.0
    return remaining(took, boots_left, since)


def in_words(run: Run, current: Boot | None) -> str:
    """What the run does now, with its *current* boot if one is under way."""
    if run.state == "queued":
        return _why_queued(run)
    if run.state != "running":
        return run.state
    if run.step == WAITS_FOR_TURN:
        booted = current if current and current.state == BootState.MEASURING else None
        to_do = f" to measure {booted.arm.name}" if booted else ""
        return f"waiting{to_do}: another host of the machine has its turn"
    if current is None:
        return {
            "prepare": "preparing the host",
            "restore": "restoring the host",
            "boot.arm": "writing the boot entry",
            "judge": "judging the blocks made so far",
        }.get(run.step, "waiting")
    if current.state == BootState.BOOTING:
        doing = "verifying" if current.up_at else "booting"
        return f"{doing} {current.arm.name}"
    case = f": {current.job_detail}" if current.job_detail else ""
    return f"measuring {current.arm.name}{case}"


def _why_queued(run: Run) -> str:
    """A run that has not begun waits for its host, which may be set aside."""
    host = run.host
    if host.set_aside_at is None or host.probe_at is None:
        return "waiting for its host"
    return (
        f"waiting: {host.name} is set aside, next probe {host.probe_at:%H:%M} UTC: "
        f"{host.set_aside_reason}"
    )
