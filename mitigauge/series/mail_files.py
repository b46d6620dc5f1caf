"""Mails as files: mailboxes, single mails, folders of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.series.mail import Mail, mails_of

LARGEST_BYTES = 64 << 20
MOST_FILES = 1000
SUFFIXES = {".patch", ".mbox", ".mbx", ".eml", ".txt", ""}


def read_mails(paths: Sequence[Path]) -> list[Mail]:
    """All mails of files and folders, in the order of their names.

    Raises NotFound for a path that is not there, InvalidInput for more than 64 MiB or 1,000 files.
    """
    files = [file for path in paths for file in _files(path)]
    if len(files) > MOST_FILES:
        raise InvalidInput(f"{len(files)} files", hint="Give the mails of one series.")
    if sum(file.stat().st_size for file in files) > LARGEST_BYTES:
        raise InvalidInput("more than 64 MiB of mails", hint="Give the mails of one series.")
    return [mail for file in files for mail in mails_of(file.read_bytes())]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        files = [file for file in found if file.is_file() and not file.is_symlink()]
        if not files:
            raise InvalidInput(f"{path} has no mails", hint="Give what `git format-patch` wrote.")
        yield from files
    elif path.is_file():
        yield path
    else:
        raise NotFound(
            f"{path} is not there", hint="Give a message-id, a mailbox, or a folder of mails."
        )
