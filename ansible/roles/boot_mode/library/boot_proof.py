#!/usr/bin/python
"""Ansible module: the facts that prove which boot is up. Reads only."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: boot_proof
short_description: Read the facts that prove a boot
description:
  - Boot id, nonce, kernel, build id, command line, every vulnerability file, taint, microcode.
  - Judges nothing. What the host does not have is null.
author: Mitigauge
"""

RETURN = r"""
mitigauge:
  description: "proof: the facts."
  type: dict
  returned: success
"""

VULNERABILITIES = Path("/sys/devices/system/cpu/vulnerabilities")
NT_GNU_BUILD_ID = 3
# Letters by bit, from Documentation/admin-guide/tainted-kernels.rst
TAINT_LETTERS = "PFSRMBUDAWCIOELKXTNJ"


def build_id(notes):
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


def taint_flags(tainted):
    """The letters of the bits set."""
    return [letter for bit, letter in enumerate(TAINT_LETTERS) if tainted >> bit & 1]


def nonce_of(cmdline):
    """The nonce on a command line, or None."""
    match = re.search(r"(?:^|\s)mitigauge\.nonce=(\S+)", cmdline)
    return match[1] if match else None


def microcode_of(cpuinfo):
    """The first processor's microcode, or None."""
    match = re.search(r"^microcode\s*:\s*(\S+)", cpuinfo, re.MULTILINE)
    return match[1] if match else None


def text_of(path):
    """A small file's text without its last newline; None when it is not there."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def proof():
    """All the facts."""
    cmdline = text_of("/proc/cmdline") or ""
    notes = Path("/sys/kernel/notes")
    tainted = int(text_of("/proc/sys/kernel/tainted") or 0)
    return {
        "boot_id": text_of("/proc/sys/kernel/random/boot_id"),
        "nonce": nonce_of(cmdline),
        "kernel_release": os.uname().release,
        "kernel_version": os.uname().version,
        "build_id": build_id(notes.read_bytes()) if notes.exists() else None,
        "cmdline": cmdline,
        "vulnerabilities": {
            file.name: text_of(file) or "" for file in sorted(VULNERABILITIES.iterdir())
        },
        "tainted": tainted,
        "taint_flags": taint_flags(tainted),
        "microcode": microcode_of(text_of("/proc/cpuinfo") or ""),
        "uptime_s": float((text_of("/proc/uptime") or "0").split()[0]),
    }


def main():
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    try:
        module.exit_json(changed=False, mitigauge={"proof": proof()})
    except OSError as error:
        module.fail_json(msg="cannot read the proof of this boot: %s" % error)


if __name__ == "__main__":
    main()
