"""The states of a candidate kernel."""

from __future__ import annotations

from enum import StrEnum


class KernelState(StrEnum):
    """How far a kernel came."""

    BUILDING = "building"
    BUILT = "built"
    FAILED = "failed"
    REMOVED = "removed"
    """It was built, and its package is deleted; it is built again when it is asked for."""
