"""``mitigauge host check --try``: one proven boot on a host, and the way back to its own kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from mitigauge.core.errors import MitigaugeError
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.check import Item, State
from mitigauge.measurement.runs.boot_evidence import WrittenEntry
from mitigauge.measurement.runs.plan import new_nonce
from mitigauge.measurement.runs.proof import Requested, judge_boot, missing_of
from mitigauge.measurement.runs.states import BootState
from pipelines.answers import parse_answer
from pipelines.host_control import Facts
from pipelines.next_boot import Bootable, next_boot

# What to look at where a boot for one time was not the one that came up, by what was to start it.
LOOKS = {
    "grub": "See the host's console while it boots; GRUB must read /boot/grub/custom.cfg.",
    "efi": "See the host's console while it boots, and `efibootmgr -v` on the host; with "
    "boot_mode_loader: grub in the inventory GRUB starts it instead.",
}


class Triable(Bootable, Protocol):
    """What of a host a trial needs."""

    def check(self, reads: Sequence[str]) -> Facts: ...
    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Facts: ...
    def power_cycle(self) -> None: ...
    def reboot(self) -> None: ...
    def restore(self) -> Facts: ...
    def put_back(self) -> Facts: ...


def tried(
    host: Triable, tell: Callable[[str], None], *, boot_timeout_s: float, has_power: bool
) -> Iterator[Item]:
    """A boot of the default kernel that proves itself, then the fallback, item by item.

    The way back is a power cycle where the host has a controller, so that this is proven too.
    What fails is an item that is missing; the boot entry is removed in any case. A host that
    nobody had changed is left so, without a record of changes. Raises nothing.
    """
    try:
        changed = host.check([])["changed"]
    except MitigaugeError as error:
        yield _failed("trial", error)
        return
    try:
        yield from _boot(host, tell, boot_timeout_s)
        yield from _fallback(host, tell, boot_timeout_s, has_power=has_power)
    except MitigaugeError as error:
        yield _failed("trial", error)
    finally:
        yield from _left_as_it_was(host, tell, changed=changed)


def _left_as_it_was(host: Triable, tell: Callable[[str], None], *, changed: bool) -> Iterator[Item]:
    """Nothing where all went; *changed*: a run changed the host before, and may go on with that."""
    tell("removing the boot entry")
    try:
        host.restore()
        if not changed:
            host.put_back()
    except MitigaugeError as error:
        yield Item(
            "restore", State.MISSING, error.message,
            "`mitigauge host restore` removes the boot entry once the host answers.",
        )  # fmt: skip


def _failed(name: str, error: MitigaugeError) -> Item:
    return Item(name, State.MISSING, error.message, error.hint or "")


def _boot(host: Triable, tell: Callable[[str], None], limit_s: float) -> Iterator[Item]:
    tell("a boot of the default kernel, through the one-shot entry")
    nonce, begun = new_nonce(), time.monotonic()
    facts = host.arm(nonce=nonce, cmdline="", kernel="", method=BootMethod.RESET)
    entry = parse_answer(WrittenEntry, facts, "the boot entry")
    proof = next_boot(host, entry.previous_boot_id, limit_s)
    if proof is None:
        yield _silent("proven boot", limit_s)
        return
    missing = missing_of(proof)
    if missing:
        yield Item(
            "proven boot", State.MISSING, f"the system that came up does not say its "
            f"{', '.join(missing)}", "Every x86 kernel shows these below /proc and /sys.",
        )  # fmt: skip
        return
    judgement = judge_boot(
        proof,
        Requested(
            nonce=nonce,
            previous_boot_id=entry.previous_boot_id,
            kernel_release=entry.kernel_release,
            build_id=None,
            kernel_version=entry.kernel_version,
            expect=[],
        ),
    )
    took = f"{time.monotonic() - begun:.0f} s"
    if judgement.state is BootState.EFFECTIVE:
        found = f"kernel {proof.kernel_release} came up with its nonce after {took}"
        yield Item("proven boot", State.OK, found)
    else:
        yield Item(
            "proven boot", State.MISSING, f"{judgement.reason} (after {took})",
            LOOKS.get(entry.loader or "", LOOKS["grub"]),
        )  # fmt: skip


def _fallback(
    host: Triable, tell: Callable[[str], None], limit_s: float, *, has_power: bool
) -> Iterator[Item]:
    how = "a power cycle" if has_power else "a reboot"
    tell(f"the way back, by {how}")
    if not host.answers():
        if not has_power:
            yield Item(
                "fallback", State.MISSING, "the host does not answer, and nothing can switch it",
                "Switch it off and on by hand; it comes up with its own kernel.",
            )  # fmt: skip
            return
        before = None
    else:
        before = host.look().boot_id
    begun = time.monotonic()
    if has_power:
        host.power_cycle()
    else:
        host.reboot()
    proof = next_boot(host, before, limit_s)
    if proof is None:
        yield _silent("fallback", limit_s)
    elif proof.nonce:
        yield Item(
            "fallback", State.MISSING, f"the entry of one boot came up again after {how}",
            "What starts it does not forget it: GRUB's environment must be writable for GRUB "
            "itself; of a firmware that keeps BootNext see docs/metal.md.",
        )  # fmt: skip
    else:
        took = f"{time.monotonic() - begun:.0f} s"
        found = f"its own kernel {proof.kernel_release} came up {took} after {how}"
        yield Item("fallback", State.OK, found)


def _silent(name: str, limit_s: float) -> Item:
    return Item(
        name, State.MISSING, f"no answer within {limit_s:.0f} s",
        "See its console; mitigauge_boot_timeout_s of the inventory says how long a boot may take.",
    )  # fmt: skip
