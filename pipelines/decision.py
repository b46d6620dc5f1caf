"""What a run does next: a pure function of where it stands.

Whether a step was done is read from the facts it left (a boot id, a job's start),
never from a counter, so that a run resumes wherever it was cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.measurement.runs.states import OPEN_BOOT_STATES, BootState

# An arm whose kernel ignores the mode says so every time; one look is enough.
NOT_EFFECTIVE_LIMIT = 1
# A panic may be chance once. Twice is the arm.
# A boot that was made: a kernel came up, of whatever arm, or none did.
OUTCOMES = (
    BootState.DID_NOT_BOOT,
    BootState.EFFECTIVE,
    BootState.NOT_EFFECTIVE,
    BootState.WRONG_KERNEL,
    BootState.INVALID,
)
# Nothing can be said of what differs between arms that fail alike.
NONE_BOOTS = (
    "no boot of this run came up, the baseline's neither: what all have in common may be at fault, "
    "the host, the kernels' configuration or the modes' options"
)
DID_NOT_BOOT_LIMIT = 2
# So many faults in a row mean that the lab, or we, are broken, not the arm.
FAULTS_IN_A_ROW_LIMIT = 6
ATTEMPTS_A_PLACE = 3
# A step after which so many workers in a row were not heard of again is what ends them.
LOST_WORKERS_LIMIT = 5
# A host that does not answer so often is not waited for by one run alone.
SILENT_PREPARATIONS_LIMIT = 3


CANCELLED = "cancelled"


class Step(StrEnum):
    """The steps of a run, as they stand in events and step attempts."""

    PREPARE = "prepare"
    ARM = "boot.arm"
    AWAIT = "boot.wait"
    POWER_CYCLE = "boot.power-cycle"
    LOST = "boot.lost"
    VERIFY = "boot.verify"
    START = "measure.start"
    POLL = "measure.poll"
    JUDGE = "judge"
    SKIP = "boot.skip"
    STOP = "stop"
    RESTORE = "restore"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class BootSituation:
    """What is known of one boot."""

    id: int
    arm_id: int
    state: BootState
    rebooted_for_s: float | None = None
    up: bool = False
    job_started: bool = False
    power_cycled: bool = False


@dataclass(frozen=True, slots=True)
class RunSituation:
    """What is known of a run; *boots* in plan order."""

    cancelled: bool
    prepared: bool
    # Whether a step has begun to prepare the host: it may have got further than we know.
    preparation_begun: bool
    restored: bool
    faults_in_a_row: int
    baseline_arm_id: int
    boot_timeout_s: float
    boots: Sequence[BootSituation]
    # What went wrong most recently; empty if nothing did.
    last_fault: str = ""
    # Why the run is brought to its end before its plan is done; empty while it is not.
    ending: str = ""
    # Complete blocks over which an interim analysis is due; None while there is none.
    unjudged_blocks: int | None = None
    # Blocks after which every primary metric was decided; None while one is not.
    decided_after: int | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """The step to take, on which boot, and why where that is not plain."""

    step: Step
    boot_id: int | None = None
    reason: str = ""


def decide(run: RunSituation) -> Action:
    """The next step of the run."""
    current = next((b for b in run.boots if b.state in OPEN_BOOT_STATES), None)
    reason = _why_end(run, current)
    # What is restored is not measured on: nothing but the end may follow.
    if reason or current is None or run.restored:
        return _wind_up(run, reason)
    if not run.prepared:
        return Action(Step.PREPARE)
    if current.state is BootState.PLANNED:
        return _planned(run, current)
    if current.state is BootState.BOOTING:
        return _booting(run, current)
    return Action(Step.POLL if current.job_started else Step.START, current.id)


def _why_end(run: RunSituation, current: BootSituation | None) -> str:
    """Why the run ends before its plan is done; empty where it goes on or has got to its end."""
    if run.ending:
        return run.ending
    if run.cancelled and current is not None:
        return CANCELLED
    if run.faults_in_a_row >= FAULTS_IN_A_ROW_LIMIT:
        return _gave_up(run)
    return ""


def _wind_up(run: RunSituation, reason: str) -> Action:
    if (run.prepared or run.preparation_begun) and not run.restored:
        return Action(Step.RESTORE, reason=reason)
    return Action(Step.FINISH, reason=reason)


def _planned(run: RunSituation, boot: BootSituation) -> Action:
    if run.unjudged_blocks is not None:
        return Action(Step.JUDGE)
    if run.decided_after is not None:
        blocks = run.decided_after
        return Action(Step.STOP, reason=f"every primary metric was decided after {blocks} blocks")
    reason = _why_skip(run, boot)
    return Action(Step.SKIP if reason else Step.ARM, boot.id, reason)


def _booting(run: RunSituation, boot: BootSituation) -> Action:
    if boot.up:
        return Action(Step.VERIFY, boot.id)
    waited = boot.rebooted_for_s or 0.0
    if waited > run.boot_timeout_s:
        silence = f"no answer within {run.boot_timeout_s:.0f} s of the"
        if boot.power_cycled:
            return Action(Step.LOST, boot.id, f"host lost: {silence} power cycle either")
        return Action(Step.POWER_CYCLE, boot.id, f"{silence} reboot")
    return Action(Step.AWAIT, boot.id)


def _why_skip(run: RunSituation, boot: BootSituation) -> str:
    baseline = _why_drop(run.boots, run.baseline_arm_id)
    if baseline and _none_boots(run):
        return NONE_BOOTS
    if baseline:
        return f"nothing to compare with: the baseline {baseline}"
    own = _why_drop(run.boots, boot.arm_id)
    return f"the arm {own}" if own else ""


def _none_boots(run: RunSituation) -> bool:
    """Whether baseline and others were booted, each more than once, and nothing came up."""
    tried = [b for b in run.boots if b.state in OUTCOMES]
    if any(b.state is not BootState.DID_NOT_BOOT for b in tried):
        return False
    times = Counter(b.arm_id for b in tried)
    # Once may be chance.
    return len(times) > 1 and all(n >= DID_NOT_BOOT_LIMIT for n in times.values())


def _why_drop(boots: Sequence[BootSituation], arm_id: int) -> str:
    states = Counter(b.state for b in boots if b.arm_id == arm_id)
    if states[BootState.NOT_EFFECTIVE] >= NOT_EFFECTIVE_LIMIT:
        return "was not effective in an earlier block"
    if states[BootState.WRONG_KERNEL] >= NOT_EFFECTIVE_LIMIT:
        return "came up with another kernel in an earlier block"
    if states[BootState.DID_NOT_BOOT] >= DID_NOT_BOOT_LIMIT:
        return f"did not boot {DID_NOT_BOOT_LIMIT} times"
    return ""


def _gave_up(run: RunSituation) -> str:
    last = f", the last: {run.last_fault}" if run.last_fault else ""
    return f"gave up after {run.faults_in_a_row} faults in a row{last}"
