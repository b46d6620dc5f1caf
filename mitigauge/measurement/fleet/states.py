"""Why no run begins on a host."""

from __future__ import annotations

from enum import StrEnum


class AbsenceKind(StrEnum):
    """A kind of time in which no run begins on a host."""

    SET_ASIDE = "set_aside"
    """By a rule, since it did not answer or could not be restored, or by a person."""
    RESERVED = "reserved"
    """A person has it for a while."""
