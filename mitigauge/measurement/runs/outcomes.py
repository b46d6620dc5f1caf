"""What happened to a run, written down: each function is one step's commit.

They change rows of a session whose transaction already holds the lease; none of
them commits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import NotReady
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.facts import own_facts
from mitigauge.measurement.fleet.subject import subject_of
from mitigauge.measurement.results.schema import body_digest
from mitigauge.measurement.runs import attempt_repository
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.boot_evidence import BootEntry, BootProof, WrittenEntry
from mitigauge.measurement.runs.kernel_build import KernelBuild
from mitigauge.measurement.runs.plan import new_nonce
from mitigauge.measurement.runs.preparation import Preparation
from mitigauge.measurement.runs.proof import Judgement
from mitigauge.measurement.runs.states import (
    OPEN_BOOT_STATES,
    UNFINISHED_RUN_STATES,
    BootState,
    RunState,
)
from mitigauge.measurement.runs.tables import Boot, Run, StepAttempt
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.locks import AGAINST_CHANGES

log = get_logger(__name__)

# A block whose boots were invalid so often says that the host does not stay as it is.
BLOCK_REPEATS = 3
# So many runs in a row that could not prepare a host say that it is the host.
FAILED_PREPARATIONS = 2


def begin(session: Session, run: Run) -> None:
    """The run has its host."""
    if run.state != RunState.QUEUED:
        return
    now = database_now(session)
    run.state = RunState.RUNNING
    run.started_at = run.started_at or now
    if experiment_rows.mark_running(session, run.experiment_id, now):
        audit.record(
            session,
            Action.EXPERIMENT_BEGIN,
            Subject(SubjectKind.EXPERIMENT, run.experiment_id),
            after={"state": ExperimentState.RUNNING},
        )


def prepared(
    session: Session, run: Run, preparation: Preparation, kernels: Mapping[str, KernelBuild]
) -> None:
    """Host tuned, kernels and workloads in place: a host that was set aside is in use again.

    *kernels*: the builds that its boots must show.
    """
    run.prepared = preparation
    run.kernels = dict(kernels)
    run.consecutive_faults = 0
    fleet.saw_host(session, run.host_id)
    before = {"reason": run.host.set_aside_reason}
    if absences.bring_back(session, run.host_id):
        audit.record(session, Action.HOST_RESUME, subject_of(run.host), before=before)
        _log(session, run, "host", f"{run.host.name} could be prepared and is in use again")


def put_back(session: Session, run: Run, reason: str) -> None:
    """The host cannot be prepared: it is set aside, and the run waits in the queue."""
    run.state = RunState.QUEUED
    run.step = ""
    probe_at = set_aside(session, run, reason)
    # Those that come first at the next probe are not the ones that failed at this one.
    run.wake_at = probe_at + timedelta(seconds=min(run.consecutive_faults, 60))


def set_aside(session: Session, run: Run, reason: str) -> datetime:
    """No run begins on the host before a probe succeeds or a person brings it back."""
    probe_at = absences.set_aside(session, run.host_id, reason)
    log.warning("host set aside", host=run.host.name, until=probe_at, reason=reason)
    after = {"reason": reason, "probed_at": probe_at}
    audit.record(session, Action.HOST_SET_ASIDE, subject_of(run.host), after=after)
    text = f"{run.host.name} is set aside until {probe_at:%H:%M} UTC: {reason}"
    _log(session, run, "host", text)
    return probe_at


def worker_lost(session: Session, run: Run, attempt: StepAttempt) -> None:
    """A worker began a step and was not heard of again; the step is taken again.

    Of a worker that had steps of several runs in hand nobody knows which of them ended it:
    it counts as a part of one for each.
    """
    at_once = attempt_repository.lost_with(session, attempt.worker)
    run.lost_workers += 1 / at_once
    others = f", and {at_once - 1} other steps with it" if at_once > 1 else ""
    _log(
        session,
        run,
        "worker",
        f"{attempt.step}: the worker that began it under epoch {attempt.epoch} did not come "
        f"back{others}; the step is taken again",
    )


def judged(run: Run, blocks: int, *, decided: bool) -> None:
    """An interim analysis over *blocks* complete blocks was made."""
    run.judged_blocks = blocks
    run.decided_blocks = blocks if decided else None


def armed(session: Session, boot: Boot, entry: WrittenEntry, serial_offset: int | None) -> None:
    """The one-shot entry is written and the host was told to reboot."""
    now = database_now(session)
    boot.state = BootState.BOOTING
    # An entry that is up already was booted under an earlier epoch; what was up before
    # it is unknown then, and the nonce alone must tell.
    boot.previous_boot_id = None if entry.already_up else entry.previous_boot_id
    boot.armed = BootEntry(**entry.model_dump(exclude_unset=True))
    boot.serial_offset = serial_offset
    boot.started_at = boot.started_at or now
    boot.rebooted_at = now


def shares(session: Session, boot: Boot, other: Boot, offset: int | None) -> None:
    """The arm is to be applied within the boot that *other* was made or applied in."""
    now = database_now(session)
    if other.armed is None or other.proof is None:
        raise NotReady(f"boot {other.id} was not proven: no other arm can be applied within it")
    boot.state = BootState.BOOTING
    # Both are ours: the nonce that the boot was made with, and the boot id that was proven.
    within = {"nonce": other.armed.nonce or other.nonce, "boot_id": other.proof.boot_id}
    boot.armed = other.armed.model_copy(update=within)
    boot.serial_offset = offset
    boot.started_at = boot.started_at or now
    boot.rebooted_at = boot.up_at = now


def power_cycled(session: Session, boot: Boot, reason: str, serial_tail: str) -> None:
    """The host did not answer and was cycled; the clock for its fallback starts."""
    boot.power_cycled = True
    boot.reason = reason
    boot.serial_tail = serial_tail
    boot.rebooted_at = database_now(session)


def revived(session: Session, boot: Boot) -> None:
    """The host hung before its reboot and was cycled; the clock for its answer starts."""
    boot.revived = True
    boot.rebooted_at = database_now(session)


def up(session: Session, boot: Boot) -> None:
    """The host answers again."""
    boot.up_at = database_now(session)


def up_uncycled(session: Session, boot: Boot) -> None:
    """The host was to be power-cycled and answers; a worker that was lost may have cycled it."""
    up(session, boot)
    if attempt_repository.lost_during(session, boot.id, "boot.power-cycle"):
        boot.power_cycled = True
        boot.reason = "perhaps power cycled: the worker that was to do it was lost"


def still_the_old_boot(boot: Boot) -> None:
    """What answered was the system that is about to go down."""
    boot.up_at = None


def verified(
    session: Session,
    boot: Boot,
    judgement: Judgement,
    proof: BootProof,
    facts: Mapping[str, Any],
    serial_tail: str,
    *,
    attempts: int,
) -> None:
    """The boot's proof was read and judged."""
    now = database_now(session)
    boot.proof = proof
    boot.observed = judgement.observed
    boot.fingerprint_id = fleet.saw_host(
        session, boot.run.host_id, fingerprint_digest(facts), dict(facts)
    )
    boot.verified_at = now
    boot.serial_tail = boot.serial_tail or serial_tail
    if judgement.state is BootState.EFFECTIVE:
        boot.state = BootState.MEASURING
        return
    boot.state = judgement.state
    boot.reason = f"{boot.reason}; {judgement.reason}" if boot.reason else judgement.reason
    boot.finished_at = now
    boot.run.consecutive_faults = 0
    # Kept and counted against the arm, but the block still wants its boot. An arm that
    # fails again is dropped by the decision.
    if judgement.state is BootState.DID_NOT_BOOT and _failures(boot) < attempts:
        session.add(again(boot))


