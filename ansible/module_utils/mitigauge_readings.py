"""Files of a host by which settings are proven. Reads only.

Parameters of modules, sysctls, and what the kernel says of its processors. Of audit, for which
there is no file, the kernel is asked by netlink (Linux: include/uapi/linux/audit.h, AUDIT_GET).
"""

from __future__ import annotations

import errno
import os
import re
import socket
import struct
from collections.abc import Sequence
from pathlib import Path

WRITABLE = re.compile(r"sys/module/\w+/parameters/\w+|proc/sys(/[\w-]+){2,}", re.ASCII)
AUDIT = "audit/enabled"
READABLE = re.compile(rf"{WRITABLE.pattern}|sys/devices/system/cpu/\w+/\w+|{AUDIT}", re.ASCII)
LONGEST = 4096
_NETLINK_AUDIT, _AUDIT_GET, _REQUEST, _ERROR = 9, 1000, 1, 2
_HEADER, _STATUS = struct.Struct("=IHHII"), struct.Struct("=II")
_ANSWER_S = 2.0


def readings(root: Path, wanted: Sequence[str]) -> dict[str, str | None]:
    """File → its text, at most some KiB of it; None where it cannot be read.

    Raises ValueError for a name that is none of such a file.
    """
    found: dict[str, str | None] = {}
    for name in wanted:
        if not READABLE.fullmatch(name):
            raise ValueError(f"{name!r} is no file that proves a setting")
        try:
            found[name] = _text_of(root, name)
        except OSError:
            found[name] = None
    return found


def _text_of(root: Path, name: str) -> str:
    if name == AUDIT:
        return _audit_enabled()
    return (root / name).read_text(errors="replace").strip()[:LONGEST]


def _audit_enabled() -> str:
    """``1`` where system calls are audited, ``2`` where that is locked too; raises OSError."""
    try:
        asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_AUDIT)
    except OSError as error:
        if error.errno == errno.EPROTONOSUPPORT:
            # The kernel has no audit, or was booted with audit=0.
            return "0"
        raise
    with asked:
        asked.settimeout(_ANSWER_S)
        asked.send(_HEADER.pack(_HEADER.size, _AUDIT_GET, _REQUEST, 1, 0))
        return audit_answer(asked.recv(LONGEST))


def audit_answer(message: bytes) -> str:
    """``enabled`` of a ``struct audit_status`` behind its header. Raises OSError for another."""
    if len(message) < _HEADER.size + _STATUS.size:
        raise OSError("an answer of the kernel about audit is too short")
    kind = _HEADER.unpack_from(message)[1]
    if kind == _ERROR:
        (code,) = struct.unpack_from("=i", message, _HEADER.size)
        raise OSError(-code, os.strerror(-code))
    if kind != _AUDIT_GET:
        raise OSError(f"the kernel answers with message {kind} when asked about audit")
    return str(_STATUS.unpack_from(message, _HEADER.size)[1])
