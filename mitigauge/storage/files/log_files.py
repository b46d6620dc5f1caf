"""Log files that others go on appending to, kept to a size."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Of fallocate(2).
_KEEP_SIZE, _PUNCH_HOLE = 1, 2
# st_blocks counts in these, whatever the file system's own are.
_BLOCK = 512


def cut_log(path: Path, limit_bytes: int, *, dry_run: bool = False) -> int:
    """Cut a log of more than *limit_bytes* to its last half of that; bytes that went.

    It is cut in place, from a whole line on: whoever has it open for appending writes on
    into the same file. What comes in during the cut itself, well under a second, may be
    lost. Links and whatever is no plain file of one name are left alone. Raises ``OSError``.
    """
    with _opened(path) as log:
        size = os.fstat(log.fileno()).st_size if log else 0
        if not log or size <= limit_bytes:
            return 0
        log.seek(size - limit_bytes // 2)
        kept = log.readall().partition(b"\n")[2]
        if not dry_run:
            log.truncate(0)
            log.write(kept)
    return size - len(kept)


def hollow_log(path: Path, limit_bytes: int, *, dry_run: bool = False) -> int:
    """Free the disk of all but a log's last half of *limit_bytes*; bytes that were freed.

    Every byte that is left stays where it was in the file, and so does its end: for logs
    whose readers know places in them. Else as :func:`cut_log`.
    """
    with _opened(path) as log:
        found = os.fstat(log.fileno()) if log else None
        if not log or not found or found.st_blocks * _BLOCK <= limit_bytes:
            return 0
        page = os.fstatvfs(log.fileno()).f_bsize
        end = (found.st_size - limit_bytes // 2) // page * page
        before = found.st_blocks * _BLOCK
        if dry_run:
            return max(before - limit_bytes // 2, 0)
        _punch(log.fileno(), end, path)
        return before - os.fstat(log.fileno()).st_blocks * _BLOCK


@contextmanager
def _opened(path: Path) -> Iterator[io.FileIO | None]:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR):
            raise
        yield None
        return
    with io.FileIO(descriptor, "r+") as log:
        found = os.fstat(descriptor)
        yield log if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 else None


def _punch(descriptor: int, end: int, path: Path) -> None:
    fallocate = ctypes.CDLL(None, use_errno=True).fallocate
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    if end > 0 and fallocate(descriptor, _PUNCH_HOLE | _KEEP_SIZE, 0, end) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))
