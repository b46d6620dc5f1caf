"""Boot an arm and prove it: arm, wait, verify, and what to do when nobody answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.base_options import known_options
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.boot_evidence import BootProof, WrittenEntry
from mitigauge.measurement.runs.boot_failure import cause_of
from mitigauge.measurement.runs.proof import (
    Judgement,
    Requested,
    judge_boot,
    missing_of,
)
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.measurement.runs.taint import AGAIN, Unsound, of_proof
from pipelines.answers import parse_answer
from pipelines.decision import ATTEMPTS_A_PLACE
from pipelines.host_control import LabFault
from pipelines.host_watch import WATCHED_LOOK_S, Watched
from pipelines.steps.context import Done, StepContext, boot_of
from pipelines.steps.host_evidence import is_unsound_again

ANSWER_WAIT_S = 60.0
GOING_DOWN_S = 8.0
WATCH_S = 20.0
WATCH_INTERVAL_S = 0.5
OVERDUE_S = 1.0


def arm(context: StepContext) -> Done:
    """Write the one-shot entry and reboot into it; or leave the block's boot for *verify* to
    apply the arm in.
    """
    boot = context.boot
    shared = _boot_to_share(context.run, boot)
    if shared is not None:
        return _share(context, shared)
    # A worker killed right after the reboot leaves a host that is on its way up.
    if not _answers_within(context, ANSWER_WAIT_S):
        return _unanswered_before_reboot(context)
    offset = context.host.serial_offset()
    facts = context.host.arm(
        nonce=boot.nonce,
        cmdline=requested_cmdline(context.run, boot),
        kernel=boot.arm.release_in(boot.block),
        method=_own_method(boot),
    )
    entry = parse_answer(WrittenEntry, facts, "the boot entry")

    def apply(session: Session, run: Run) -> None:
        current = boot_of(run, boot.id)
        current.method = _own_method(boot)
        outcomes.armed(session, current, entry, offset)

    return Done(apply, event=f"block {boot.block}: booting {boot.arm.name}")


def _own_method(boot: Boot) -> BootMethod:
    """How a boot is made that shares none: through the firmware, where nothing else is said."""
    method = boot.method
    return BootMethod.RESET if method is BootMethod.WITHIN else method


def _boot_to_share(run: Run, boot: Boot) -> Boot | None:
    """The block's boot that is up and proven; None where *boot* must be one of its own.

    After one that failed the host may be in its fallback.
    """
    if boot.method != BootMethod.WITHIN:
        return None
    made = [
        (other.started_at, other.id, other)
        for other in run.boots
        if other.block == boot.block and other.started_at and other.id != boot.id
    ]
    last = max(made)[-1] if made else None
    if last is None or last.state not in (BootState.EFFECTIVE, BootState.NOT_EFFECTIVE):
        return None
    return last


def _share(context: StepContext, other: Boot) -> Done:
    boot = context.boot
    offset = context.host.serial_offset()
    return Done(
        lambda session, run: outcomes.shares(
            session, boot_of(run, boot.id), boot_of(run, other.id), offset
        ),
        event=f"block {boot.block}: applying {boot.arm.name} within the block's boot",
    )


def _unanswered_before_reboot(context: StepContext) -> Done:
    """The host hangs: it is power-cycled once for this boot, and given a boot's time to answer."""
    boot = context.boot
    prepared = context.run.prepared
    limit_s = (prepared.boot_timeout_s if prepared else None) or ANSWER_WAIT_S
    if boot.revived and context.seconds_since(boot.rebooted_at) > limit_s:
        raise LabFault(
            "the host does not answer before its reboot, nor after a power cycle",
            hint="See its serial log.",
        )
    if boot.revived:
        return Done(lambda _session, _run: None, outcome="silent")
    context.host.power_cycle()
    return Done(
        lambda session, run: outcomes.revived(session, boot_of(run, boot.id)),
        outcome="silent",
        event=f"block {boot.block}: no answer before the reboot of {boot.arm.name}; power cycled",
    )


def requested_cmdline(run: Run, boot: Boot) -> str:
    """The mode's part of the command line; an emulated host gets the lab's additions."""
    extra = boot.arm.lab_cmdline if run.host.emulated else ""
    return f"{extra} {boot.arm.cmdline}".strip()


def await_answer(context: StepContext) -> Done:
    """Wait for the SSH banner; the decision when to give up is not made here."""
    boot = context.boot
    since_s = context.seconds_since(boot.rebooted_at)
    # Before that, what answers is the system that is about to go down.
    young_for_s = max(GOING_DOWN_S - since_s, 0.0)
    reboot = f"{boot.id} {boot.rebooted_at}"
    watch = context.watch
    state = watch.state(context.run.id, reboot)
    if state is Watched.NOT and watch.await_greeting(
        context.run.id, reboot, context.place, young_for_s
    ):
        state = Watched.WAITS
    if state is Watched.WAITS:
        again_in_s = _until_given_up_s(context, since_s)
        return Done(lambda _session, _run: None, outcome="silent", again_in_s=again_in_s)
    time.sleep(young_for_s)
    answered = _answers_within(context, WATCH_S)

    def apply(session: Session, run: Run) -> None:
        if answered:
            outcomes.up(session, boot_of(run, boot.id))

    return Done(apply, outcome="up" if answered else "silent")


