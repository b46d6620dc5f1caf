#!/usr/bin/python
"""Ansible module: the facts that prove which boot is up. Reads only."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_readings import readings
from ansible.module_utils.mitigauge_wire.kernel_log import (
    MOST_LINES,
    explaining,
    kernel_log,
    rejecting,
    tainted,
)

DOCUMENTATION = r"""
module: boot_proof
short_description: Read the facts that prove a boot
description:
  - Boot id, nonce, kernel, build id, command line, what loaded the kernel, every
    vulnerability file, taint with the lines of the kernel's log that explain it, lines of it that
    reject an option of the command line, microcode, and whether the watchdog is running.
  - Judges nothing. What the host does not have is null.
options:
  reads:
    description: Files below C(/sys/module) and C(/proc/sys), without the first slash.
    type: list
    elements: str
    default: []
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "proof: the facts."
  type: dict
  returned: success
"""

BOOT_NEXT = "/sys/firmware/efi/efivars/BootNext-8be4df61-93ca-11d2-aa0d-00e098032b8c"
LOADER_TYPE = "/proc/sys/kernel/bootloader_type"
VULNERABILITIES = Path("/sys/devices/system/cpu/vulnerabilities")
WATCHDOG = Path("/sys/class/watchdog/watchdog0")
NT_GNU_BUILD_ID = 3
# Letters by bit, from Documentation/admin-guide/tainted-kernels.rst
TAINT_LETTERS = "PFSRMBUDAWCIOELKXTNJ"


def build_id(notes: bytes) -> str | None:
    """The GNU build id in ELF notes, as hex; None when there is none."""
    offset = 0
    while offset + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, offset)
        name_at = offset + 12
        at = name_at + (name_size + 3) // 4 * 4
        if kind == NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[at : at + size].hex()
        offset = at + (size + 3) // 4 * 4
    return None


def taint_flags(bits: int) -> list[str]:
    """The letters of the bits set."""
    return [letter for bit, letter in enumerate(TAINT_LETTERS) if bits >> bit & 1]


def nonce_of(cmdline: str) -> str | None:
    """The nonce on a command line, or None."""
    match = re.search(r"(?:^|\s)mitigauge\.nonce=(\S+)", cmdline)
    return match[1] if match else None


def microcode_of(cpuinfo: str) -> str | None:
    """The first processor's microcode, or None."""
    match = re.search(r"^microcode\s*:\s*(\S+)", cpuinfo, re.MULTILINE)
    return match[1] if match else None


def text_of(path: str | Path) -> str | None:
    """A small file's text without surrounding blanks; None when it cannot be read."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def watchdog(device: Path) -> dict[str, str | int | None] | None:
    """What resets the host when it hangs, and whether it is running; None where there is none."""
    if not device.exists():
        return None
    seconds = text_of(device / "timeout")
    return {
        "identity": text_of(device / "identity"),
        "state": text_of(device / "state"),
        "timeout_s": int(seconds) if seconds else None,
    }


def boot_next(variable: Path) -> str | None:
    """The number of the entry that the firmware starts next, as efibootmgr writes it."""
    try:
        # Four bytes of attributes stand before it.
        (number,) = struct.unpack("<H", variable.read_bytes()[4:6])
    except (OSError, struct.error):
        return None
    return f"{number:04X}"


def vulnerabilities(directory: Path) -> dict[str, str]:
    """File name → text of all that the kernel says; empty where it says nothing."""
    if not directory.is_dir():
        return {}
    return {file.name: text_of(file) or "" for file in sorted(directory.iterdir())}


def proof(reads: list[str]) -> dict[str, Any]:
    """All the facts, with the texts of *reads*."""
    cmdline = text_of("/proc/cmdline") or ""
    notes = Path("/sys/kernel/notes")
    taint = tainted()
    uptime = text_of("/proc/uptime")
    loader = text_of(LOADER_TYPE)
    return {
        "boot_id": text_of("/proc/sys/kernel/random/boot_id"),
        "nonce": nonce_of(cmdline),
        "kernel_release": os.uname().release,
        "kernel_version": os.uname().version,
        "build_id": build_id(notes.read_bytes()) if notes.exists() else None,
        "cmdline": cmdline,
        "loader_type": int(loader) if loader else None,
        "vulnerabilities": vulnerabilities(VULNERABILITIES),
        "readings": readings(Path("/"), reads),
        "tainted": taint,
        "taint_flags": None if taint is None else taint_flags(taint),
        "kernel_log": explaining(kernel_log())[:MOST_LINES] if taint else [],
        "rejections": rejecting(kernel_log()),
        "microcode": microcode_of(text_of("/proc/cpuinfo") or ""),
        "watchdog": watchdog(WATCHDOG),
        "uptime_s": float(uptime.split()[0]) if uptime else None,
        "boot_next": boot_next(Path(BOOT_NEXT)),
    }


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={"reads": {"type": "list", "elements": "str", "default": []}},
        supports_check_mode=True,
    )
    try:
        module.exit_json(changed=False, mitigauge={"proof": proof(module.params["reads"])})
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"cannot read the proof of this boot: {error}")


if __name__ == "__main__":
    main()
