"""Mails as a mail server, fetchmail or mbsync delivers them: files of a Maildir.

The standard library's ``mailbox.Maildir`` reads a mail whole before anybody can say how large it
may be, and follows links; so files are opened here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.mail import LARGEST_MAIL

MOST_AT_ONCE = 200
# Some take longer to read the more heads there are.
LARGEST_HEADS = 256 << 10
_END_OF_HEADS = re.compile(rb"\r?\n\r?\n")
# What a name says of a mail that was seen.
_SEEN = ":2,S"


@dataclass(frozen=True, slots=True)
class Delivered:
    """One new mail, not yet read."""

    path: Path

    @property
    def name(self) -> str:
        """Its file's name, fit to be shown."""
        return clean_text(self.path.name)[:100]

    def read(self) -> bytes | None:
        """Its bytes; None for what is no mail: no regular file, or too large (heads too)."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            # A link. What cannot be read just now stays where it is.
            if error.errno == errno.ELOOP:
                return None
            raise
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_MAIL:
                return None
            with open(descriptor, "rb", closefd=False) as file:
                content = file.read(LARGEST_MAIL + 1)
        finally:
            os.close(descriptor)
        fits = len(content) <= LARGEST_MAIL and _END_OF_HEADS.search(content, 0, LARGEST_HEADS)
        return content if fits else None

    def seen(self) -> None:
        """Move it from ``new`` to ``cur``: it was dealt with."""
        name = self.path.name
        target = self.path.parent.parent / "cur" / (name if ":2," in name else name + _SEEN)
        # Somebody may have taken it away meanwhile.
        with suppress(FileNotFoundError):
            self.path.rename(target)


def delivered(directory: Path) -> Sequence[Delivered]:
    """New mails, the oldest first, at most 200. Raises NotFound for what is no Maildir."""
    if not (directory / "new").is_dir() or not (directory / "cur").is_dir():
        raise NotFound(
            f"{directory} is no Maildir", hint="It has the folders new, cur and tmp: `maildirmake`."
        )
    with os.scandir(directory / "new") as entries:
        found = [
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
            for entry in entries
            if not entry.name.startswith(".")
        ]
    return [Delivered(directory / "new" / name) for _, name in sorted(found)[:MOST_AT_ONCE]]
