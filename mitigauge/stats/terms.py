"""Terms of a judgement, for plans and pages too; what computes loads slowly and is elsewhere."""

from __future__ import annotations

from mitigauge.wire import result

Direction = result.Direction

# The largest change that is still "same", unless a case says otherwise.
DELTA_PERCENT = 1.0


def layout_of(block: int, layouts: int) -> int:
    """Which of so many layouts of its kernels a block boots, from 0; blocks count from 1."""
    return (block - 1) % layouts
