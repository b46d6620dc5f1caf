"""The one tree of errors a person is meant to read.

Every error names the thing and the value, and carries a ``hint``: the way out.
Faces translate them: the command line prints both lines and exits 1, the API
answers with ``status`` and the same two texts.
"""

from __future__ import annotations


class MitigaugeError(Exception):
    """Base of all errors that are reported, not debugged."""

    status = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InvalidInput(MitigaugeError):
    """Something a person or program handed in is malformed or contradicts itself."""

    status = 422


class NotFound(MitigaugeError):
    """The named thing does not exist."""

    status = 404


class Conflict(MitigaugeError):
    """The request contradicts what is already stored or going on."""

    status = 409


class TooLarge(MitigaugeError):
    """An upload exceeds its size limit, before or after decompression."""

    status = 413


class Forbidden(MitigaugeError):
    """The caller may not do this."""

    status = 403


class AuthorsFault(MitigaugeError):
    """What somebody sent does not work: a patch that does not apply, code that does not compile."""

    status = 422


class NotReady(MitigaugeError):
    """The service cannot work yet, for example because the schema is not at head."""

    status = 503


class Interrupted(MitigaugeError):
    """What was being done was ended from outside: cancelled, its worker stops, its lease over."""


class StaleEpoch(Conflict):
    """A commit came from a worker whose lease was taken over; it must not count."""