def job_started(session: Session, boot: Boot, ago_s: float = 0.0) -> None:
    """The measuring job was started on the host, detached, *ago_s* seconds before now."""
    boot.job_started_at = database_now(session) - timedelta(seconds=ago_s)


def job_lacks_cases(boot: Boot) -> None:
    """Some cases met a lab fault; a further job measures only those."""
    boot.job_try += 1
    boot.job_started_at = None


def lost(session: Session, run: Run, boot: Boot, reason: str) -> None:
    """Neither the boot nor, after a power cycle, the fallback came up: the run ends.

    There is nothing to restore on a host that nobody reaches; it is set aside.
    """
    boot.state = BootState.DID_NOT_BOOT
    boot.reason = reason
    boot.finished_at = database_now(session)
    run.ending = reason
    restored(run)
    set_aside(session, run, reason)


def measured(session: Session, boot: Boot, job_lasted_s: float | None = None) -> None:
    """Every case of the boot has an answer."""
    boot.job_lasted_s = job_lasted_s
    boot.state = BootState.EFFECTIVE
    boot.finished_at = database_now(session)
    boot.run.consecutive_faults = 0


def tainted(boot: Boot, bits: int) -> None:
    """These bits of the kernel's taint came while the boot was measured."""
    if bits and boot.proof is not None:
        boot.proof = boot.proof.model_copy(update={"tainted_while_measuring": bits})


def unsound(session: Session, boot: Boot, reason: str) -> None:
    """The arm's kernel fails again and again while it is measured: the arm is never compared."""
    boot.state = BootState.NOT_EFFECTIVE
    boot.reason = reason
    boot.finished_at = database_now(session)
    boot.run.consecutive_faults = 0


def skipped(session: Session, boot: Boot, reason: str) -> None:
    """The boot will not be made."""
    boot.state = BootState.SKIPPED
    boot.reason = reason
    boot.finished_at = database_now(session)