def _until_given_up_s(context: StepContext, since_s: float) -> float:
    """Seconds until a run whose host is watched looks by itself: when its boot is overdue."""
    prepared = context.run.prepared
    limit_s = (prepared.boot_timeout_s if prepared else None) or WATCHED_LOOK_S
    return min(max(limit_s - since_s, 0.0) + OVERDUE_S, WATCHED_LOOK_S)


def power_cycle(context: StepContext) -> Done:
    """Keep what the console said, then cycle the power so that the fallback comes up.

    First a look: the time may have passed while no worker was there to look, or a worker that
    was lost has cycled it already.
    """
    boot = context.boot
    if context.host.answers():
        return Done(
            lambda session, run: outcomes.up_uncycled(session, boot_of(run, boot.id)), outcome="up"
        )
    tail = context.host.serial_tail(boot.serial_offset)
    context.host.power_cycle()
    reason = context.action.reason

    def apply(session: Session, run: Run) -> None:
        outcomes.power_cycled(session, boot_of(run, boot.id), reason, tail)

    return Done(apply, event=f"block {boot.block}: {boot.arm.name}: {reason}; power cycled")


def lost(context: StepContext) -> Done:
    """Give the host up, after a last look."""
    boot, reason = context.boot, context.action.reason
    if context.host.answers():
        return _up(boot)
    return Done(
        lambda session, run: outcomes.lost(session, run, boot_of(run, boot.id), reason),
        outcome="lab_fault",
        detail=reason,
        event=f"block {boot.block}: {boot.arm.name}: {reason}",
    )


def _up(boot: Boot) -> Done:
    return Done(lambda session, run: outcomes.up(session, boot_of(run, boot.id)), outcome="up")


def verify(context: StepContext) -> Done:
    """Read the proof and judge it."""
    boot, settings = context.boot, context.boot.arm.settings
    shared = boot.method == BootMethod.WITHIN
    young = not shared and context.seconds_since(boot.rebooted_at) < ANSWER_WAIT_S
    writes = {write.path: write.equals for write in settings.writes()}
    try:
        facts = context.host.verify(
            [reading.path for reading in settings.readings()],
            writes if boot.arm.shares_boots else None,
        )
    except LabFault:
        if young:
            return _wait_on(boot)
        raise
    proof = parse_answer(BootProof, facts["proof"], "the proof")
    if young and proof.boot_id == boot.previous_boot_id:
        return _wait_on(boot)
    _require_whole(context.run, proof)
    _require_clock(context.run, facts)
    _require_same_boot(context, proof)
    known = known_options(context.catalog.families.values())
    requested = _requested(context.run, boot, facts.get("refused", {}))
    judgement = judge_boot(
        proof,
        replace(requested, known_options=known, known_states=context.catalog.known_states),
    )
    taint = of_proof(proof, emulated=context.run.host.emulated)
    unsound = taint.reason if taint else ""
    if taint and judgement.state is BootState.EFFECTIVE and _is_the_arms(context, taint):
        judgement = replace(judgement, state=BootState.NOT_EFFECTIVE, reason=unsound + AGAIN)
    tail = "" if judgement.state is BootState.EFFECTIVE else _tail(context)
    if judgement.state is BootState.DID_NOT_BOOT:
        judgement = _with_cause(context, judgement, proof)
    fingerprint = facts.get("fingerprint", {})

    def apply(session: Session, run: Run) -> None:
        current = boot_of(run, boot.id)
        outcomes.verified(
            session, current, judgement, proof, fingerprint, tail, attempts=ATTEMPTS_A_PLACE
        )
        changed = unsound or _changed_host(run, current)
        if judgement.state is BootState.EFFECTIVE and changed:
            outcomes.invalidated_block(session, run, current, changed)

    return Done(
        apply,
        outcome=judgement.state,
        detail=judgement.reason,
        event=_in_words(boot, judgement, unsound),
    )


def _is_the_arms(context: StepContext, taint: Unsound) -> bool:
    """Whether the arm's kernel is at fault; never where the boot is shared with other arms."""
    shared = context.boot.method == BootMethod.WITHIN
    return not shared and is_unsound_again(context.run, context.boot, taint)


def _require_whole(run: Run, proof: BootProof) -> None:
    """Refuse a proof that lacks what every kernel shows: nothing can be held against it."""
    missing = missing_of(proof)
    if missing:
        raise LabFault(
            f"{run.host.name} does not say its {', '.join(missing)}",
            hint="Every x86 kernel shows these below /proc and /sys; look at the host.",
        )


def _require_clock(run: Run, facts: Mapping[str, Any]) -> None:
    """Refuse to measure in other time than the run was planned for."""
    clock = facts.get("fingerprint", {}).get("clock", run.clock)
    if clock != run.clock:
        raise LabFault(
            f"{run.host.name} is in {clock} time, and its run was submitted for {run.clock} time",
            hint=f"Start it as it was, or submit the experiment again: {run.host.name}'s figures "
            "in one time say nothing of those in the other.",
        )


