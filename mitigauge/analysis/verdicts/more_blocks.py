"""How many blocks would decide what is undecided. Pure.

The smallest detectable effect m of b blocks falls with the square root of their number. Blocks
that see the effect e as it was found: b (m / |e|)². Blocks that keep the whole interval within the
margin d: b (m / (d - |e|))². The smaller one is promised. The effect is not known better than the
first boots tell it, so that the promise is kept in some four of five (docs/statistics.md).
"""

from __future__ import annotations

import math


def blocks_to_decide(
    *, effect: float, detectable: float, blocks: int, margin: float, most: int
) -> int | None:
    """Blocks of a new experiment that would decide it; None: more than *most*.

    *effect*, *detectable*, *margin*: percent.
    """
    if blocks < 1 or not (math.isfinite(effect) and math.isfinite(detectable)) or detectable <= 0:
        return None
    distances = [abs(effect), margin - abs(effect)]
    needed = [blocks * (detectable / each) ** 2 for each in distances if each > 0]
    least = min(needed, default=math.inf)
    if least > most:
        return None
    return max(math.ceil(least), blocks + 1)
