"""How effects and candidates are told. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mitigauge.tracking.bisect.states import RevertOutcome

REVERTED = {
    RevertOutcome.GONE: "the change is gone",
    RevertOutcome.PART: "part of the change stays",
    RevertOutcome.NOTHING: "the change stays",
    RevertOutcome.WORSE: "it is worse than before",
}
# Beyond, an effect is no percentage that anyone reads.
LARGEST_TOLD = 20.0


def percent(effect: float) -> str:
    """A log difference as a change: ``+1.3 %``, and of small ones ``+0.01 %``."""
    bounded = max(-LARGEST_TOLD, min(LARGEST_TOLD, effect))
    change = 100 * math.expm1(bounded)
    return f"{change:+.2f} %" if abs(change) < 1.0 else f"{change:+.3g} %"


def percent_range(low: float, high: float) -> str:
    """Two log differences as changes: ``[+1.1, +1.5]``."""
    return f"[{percent(low).removesuffix(' %')}, {percent(high).removesuffix(' %')}]"


def scatter(deviation: float) -> str:
    """A size in log units, without a sign: ``0.7 %``."""
    return percent(abs(deviation)).removeprefix("+")


def listed(candidates: Sequence[int], most: int = 8) -> str:
    """``3, 4, 9`` or ``3 … 40 (31 of them)``."""
    if len(candidates) <= most:
        return ", ".join(str(candidate) for candidate in candidates)
    return f"{candidates[0]} … {candidates[-1]} ({len(candidates)} of them)"
