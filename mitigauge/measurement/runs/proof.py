"""The boot proof: did the host come up in the mode that was asked for? Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field

from mitigauge.measurement.fleet.boot_method import BootMethod, was_by
from mitigauge.measurement.modes.base_options import (
    base_options,
    contradicting,
    kernel_chooses,
)
from mitigauge.measurement.modes.families import Expectation, KnownStates, described, in_force
from mitigauge.measurement.modes.settings import Reading
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.rejected_options import rejected_options
from mitigauge.measurement.runs.states import BootState

# What every x86 kernel shows; an answer without one of these proves nothing.
INDISPENSABLE = ("boot_id", "kernel_release", "build_id", "loader_type", "tainted")


@dataclass(frozen=True, slots=True)
class Requested:
    """What a boot was to be: said by us before the boot, never by the system that came up.

    *build_id*: from our table of kernels, or of the run's first boot of a kernel that we did not
    build; None where neither is known yet. *kernel_version*: read from the image on the host's
    disk before the boot, so that it only tells an image that is not the one that came up.
    *earlier_boot_ids*: of boots that were proven before this one. *options*: words that the command
    line must have.
    """

    nonce: str
    previous_boot_id: str | None
    kernel_release: str
    build_id: str | None
    kernel_version: str | None
    expect: Sequence[Expectation]
    readings: Sequence[Reading] = ()
    method: BootMethod = BootMethod.RESET
    refused: Mapping[str, str] = field(default_factory=dict)
    """Files that could not be written to, each with what the kernel said."""
    earlier_boot_ids: Collection[str] = ()
    options: Sequence[str] = ()
    mode_options: Sequence[str] = ()
    """Those of them that the mode sets: the kernel must not reject one."""
    known_options: Set[str] = frozenset()
    """Names of options that mode families know: those of the host itself are told beside a mode."""
    known_states: KnownStates = field(default_factory=KnownStates)
    """Why the kernel shows states that no mode expects."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The state a boot reached, in words, and what the kernel said of the mode."""

    state: BootState
    reason: str
    observed: str


def judge_boot(proof: BootProof, wanted: Requested) -> Judgement:
    """Tell the outcomes of a boot apart from the facts in *proof*.

    A watchdog's or a panic's fallback also has a new boot id; only the nonce on the
    command line tells it from the boot that was asked for.
    """
    vulnerabilities: Mapping[str, str] = proof.vulnerabilities
    read: Mapping[str, str | None] = proof.readings
    base = base_options(proof.cmdline or "", wanted.options, wanted.known_options)
    rejected = rejected_options(proof.rejections, wanted.mode_options, proof.cmdline or "")
    needless = {e.even_without for e in wanted.expect if e.observed(vulnerabilities) == e.equals}
    observed = "; ".join(
        [
            *_describe(wanted.expect, vulnerabilities),
            *_describe_readings(wanted.readings, read),
            *([f"beside the host's own {', '.join(base)}"] if base else []),
            *(f"by the kernel's own choice ({each})" for each in rejected if each.word in needless),
        ]
    )
    if proof.boot_id in {wanted.previous_boot_id, *wanted.earlier_boot_ids}:
        return Judgement(
            BootState.DID_NOT_BOOT, "the host did not reboot: boot id unchanged", observed
        )
    otherwise = _started_otherwise(proof, wanted)
    if otherwise:
        return Judgement(BootState.DID_NOT_BOOT, otherwise, observed)
    if proof.nonce != wanted.nonce:
        return Judgement(
            BootState.DID_NOT_BOOT,
            "the fallback entry came up: the nonce is not on its command line",
            observed,
        )
    wrong = _wrong_kernel(proof, wanted)
    if wrong:
        return Judgement(BootState.WRONG_KERNEL, wrong, observed)
    missed = [f"{r.title}: {r.equals}" for r in wanted.readings if not r.is_met(read.get(r.path))]
    there = set((proof.cmdline or "").split())
    missed += [f"{word} on the command line" for word in wanted.options if word not in there]
    against = contradicting(base) if kernel_chooses(wanted.options) else []
    if against:
        missed.append(
            f"the kernel's own choice, which the host's own {', '.join(against)} take from it "
            "(remove them from the host's command line)"
        )
    if wanted.expect and not in_force(wanted.expect, vulnerabilities):
        missed[:0] = described(wanted.expect)
    not_taken = [str(each) for each in rejected if each.word not in needless]
    if not missed and not not_taken:
        return Judgement(BootState.EFFECTIVE, "", observed)
    expected = [f"expected {', and '.join(missed)}"] if missed else []
    refused = [f"writing /{path}: {why}" for path, why in wanted.refused.items()]
    reasons = _reasons(wanted, vulnerabilities)
    reason = [*expected, *not_taken, f"the kernel says {observed}", *reasons, *refused]
    return Judgement(BootState.NOT_EFFECTIVE, "; ".join(reason), observed)


