"""Where runs and boots stand."""

from __future__ import annotations

from enum import StrEnum

# What stands for a run's step while another host of its machine has its turn.
WAITS_FOR_TURN = "turn"


class RunState(StrEnum):
    """Where a run (one comparison on one host) stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED_RUN_STATES = (RunState.QUEUED, RunState.RUNNING)


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
# Boots that are settled and count for nothing.
UNCOUNTED_BOOT_STATES = tuple(
    state for state in BootState if state not in (*OPEN_BOOT_STATES, BootState.EFFECTIVE)
)


class Activity(StrEnum):
    """What a leased host does with its machine."""

    IDLE = "idle"
    BOOTING = "booting"
    """Boots, or is prepared or restored."""
    WAITING = "waiting"
    """Is booted, and waits to measure."""
    MEASURING = "measuring"