def _require_same_boot(context: StepContext, proof: BootProof) -> None:
    """Refuse to apply an arm within another boot than the other arms of its block had."""
    boot = context.boot
    within = boot.armed.boot_id if boot.armed else None
    if within is not None and proof.boot_id != within:
        raise LabFault(
            f"{context.run.host.name} rebooted by itself within block {boot.block}",
            hint="The arm gets a boot of its own. See the host's serial log.",
        )


def skip(context: StepContext) -> Done:
    """Leave out a boot that can tell nothing."""
    boot, reason = context.boot, context.action.reason
    return Done(
        lambda session, run: outcomes.skipped(session, boot_of(run, boot.id), reason),
        detail=reason,
        event=f"block {boot.block}: {boot.arm.name} skipped: {reason}",
    )


def _answers_within(context: StepContext, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not context.host.answers():
        if time.monotonic() > deadline:
            return False
        time.sleep(WATCH_INTERVAL_S)
    return True


def _wait_on(boot: Boot) -> Done:
    """What answered was the old system on its way down: watch for the new one."""
    return Done(
        lambda _, run: outcomes.still_the_old_boot(boot_of(run, boot.id)),
        outcome="still going down",
        again_in_s=2.0,
    )


def _requested(run: Run, boot: Boot, refused: Mapping[str, str]) -> Requested:
    """What the boot must show, from our own rows wherever these know it."""
    entry = boot.armed
    if entry is None:
        raise LabFault(f"boot {boot.id} was never told to boot")
    shared = boot.method == BootMethod.WITHIN
    proven = _proven_before(run, boot)
    release = boot.arm.release_in(boot.block)
    alike = [p for other, p in proven if other.arm.release_in(other.block) == release]
    return Requested(
        # A shared boot has the nonce that it was made with, which our row of it says.
        nonce=entry.nonce if shared and entry.nonce else boot.nonce,
        previous_boot_id=boot.previous_boot_id,
        kernel_release=release or _first(alike, "kernel_release") or entry.kernel_release,
        build_id=_wanted_build_id(run, release) or _first(alike, "build_id") or None,
        kernel_version=entry.kernel_version,
        expect=boot.arm.expect,
        readings=boot.arm.settings.readings(),
        method=boot.method,
        refused=refused,
        earlier_boot_ids=() if shared else {str(proof.boot_id) for _, proof in proven},
        options=requested_cmdline(run, boot).split(),
        mode_options=boot.arm.cmdline.split(),
    )


def _wanted_build_id(run: Run, release: str) -> str:
    """Of the release's build in our table when the run was prepared; empty for one of others."""
    build = run.kernels.get(release)
    return build.build_id if build else ""


def _proven_before(run: Run, boot: Boot) -> list[tuple[Boot, BootProof]]:
    """Other boots of the run that came up as they were to, with their proofs, in their order."""
    counted = (BootState.EFFECTIVE, BootState.MEASURING, BootState.NOT_EFFECTIVE)
    made = [other for other in run.boots if other.id != boot.id and other.state in counted]
    return [(other, other.proof) for other in made if other.proof]


def _first(proofs: Sequence[BootProof], name: str) -> str:
    """What the first of the proofs says; empty where there is none."""
    return str(getattr(proofs[0], name) or "") if proofs else ""


def _changed_host(run: Run, current: Boot) -> str:
    """Why the host is another than in the block's earlier boots; empty when it is not."""
    for other in run.boots:
        counts = other.state in (BootState.EFFECTIVE, BootState.MEASURING)
        comparable = other.block == current.block and counts and other.fingerprint_id
        if comparable and other.fingerprint_id != current.fingerprint_id:
            return "the host's fingerprint changed within the block"
    return ""


def _tail(context: StepContext) -> str:
    return context.host.serial_tail(context.boot.serial_offset)


def _with_cause(context: StepContext, judgement: Judgement, proof: BootProof) -> Judgement:
    """Say why a boot did not come up, where its console or the firmware tells."""
    boot = context.boot
    log = context.host.serial_log(boot.serial_offset)
    cause = cause_of(log, boot.armed, boot.nonce, proof, cycled=boot.power_cycled)
    return replace(judgement, reason=f"{judgement.reason}; {cause}") if cause else judgement


def _in_words(boot: Boot, judgement: Judgement, unsound: str) -> str:
    words = {
        BootState.EFFECTIVE: f"in force ({judgement.observed})",
        BootState.NOT_EFFECTIVE: f"not effective: {judgement.reason}",
        BootState.WRONG_KERNEL: f"wrong kernel: {judgement.reason}",
        BootState.DID_NOT_BOOT: f"did not boot: {judgement.reason}",
    }[judgement.state]
    if judgement.state is BootState.EFFECTIVE:
        words = unsound or words
    return f"block {boot.block}: {boot.arm.name}: {words}"
