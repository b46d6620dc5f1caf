"""Where experiments, runs and boots stand, and what was decided."""

from __future__ import annotations

from enum import StrEnum


class ExperimentState(StrEnum):
    """Where an experiment stands; see docs/states.md."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_STATES = (ExperimentState.FINISHED, ExperimentState.FAILED, ExperimentState.CANCELLED)
# What stands for a run's step while another host of its machine has its turn.
WAITS_FOR_TURN = "turn"


class RunState(StrEnum):
    """Where a run (one comparison on one host) stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BootState(StrEnum):
    """What became of one boot of one arm in one block."""

    PLANNED = "planned"
    BOOTING = "booting"
    MEASURING = "measuring"
    EFFECTIVE = "effective"
    NOT_EFFECTIVE = "not_effective"
    WRONG_KERNEL = "wrong_kernel"
    DID_NOT_BOOT = "did_not_boot"
    LAB_FAULT = "lab_fault"
    INVALID = "invalid"
    SKIPPED = "skipped"


# Boots that are still to be settled.
OPEN_BOOT_STATES = (BootState.PLANNED, BootState.BOOTING, BootState.MEASURING)


class Verdict(StrEnum):
    """What the numbers say about one arm against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNDECIDED = "undecided"
