"""Passwords of controllers: in files that nobody else may read, never in an inventory."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pipelines.adapters.power.protocol import PowerError

LONGEST_BYTES = 1024


def read_password(file: str) -> str:
    """The first line of *file*.

    Raises :class:`PowerError` for a file that is missing, empty, or open to others.
    """
    path = Path(file)
    try:
        # A FIFO without a writer would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            _require_own(descriptor, path)
            said = opened.read(LONGEST_BYTES + 1)
    except OSError as error:
        raise PowerError(
            f"The controller's password file {path} cannot be read: {error.strerror}.",
            hint="Write the password into it, and make it readable for the worker's user alone.",
        ) from error
    line = said.partition(b"\n")[0].rstrip(b"\r")
    if not line or len(said) > LONGEST_BYTES:
        raise PowerError(
            f"The controller's password file {path} is empty or longer than {LONGEST_BYTES} bytes.",
            hint="Its first line is the password.",
        )
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise PowerError(
            f"The controller's password file {path} is no UTF-8 text.",
            hint="Its first line is the password.",
        ) from None


def _require_own(descriptor: int, path: Path) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise PowerError(
            f"The controller's password file {path} is no plain file.",
            hint="Write the password into a file of its own.",
        )
    if found.st_mode & 0o077 or found.st_uid not in (os.geteuid(), 0):
        raise PowerError(
            f"The controller's password file {path} is open to other users "
            f"(mode {stat.S_IMODE(found.st_mode):04o}, owner {found.st_uid}).",
            hint=f"As its owner: chmod 600 {path}. Then change the password, since it was open.",
        )
