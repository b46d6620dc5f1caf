"""Whose fault a failure is, and how often what is not the author's is tried again. Pure.

Three kinds. The author's (a patch that does not apply, code that does not compile) ends what was
asked for, and is told to whoever asked. Ours (a script or an answer of the service that is wrong)
and the machine's (a full disk, a mirror or a database that is away) say nothing of the patches:
they are tried again, later and later, so often and no more, and their words, which may name hosts
and accounts of ours, are for the operator alone.
"""

from __future__ import annotations

import errno
from datetime import timedelta
from enum import StrEnum

from mitigauge.core.errors import AuthorsFault, MitigaugeError, NotReady

# With these pauses the last try comes some ten hours after the first.
MOST_TRIES = 8
FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3600.0
LONGEST_PAUSE = timedelta(seconds=LONGEST_PAUSE_S)
OF_MACHINE = {
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EACCES, errno.EPERM, errno.EMFILE,
    errno.ENFILE, errno.ENOMEM, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.ETIMEDOUT,
}  # fmt: skip


class Blame(StrEnum):
    """Whose fault a failure is."""

    AUTHOR = "author"
    SERVICE = "service"
    MACHINE = "machine"


def blame_of(error: BaseException) -> Blame:
    """Whose fault an error is; what nobody foresaw is ours."""
    if isinstance(error, AuthorsFault):
        return Blame.AUTHOR
    if isinstance(error, OSError):
        return Blame.MACHINE if error.errno in OF_MACHINE else Blame.SERVICE
    if isinstance(error, NotReady | MemoryError):
        return Blame.MACHINE
    return Blame.SERVICE


def words_of(error: BaseException) -> str:
    """What an error says, for the operator."""
    if isinstance(error, MitigaugeError):
        return error.message
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def pause_s(failures: int) -> float:
    """Seconds until the next try, after so many *failures* (1 and more)."""
    return float(min(FIRST_PAUSE_S * 2 ** min(failures - 1, 20), LONGEST_PAUSE_S))
