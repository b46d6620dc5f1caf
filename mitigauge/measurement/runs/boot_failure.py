"""Why a boot fell back, from what its console and the firmware said. Pure.

A console's log is hostile text: marks are looked for, nothing of it is interpreted. Where a log
does not tell, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.runs.boot_evidence import BootProof, WrittenEntry

LONGEST_LINE, LONGEST_STATUS = 240, 40
# As OVMF and other firmwares of EDK II say it; of those that say nothing BootNext may tell.
_LOADS = re.compile(r'BdsDxe: (?:loading|starting|failed to (?:load|start)) Boot[0-9A-F]{4} "')
_NOT_LOADED = re.compile(r'failed to load Boot[0-9A-F]{4} "mitigauge"')
_OURS = '"mitigauge"'
_REFUSED = ("Access Denied", "Security Violation")
# What the system before the boot says last, and a kernel first.
_GOES_DOWN = "reboot: "
_COMMAND_LINE = "Command line: "
_LOGIN = " login:"


@dataclass(frozen=True, slots=True)
class Sign:
    """Words of a console, and what they mean. *loader*: which one must have started the kernel."""

    pattern: re.Pattern[str]
    meaning: str
    loader: str = ""


SIGNS = (
    Sign(
        re.compile(r"bad shim signature|verification requested but nobody cares"),
        "GRUB refused the kernel, as Secure Boot wants a signature that it knows", "grub",
    ),
    Sign(
        # Not of a module of GRUB's own, of which it goes on without.
        re.compile(r"error: (?:file `[^'`]{1,200}(?<!\.mod)' not found|premature end of file"
                   r"|invalid magic number|out of memory|you need to load the kernel)"),
        "GRUB could not load the kernel or its initial RAM disk", "grub",
    ),
    Sign(
        re.compile(r"EFI stub: ERROR: Failed to (?:open|read) file|Failed to load initrd"),
        "the kernel did not find its initial RAM disk on the EFI system partition",
    ),
    Sign(
        re.compile(r"Unable to mount root fs|Cannot open root device|Gave up waiting for root"
                   r"|ALERT!  |dracut: FATAL|dracut-initqueue: Warning: Could not boot"
                   r"|Failed to mount /sysroot|Unable to find root device"),
        "no root file system was found: the kernel or its initial RAM disk may lack a driver of "
        "the disk",
    ),
    Sign(re.compile(r"Kernel panic - not syncing"), "the kernel panicked"),
    Sign(
        re.compile(r"watchdog: BUG: soft lockup|hard LOCKUP|detected stalls on CPUs"),
        "the kernel hung",
    ),
)  # fmt: skip


def cause_of(
    log: str, entry: WrittenEntry | None, nonce: str, proof: BootProof, *, cycled: bool
) -> str:
    """Why the boot of *entry* with that *nonce* did not come up; empty where nobody can tell.

    *log*: of its console, from before its reboot. *proof*: of the system that came up instead.
    *cycled*: the power was cycled, as nothing answered in time.
    """
    lines = [clean_text(line).strip()[:LONGEST_LINE] for line in log.splitlines()]
    own = _own_part([line for line in lines if line], nonce)
    loader = (entry.loader if entry else None) or ""
    causes = (
        _not_taken(entry, proof),
        _not_loaded(own),
        _signed(own, loader),
        _silent(own, nonce, cycled=cycled),
    )
    return next((cause for cause in causes if cause), "")


def _own_part(lines: Sequence[str], nonce: str) -> list[str]:
    """The lines of the boot: behind those of the system before it, and before the fallback's."""
    downs = [place for place, line in enumerate(lines) if _GOES_DOWN in line]
    begin = 0
    for place in downs:
        # The system's last words; a kernel that was started since has its own.
        if any(_COMMAND_LINE in line for line in lines[begin:place]):
            break
        begin = place + 1
    own: list[str] = []
    for line in lines[begin:]:
        others_kernel = _COMMAND_LINE in line and nonce not in line
        others_entry = own and _LOADS.search(line) and _OURS not in line
        if others_kernel or others_entry:
            break
        own.append(line)
    return own


def _not_taken(entry: WrittenEntry | None, proof: BootProof) -> str:
    if entry is None or proof.boot_next is None or entry.entry_id != f"Boot{proof.boot_next}":
        return ""
    return (
        f"the firmware left BootNext as it was ({proof.boot_next}) and started its own order: set "
        "boot_mode_loader: grub for this host"
    )


def _not_loaded(lines: Sequence[str]) -> str:
    line = next((line for line in lines if _NOT_LOADED.search(line)), None)
    if line is None:
        return ""
    status = line.rpartition(": ")[2][:LONGEST_STATUS]
    if status in _REFUSED:
        return (
            f"the firmware refused the kernel ({status}): Secure Boot wants a signature of a key "
            "in its db"
        )
    if status == "Not Found":
        return "the firmware did not find the kernel on the EFI system partition"
    return (
        f"the firmware could not load the kernel ({status}): its file is damaged, or no program of "
        "EFI"
    )


def _signed(lines: Sequence[str], loader: str) -> str:
    for sign in SIGNS:
        if sign.loader and sign.loader != loader:
            continue
        seen = next((line for line in lines if sign.pattern.search(line)), None)
        if seen:
            return f"{sign.meaning} ({seen})"
    return ""


def _silent(lines: Sequence[str], nonce: str, *, cycled: bool) -> str:
    """Of a kernel that surely started: where it stopped."""
    if not any(_COMMAND_LINE in line and nonce in line for line in lines):
        return ""
    if any(_LOGIN in line for line in lines):
        return (
            "it came up to its login and did not answer by network: its network card may lack a "
            "driver, or have another name"
        )
    if cycled:
        return f"nothing came after this line of its console: {lines[-1]}"
    return f"the host was reset, as a watchdog does it, after this line of its console: {lines[-1]}"