def stopped_early(session: Session, run: Run, reason: str) -> None:
    """Nothing is left to decide: the boots that are still planned will not be made."""
    planned = [boot for boot in run.boots if boot.state == BootState.PLANNED]
    run.stopped_after = min(boot.block for boot in planned) - 1
    for boot in planned:
        skipped(session, boot, reason)


def faulted(
    session: Session, run: Run, boot: Boot | None, reason: str, *, serial_tail: str, attempts: int
) -> None:
    """A lab fault: the boot is put aside and, within *attempts*, made again."""
    broke(run)
    if boot is None:
        return
    boot.state = BootState.LAB_FAULT
    boot.reason = reason[:4000]
    boot.serial_tail = boot.serial_tail or serial_tail
    boot.finished_at = database_now(session)
    if _failures(boot) < attempts:
        session.add(again(boot))


def _failures(boot: Boot) -> int:
    """Boots of this arm and block that failed; those of an invalid block did not."""
    failed = (BootState.LAB_FAULT, BootState.DID_NOT_BOOT)
    return sum(
        other.block == boot.block and other.place == boot.place and other.state in failed
        for other in boot.run.boots
    )


def broke(run: Run) -> None:
    """A step failed; what it was about stands as before."""
    run.consecutive_faults += 1


def invalidated_block(session: Session, run: Run, boot: Boot, reason: str) -> None:
    """The host changed under the run: the whole block is made again, the reason kept.

    Deliberately blind to which arm it was, so that nothing is dropped for its value. A block
    that was made again so often that the host cannot stay as it is ends the run.
    """
    newest: dict[int, Boot] = {}
    for other in run.boots:
        if other.block == boot.block:
            newest[other.place] = other
    made = [b for b in newest.values() if b.state not in (BootState.PLANNED, BootState.SKIPPED)]
    for other in made:
        other.state = BootState.INVALID
        other.reason = reason
        other.finished_at = other.finished_at or database_now(session)
    repeats = sum(
        other.block == boot.block and other.place == boot.place and other.state == BootState.INVALID
        for other in run.boots
    )
    if repeats > BLOCK_REPEATS:
        run.ending = f"block {boot.block} was invalid {repeats} times, the last time since {reason}"
        return
    session.add_all(again(other) for other in made)


def again(boot: Boot) -> Boot:
    """A fresh row for the same arm, block and place."""
    return Boot(
        run_id=boot.run_id,
        arm_id=boot.arm_id,
        block=boot.block,
        place=boot.place,
        attempt=boot.attempt + 1,
        state=BootState.PLANNED,
        method=boot.method,
        nonce=new_nonce(),
    )


def restored(run: Run) -> None:
    """The host is as it was before the run."""
    run.tuning_restored = True


def finish(session: Session, run: Run, *, state: RunState, error: str) -> None:
    """The run is over; the experiment with it, if this was its last run. Only rows: no verdict."""
    now = database_now(session)
    run.state = state
    run.step = ""
    run.error = error
    run.finished_at = now
    run.wake_at = None
    for boot in run.boots:
        if boot.state in OPEN_BOOT_STATES:
            skipped(session, boot, error or state)
    session.flush()
    close_experiment(session, run.experiment_id, now)


def close_experiment(session: Session, experiment_id: int, now: datetime) -> None:
    """Settle the experiment's state once none of its runs is open."""
    experiment = session.get(
        Experiment, experiment_id, with_for_update=AGAINST_CHANGES, populate_existing=True
    )
    if experiment is None:
        return
    states = run_rows.states_of_runs(session, experiment_id)
    if states & set(UNFINISHED_RUN_STATES):
        return
    before = {"state": experiment.state}
    experiment.finished_at = now
    experiment.state = _experiment_state(states)
    audit.record(
        session,
        Action.EXPERIMENT_END,
        Subject(SubjectKind.EXPERIMENT, experiment_id),
        before=before,
        after={"state": experiment.state},
    )
    record_event(
        session,
        experiment_id=experiment_id,
        run_id=None,
        kind=experiment.state,
        text=f"experiment {experiment.state}",
    )


def _experiment_state(run_states: Collection[RunState]) -> ExperimentState:
    """A request to cancel that came after the last boot changed nothing."""
    if RunState.CANCELLED in run_states:
        return ExperimentState.CANCELLED
    finished = RunState.FINISHED in run_states
    return ExperimentState.FINISHED if finished else ExperimentState.FAILED


def _log(session: Session, run: Run, kind: str, text: str) -> None:
    record_event(session, experiment_id=run.experiment_id, run_id=run.id, kind=kind, text=text)


def fingerprint_digest(facts: Mapping[str, Any]) -> str:
    """Digest of the facts that must not differ between the boots of a run."""
    return body_digest(orjson.dumps(own_facts(facts), option=orjson.OPT_SORT_KEYS))
