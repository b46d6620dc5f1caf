"""What a revision can be asked, and where that stands."""

from __future__ import annotations

from enum import StrEnum


class StudyKind(StrEnum):
    """What is asked."""

    PATCH_COST = "patch-cost"
    """What each patch costs: exact counts of the kernels in between, and of each patch alone."""
    SELECTION = "selection"
    """Which mitigation is chosen where: all cells of a spec, on the base and on the revision."""
    VARIANTS = "variants"
    """Which revision of the series costs least, of those that do as much of what protects."""


class StudyState(StrEnum):
    """Where it stands."""

    WAITING = "waiting"
    BUILDING = "building"
    MEASURING = "measuring"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (StudyState.DONE, StudyState.FAILED, StudyState.CANCELLED)