def missing_of(proof: BootProof) -> list[str]:
    """Facts that the proof lacks and that every x86 kernel shows."""
    return [name for name in INDISPENSABLE if getattr(proof, name) in (None, "")]


def _started_otherwise(proof: BootProof, wanted: Requested) -> str:
    """Why the system that is up was not started as it was asked for; empty where it was.

    A fallback comes up through the firmware, whatever was asked for: its nonce tells that.
    """
    if "elfcorehdr=" in (proof.cmdline or ""):
        return CRASH_KERNEL
    loader = proof.loader_type or 0
    within = wanted.method is BootMethod.WITHIN
    if within or was_by(loader) is wanted.method:
        return ""
    if was_by(loader) is BootMethod.KEXEC:
        return (
            f"kexec started the kernel (boot loader type {loader:#x}), and a reset was asked for: "
            "set LOAD_KEXEC=false in the host's /etc/default/kexec"
        )
    if proof.nonce == wanted.nonce:
        return f"boot loader type {loader:#x} started the kernel, and kexec was asked for"
    return ""


def _wrong_kernel(proof: BootProof, wanted: Requested) -> str:
    release = proof.kernel_release
    if wanted.kernel_release and release != wanted.kernel_release:
        return f"kernel {release} is up, {wanted.kernel_release} was asked for"
    version = proof.kernel_version
    if wanted.kernel_version and version != wanted.kernel_version:
        return f"build {version!r} is up, the image on disk is {wanted.kernel_version!r}"
    build_id = proof.build_id
    if wanted.build_id and build_id != wanted.build_id:
        return f"build id {build_id} is up, {wanted.build_id} was asked for"
    return ""


# It has the dead kernel's command line, nonce and all, and kexec as its loader.
CRASH_KERNEL = (
    "the arm panicked: the crash kernel of kdump came up (elfcorehdr= on its command line)"
)
NO_FILE = "no such file: this kernel does not tell, nothing can be proven"
# Every file begins with one of these: without one it tells the other.
STATES = ("Vulnerable", "Mitigation", "Not affected")


def _reasons(wanted: Requested, vulnerabilities: Mapping[str, str]) -> list[str]:
    """Why the kernel shows what it shows at the places of the mode, where that is known."""
    reasons: dict[str, None] = {}
    for e in wanted.expect:
        shown = e.observed(vulnerabilities)
        texts = [vulnerabilities.get(e.file, "")]
        if shown is not None and shown != e.equals:
            texts.insert(0, e.model_copy(update={"equals": shown}).state)
        for text in texts:
            if why := wanted.known_states.why_no_mode(e.file, text):
                reasons[f"{e.file}: {text}: {why}"] = None
                break
    return list(reasons)


def _describe_readings(readings: Sequence[Reading], read: Mapping[str, str | None]) -> list[str]:
    """What the host shows of each setting."""
    return [f"{r.title}: {_text_of_file(read.get(r.path))}" for r in readings]


def _text_of_file(text: str | None) -> str:
    return "no such file" if text is None else " ".join(text.split())


def _describe(expect: Sequence[Expectation], vulnerabilities: Mapping[str, str]) -> list[str]:
    """What the kernel shows at the places the expectations look, each place once."""
    shown: dict[str, None] = {}
    for e in expect:
        value = e.observed(vulnerabilities)
        place = f"{e.file}: {e.field}: " if e.field else f"{e.file}: "
        if value is None and e.file not in vulnerabilities:
            shown[f"{e.file}: {NO_FILE}"] = None
        elif value is None:
            silent = "" if e.field in STATES else f" (no {e.field}: nothing can be proven of it)"
            shown[f"{e.file}: {vulnerabilities[e.file]}{silent}"] = None
        else:
            shown[place + value] = None
    return list(shown)
