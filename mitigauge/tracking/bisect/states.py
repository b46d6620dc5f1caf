"""Where a bisection stands, and what it may answer."""

from __future__ import annotations

from enum import StrEnum


class BisectionKind(StrEnum):
    """What the candidates are."""

    PATCHES = "patches"
    """Patches in their order, on one base."""
    COMMITS = "commits"
    """Commits of a git tree, along first parents."""
    ARMS = "arms"
    """Steps between arms in an order: modes, or kernels that are there."""


class BisectionState(StrEnum):
    """Where a bisection stands; what came of it is its answer."""

    RUNNING = "running"
    FINISHED = "finished"
    """It has an answer."""
    FAILED = "failed"
    """It could not go on."""
    CANCELLED = "cancelled"
    """A person stopped it."""


class AnswerKind(StrEnum):
    """What a bisection may find out."""

    FOUND = "found"
    SEVERAL = "several"
    NONE_OF_THESE = "none_of_these"
    REFUSED = "refused"
    UNDECIDED = "undecided"


class RevertOutcome(StrEnum):
    """What became of a change on the last end when its candidate was taken out there."""

    GONE = "gone"
    PART = "part"
    """A good part of it stays."""
    NOTHING = "nothing"
    """All of it stays, as far as boots tell."""
    WORSE = "worse"
