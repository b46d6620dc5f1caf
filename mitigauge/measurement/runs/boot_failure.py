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

# Of what is quoted; a command line has its nonce behind far more.
LONGEST_LINE, LONGEST_READ = 240, 8192
# As OVMF and other firmwares of EDK II say it; of those that say nothing BootNext may tell.
_LOADS = re.compile(r'BdsDxe: (?:loading|starting|failed to (?:load|start)) Boot[0-9A-F]{4} "')
_NOT_LOADED = re.compile(r'failed to load Boot[0-9A-F]{4} "mitigauge"')
_OURS = '"mitigauge"'
# EFI_STATUS as EDK II prints it, and what it says of a kernel that was not loaded.
_STATUS = {
    "Access Denied": "Secure Boot wants a signature of a key in its db",
    "Security Violation": "Secure Boot wants a signature of a key in its db",
    "Not Found": "its file is not on the EFI system partition",
    "Unsupported": "its file is damaged, or no program of EFI",
    "Load Error": "its file is damaged, or no program of EFI",
    "Volume Corrupted": "the EFI system partition is damaged",
    "Device Error": "the disk could not be read",
    "Time out": "the disk did not answer",
    "Out of Resources": "the firmware has not enough memory for it",
}
# What the system before the boot says last, and a kernel first.
_GOES_DOWN = "reboot: "
_COMMAND_LINE = "Command line: "
_FIRST_LINE = "] Linux version "
# Of whatever starts the fallback, whose kernel may itself be quiet.
_LOADER_LINE = re.compile(
    r"^(?:Welcome to GRUB!|GNU GRUB|Loading Linux \S|EFI stub: |SeaBIOS |BdsDxe: )"
)
# A kernel's line may stand behind the prompt, and others below it.
_KERNEL_LINE = re.compile(r"\[ {0,8}\d{1,9}\.\d{1,6}\](?:\[[^]]{1,20}\])? (.*)")
_LOGIN = re.compile(r"\S{1,64} login:(?: (.*))?")
_AFTER_LOGIN = re.compile(
    r"Oops|BUG|WARNING|panic|Call Trace|RIP:|lockup|stall|hung|blocked for more|I/O error|reboot:"
    r"|Last login|(?:emergency|rescue) mode"
)
# A processor that was stuck may go on; it counts among the last lines alone.
LAST_LINES = 30


@dataclass(frozen=True, slots=True)
class Sign:
    """Words of a console, and what they mean. *loader*: which one must have started the kernel."""

    pattern: re.Pattern[str]
    meaning: str
    loader: str = ""


# Before a kernel has said its command line: what was to start it.
BEFORE = (
    Sign(
        re.compile(r"bad shim signature|verification requested but nobody cares"),
        "GRUB refused the kernel, as Secure Boot wants a signature that it knows", "grub",
    ),
    Sign(
        # Of the kernel's own files: modules and fonts it goes on without.
        re.compile(r"error: (?:file `[^'`]{0,150}(?:vmlinu[zx]|initrd|initramfs)[^'`]{0,100}' not"
                   r"|you need to load the kernel)"),
        "GRUB could not load the kernel or its initial RAM disk", "grub",
    ),
    Sign(
        re.compile(r"EFI stub: ERROR: Failed to (?:open|read) file"),
        "the kernel did not find its initial RAM disk on the EFI system partition",
    ),
)  # fmt: skip
# After it: what became of the kernel. Its author writes these lines too, and blames but itself.
NO_ROOT = "no root file system was found: kernel or initial RAM disk may lack the disk's driver"
AFTER = (
    Sign(re.compile(r"Unable to mount root fs|Cannot open root device"), NO_ROOT),
    # Not of a guest, whose lines stand behind a program's name.
    Sign(re.compile(r"(?:^|\] )Kernel panic - not syncing"), "the kernel panicked"),
)
# Of an initial RAM disk; a login after it tells that it went on.
BEFORE_LOGIN = (
    Sign(
        re.compile(r"Gave up waiting for root|dracut: FATAL: (?:No or empty root|Don't know how)"
                   r"|dracut-initqueue: Warning: Could not boot|Unable to find root device"),
        NO_ROOT,
    ),
    Sign(
        re.compile(r"Failed to mount (?:sysroot\.mount|/sysroot)"),
        "the root file system could not be mounted",
    ),
)  # fmt: skip
_STUCK = Sign(
    re.compile(r"watchdog: BUG: soft lockup|hard LOCKUP|detected stalls on CPUs"), "the kernel hung"
)


def cause_of(
    log: str, entry: WrittenEntry | None, nonce: str, proof: BootProof, *, cycled: bool
) -> str:
    """Why the boot of *entry* with that *nonce* did not come up; empty where nobody can tell.

    *log*: of its console, from before its reboot. *proof*: of the system that came up instead.
    *cycled*: the power was cycled, as nothing answered in time.
    """
    lines = [clean_text(line[:LONGEST_READ]).strip() for line in log.splitlines()]
    own = _own_part([line for line in lines if line], nonce)
    loader = (entry.loader if entry else None) or ""
    begins = [i for i, line in enumerate(own) if _COMMAND_LINE in line and nonce in line]
    if begins:
        # It was started: what firmware or GRUB said before did no harm.
        return _of_kernel(own[begins[0] + 1 :], cycled=cycled)
    return _not_taken(entry, proof) or _not_loaded(own) or _sign_of(own, BEFORE, loader)


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
    started = False
    for line in lines[begin:]:
        others_kernel = (_COMMAND_LINE in line and nonce not in line) or (
            started and (_FIRST_LINE in line or _LOADER_LINE.search(line))
        )
        started = started or _COMMAND_LINE in line
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
    line = next((line for line in lines if _NOT_LOADED.search(line)), "")
    status = line.rpartition(": ")[2]
    meaning = _STATUS.get(status)
    return f"the firmware did not load the kernel ({status}): {meaning}" if meaning else ""


def _sign_of(lines: Sequence[str], signs: Sequence[Sign], loader: str = "") -> str:
    for sign in signs:
        if sign.loader and sign.loader != loader:
            continue
        seen = next((line for line in lines if sign.pattern.search(line)), None)
        if seen:
            return f"{sign.meaning} ({seen[:LONGEST_LINE]})"
    return ""


def _of_kernel(lines: Sequence[str], *, cycled: bool) -> str:
    """Of a kernel that surely started: how it ended, by the *lines* after its command line."""
    logins = [place for place, line in enumerate(lines) if _LOGIN.fullmatch(line)]
    sign = _sign_of(lines, AFTER) or ("" if logins else _sign_of(lines, BEFORE_LOGIN))
    sign = sign or _sign_of(lines[-LAST_LINES:], [_STUCK])
    if sign or not lines:
        return sign
    # Firmware and a loader of the fallback may stand behind.
    of_kernel = [line for line in lines if _KERNEL_LINE.search(line)]
    last = f"its kernel's last line on the console: {(of_kernel or lines)[-1][:LONGEST_LINE]}"
    if cycled and logins and not any(map(_AFTER_LOGIN.search, lines[logins[-1] :])):
        return (
            "it came up to its login and did not answer by network: its network card may lack a "
            f"driver, or have another name; or it hung later; {last}"
        )
    return f"it did not answer in time; {last}" if cycled else f"the host was reset; {last}"
