"""What became of a case within a boot."""

from __future__ import annotations

from enum import StrEnum


class ResultState(StrEnum):
    """Whether a case gave figures, failed itself, or met a fault of the lab."""

    MEASURED = "measured"
    FAILED = "failed"
    LAB_FAULT = "lab_fault"
