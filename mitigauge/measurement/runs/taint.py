"""What a kernel's taint says of figures: a table by letter, and what follows for a boot. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.measurement.runs.boot_evidence import BootProof


class Follows(StrEnum):
    """What follows from a taint."""

    NOTHING = "nothing"
    HOST = "the block is made again: the host is at fault, whatever the arm"
    KERNEL = (
        "the block is made again, since once may be chance; a second such boot of the arm is not "
        "effective, and the arm is not booted again"
    )


@dataclass(frozen=True, slots=True)
class Taint:
    """One bit of /proc/sys/kernel/tainted: what it means, what follows, and why."""

    letter: str
    means: str
    follows: Follows
    why: str


# By bit: include/linux/panic.h, Documentation/admin-guide/tainted-kernels.rst (7.2).
TAINTS: dict[int, Taint] = {
    0: Taint("P", "a proprietary module was loaded", Follows.NOTHING, "the same in every arm"),
    1: Taint(
        "F", "a module was loaded by force", Follows.HOST,
        "it was built for another kernel and may change anything",
    ),
    2: Taint(
        "S", "the processor is out of specification", Follows.HOST,
        "its features were forced (setcpuid=, clearcpuid=), or its microcode is old: update it",
    ),
    3: Taint(
        "R", "a module was unloaded by force", Follows.HOST, "the kernel may use what is gone",
    ),
    4: Taint(
        "M", "a machine check was logged", Follows.HOST, "the processor or its memory failed",
    ),
    5: Taint(
        "B", "a page of memory was found in a bad state", Follows.KERNEL,
        "memory is damaged, and pages are leaked from then on",
    ),
    6: Taint("U", "somebody asked for it", Follows.NOTHING, "it says nothing of the kernel"),
    7: Taint(
        "D", "the kernel oopsed", Follows.KERNEL,
        "a task died inside the kernel, with its locks held and its work undone",
    ),
    8: Taint("A", "an ACPI table was replaced", Follows.NOTHING, "the same in every arm"),
    9: Taint(
        "W", "the kernel warned", Follows.KERNEL,
        "something is not as its authors expect, and the printing itself costs",
    ),
    10: Taint("C", "a staging driver was loaded", Follows.NOTHING, "the same in every arm"),
    11: Taint("I", "firmware is worked around", Follows.NOTHING, "the same in every arm"),
    12: Taint("O", "a module from elsewhere was loaded", Follows.NOTHING, "the same in every arm"),
    13: Taint("E", "an unsigned module was loaded", Follows.NOTHING, "the same in every arm"),
    14: Taint(
        "L", "a processor was stuck in the kernel", Follows.KERNEL,
        "no figure of a processor that stood still for seconds is one of work",
    ),
    15: Taint("K", "the kernel was patched while it ran", Follows.NOTHING, "the same in every arm"),
    16: Taint("X", "the distribution's own mark", Follows.NOTHING, "it says nothing of the kernel"),
    17: Taint("T", "structures are in random order", Follows.NOTHING, "a choice of its build"),
    18: Taint("N", "a test was run in the kernel", Follows.NOTHING, "tests are over at once"),
    19: Taint("J", "firmware was talked to directly", Follows.NOTHING, "the same in every arm"),
}  # fmt: skip
# What forced features of an emulated host's processor show, which the lab needs.
OUT_OF_SPEC = 1 << 2
# What stands behind the reason where the arm is at fault.
AGAIN = "; so it was in an earlier boot of the arm"
# So many lines of the kernel's log stand in a reason, each so long.
LINES, LONGEST_PART = 2, 160


@dataclass(frozen=True, slots=True)
class Unsound:
    """Why the figures of a boot are not those of a sound kernel."""

    reason: str
    by_kernel: bool
    """Whether the kernel did it by itself, so that it may be the arm's."""


def unsound(
    tainted: int | None, log: Sequence[str] = (), *, emulated: bool, when: str = ""
) -> Unsound | None:
    """What follows from the bits of a taint; None where nothing does.

    *log*: the kernel's lines about it, as hostile as they came, but cleaned. *when*: in words,
    with a blank before it.
    """
    bits = (tainted or 0) & ~(OUT_OF_SPEC if emulated else 0)
    told = [taint for bit, taint in TAINTS.items() if bits >> bit & 1]
    grave = [taint for taint in told if taint.follows is not Follows.NOTHING]
    if not grave:
        return None
    words = "; ".join(f"{taint.means} (taint {taint.letter}){when}: {taint.why}" for taint in grave)
    lines = [" ".join(line.split())[:LONGEST_PART] for line in log[:LINES]]
    said = f"; its log: {' | '.join(lines)}" if lines else ""
    by_host = any(taint.follows is Follows.HOST for taint in grave)
    return Unsound(words + said, by_kernel=not by_host)


def of_proof(proof: BootProof, *, emulated: bool) -> Unsound | None:
    """What the taint says that a boot showed before anything was measured."""
    return unsound(proof.tainted, proof.kernel_log, emulated=emulated)


def is_the_arms(own: Unsound, earlier: Collection[BootProof], *, emulated: bool) -> bool:
    """Whether the arm's kernel is at fault: an *earlier* boot of the arm was unsound by itself too.

    Once may be chance, and says nothing of the arm.
    """
    return own.by_kernel and any(
        (before := unsound((p.tainted or 0) | p.tainted_while_measuring, emulated=emulated))
        and before.by_kernel
        for p in earlier
    )
