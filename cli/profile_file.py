"""Reading a file with one profile, with a line every two seconds on how far that is."""

from __future__ import annotations

import hashlib
import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cli.output import remark
from mitigauge.core.errors import InvalidInput

if TYPE_CHECKING:
    from mitigauge.analysis.profiles.capture.capture import Pass

TOLD_EVERY_S = 2.0


def read_stacks(path: Path, event: str) -> tuple[dict[bytes, int], Pass]:
    """The stacks of one file of either form, and what is known of its pass.

    Raises :class:`InvalidInput` naming file and line.
    """
    from mitigauge.analysis.profiles.store.import_file import read_profile

    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
            told = _ProgressFile(stream, path)
            return read_profile(told, name=str(path), digest=digest, event=event)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}", hint="Give a file."
        ) from error


class _ProgressFile(io.RawIOBase, BinaryIO):
    """A file that is read, with a line every two seconds on how far that is."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._size, self._done = path.stat().st_size, 0
        self._due = time.monotonic() + TOLD_EVERY_S

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._done += len(piece)
        if time.monotonic() > self._due:
            self._due = time.monotonic() + TOLD_EVERY_S
            remark(f"{self._path}: {self._done >> 20} of {self._size >> 20} MiB read")
        return piece
