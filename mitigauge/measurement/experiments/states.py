"""Where experiments stand."""

from __future__ import annotations

from enum import StrEnum


class ExperimentState(StrEnum):
    """Where an experiment stands; see docs/concepts.md."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_STATES = (ExperimentState.FINISHED, ExperimentState.FAILED, ExperimentState.CANCELLED)
