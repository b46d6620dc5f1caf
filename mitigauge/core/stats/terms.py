"""Terms of a judgement, for plans and pages too; what computes loads slowly and is elsewhere."""

from __future__ import annotations

from mitigauge.core.wire import result

Direction = result.Direction

# The largest change that is still "same", unless a case says otherwise.
DELTA_PERCENT = 1.0
# Family-wise, of one run.
ALPHA = 0.01
INTERVAL_LEVEL = 0.95
# With which a smallest detectable effect shows.
POWER = 0.80
# Of metrics that decide nothing.
FALSE_DISCOVERY_RATE = 0.05
# Boots of an arm below which there is no verdict: of any, and where more blocks are planned.
FEWEST_OF_A_SAMPLE, FEWEST_BOOTS = 2, 4
# Builds of a kernel that differ in layout alone, where kernels are compared in real time: of two
# one degree of freedom is left, with which hardly any difference is told.
LAYOUTS = 3
# How parts of a verdict's note begin.
REAL_YET_WITHIN = "real, yet within"
DECIDED_AFTER = "decided after"
OVERSTATES = "an early stop overstates"
NEIGHBOURS_ALIKE = (
    "arm or baseline stays where it was in the boot before (by chance alone in 1 of 100): the "
    "interval may be too narrow"
)
# To be raised with every change of rules that can change a verdict: what was given by older
# ones stays, and the next version says that the rules changed.
RULES = 4


def layout_of(block: int, layouts: int) -> int:
    """Which of so many layouts of its kernels a block boots, from 0; blocks count from 1."""
    return (block - 1) % layouts


def fewest_boots(planned: int) -> int:
    """How many boots of an arm a verdict needs, of so many *planned* blocks."""
    return FEWEST_BOOTS if planned > FEWEST_BOOTS else FEWEST_OF_A_SAMPLE
