"""What may become of a regression. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class RegressionState(StrEnum):
    """What people know of a regression."""

    NEW = "new"
    """Nobody looked at it yet."""
    CONFIRMED = "confirmed"
    """Somebody looked: it is real, and nobody's yet."""
    ASSIGNED = "assigned"
    """Its owner works on it."""
    KNOWN = "known"
    """A bug has it; it stays until that is mended."""
    FIXED = "fixed"
    FALSE = "false"
    """It was noise, or a fault of the measurement."""
    NOT_WORTH_IT = "not-worth-it"
    """It is real, and stays as it is."""
    DUPLICATE = "duplicate"
    """Another regression has it."""


OPEN_STATES: Final = (
    RegressionState.NEW,
    RegressionState.CONFIRMED,
    RegressionState.ASSIGNED,
    RegressionState.KNOWN,
)


# What a person's last word says of whether it is real. To take it, or to join it to another one,
# says neither.
REAL: Final = (
    RegressionState.CONFIRMED,
    RegressionState.KNOWN,
    RegressionState.FIXED,
    RegressionState.NOT_WORTH_IT,
)
NOT_SURE: Final = (RegressionState.NEW, RegressionState.FALSE)


class ConfirmationState(StrEnum):
    """What fresh boots of both kernels say of a change that values over time showed."""

    WAITING = "waiting"
    """For the budget of boots of its host class."""
    MEASURING = "measuring"
    CONFIRMED = "confirmed"
    SLOWER_BUILDS = "slower-builds"
    """One build of each kernel, in real time: it may be where their code lies."""
    REFUTED = "refuted"
    """The new kernel is not slower beside the old one."""
    UNDECIDED = "undecided"
    IMPOSSIBLE = "impossible"
    """There are no two kernels to measure, or they cannot be had any more."""


class Origin(StrEnum):
    """What a regression was seen in."""

    TREND = "trend"
    """A lasting change of values over time."""
    CELL = "cell"
    """One comparison of an experiment, filed by a person."""


class EntryKind(StrEnum):
    """What an entry of a regression's history says."""

    FOUND = "found"
    STATE = "state"
    OWNER = "owner"
    BUG = "bug"
    BISECTION = "bisection"
    JOINED = "joined"
    NOTE = "note"
