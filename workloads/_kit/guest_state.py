"""What proves an arm's settings of a guest: its kernel's own words, and its monitor's process."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from _kit.contract import CaseError
from _kit.wire.case import AS_HOST, BETWEEN_STATES, GUEST_RELEASE

# As libvirt starts QEMU.
SANDBOX = {"on": "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"}
# proc_pid_status(5), Seccomp.
STATES = {"0": "off", "1": "strict", "2": "on"}


def release_of(asked: str) -> str:
    """The release that an arm asks for by `asked`, which may be that of this host."""
    release = os.uname().release if asked == AS_HOST else asked
    if not re.fullmatch(GUEST_RELEASE, release):
        raise CaseError(f"guest kernel {release!r} is no kernel's release")
    return release


def kernel_told(asked: str, says: str) -> str:
    """*asked* where the guest's own kernel has that release, else what it says."""
    return asked if says == release_of(asked) else says or "nothing"


def options_told(asked: str, cmdline: str) -> str:
    """Those of the asked options that the guest's own command line has, each once."""
    words = cmdline.split()
    return " ".join(option for option in asked.split() if option in words)


def state_told(asked: str, vulnerabilities: Mapping[str, str]) -> str:
    """*asked*, ``FILE=TEXT`` for each file, with the guest's own text where it says something else.

    A file says a text where that is the whole of it, or one of its parts between semicolons.
    """
    told = []
    for wanted in asked.split(BETWEEN_STATES):
        file, _, text = wanted.partition("=")
        says = vulnerabilities.get(file, "nothing")
        parts = [part.strip() for part in says.split(";")]
        told.append(wanted if text in (says, *parts) else f"{file}={says}")
    return BETWEEN_STATES.join(told)


def sandbox_told(process: int) -> str:
    """Whether the kernel filters each thread of a process: on, off, or what is mixed."""
    found: set[str] = set()
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        said = re.search(r"^Seccomp:\s*(\d+)$", status.read_text(), re.M)
        found.add(STATES.get(said[1], said[1]) if said else "not told")
    return ", ".join(sorted(found))


def require_program(asked: str) -> str:
    """Path of the monitor's program, whose digest is the asked one; CaseError if it is not."""
    path, _, digest = asked.partition(" ")
    try:
        found = _digest(Path(path))
    except OSError as error:
        raise CaseError(f"guest monitor {path}: {error.strerror}: install it on the host") from None
    if found != digest:
        raise CaseError(f"guest monitor {path} has SHA-256 {found}, but the arm asks for {digest}")
    return path


def program_told(process: int) -> str:
    """Path and SHA-256 of the program that a process runs."""
    program = Path(f"/proc/{process}/exe")
    return f"{program.readlink()} {_digest(program)}"


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as program:
        while part := program.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
