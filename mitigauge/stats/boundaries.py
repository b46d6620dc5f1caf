"""When to look, and how small p must be at each look so that the whole procedure keeps α.

A look compares each arm's Dunnett p with the look's level, so that degrees of
freedom, arms and gaps are already accounted for. The levels are w·c: the weights
w spread the error over the looks (see ``WEIGHTS``), c is found by simulation such
that no arm of a null experiment is called worse or better at any look with
probability α. They stand in ``boundaries.json``, made by

    python -m mitigauge.stats.calibration --regenerate
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

STANDARD_LOOKS = (4, 6, 8, 12, 16, 24, 32, 48, 64)

# Little at 4 blocks, where one arm has 3 degrees of freedom and only huge effects could
# cross anyway; most at 6 and 8, where effects of 3 boot standard deviations begin to show.
WEIGHTS = (0.8, 1.5, 1.2, 0.9, 0.8, 0.8, 0.8, 0.8, 0.8)

TABLE = Path(__file__).with_name("boundaries.json")
MOST_CONTRASTS = 8


def looks_until(planned_blocks: int, looks: Sequence[int] | None = None) -> tuple[int, ...]:
    """The looks, in blocks, of a budget of *planned_blocks*; the last block is always one."""
    chosen = STANDARD_LOOKS if looks is None else looks
    return (*sorted({look for look in chosen if 0 < look < planned_blocks}), planned_blocks)


def look_levels(schedule: Sequence[int], *, contrasts: int, alpha: float) -> tuple[float, ...]:
    """The level of each look of *schedule*, for *contrasts* arms against the baseline.

    A budget between two standard looks takes the levels of the next larger one:
    its last look comes sooner and is more alike the one before, so they hold.
    What the table does not have (other looks, other α, more arms) gets α shared
    out evenly, which holds always.
    """
    if len(schedule) == 1:
        return (alpha,)
    planned = next((look for look in STANDARD_LOOKS if look >= schedule[-1]), None)
    if planned is not None and tuple(schedule[:-1]) == looks_until(planned)[:-1]:
        levels = _table().get((alpha, contrasts, planned))
        if levels is not None:
            return levels
    return tuple(alpha / len(schedule) for _ in schedule)


@lru_cache(maxsize=1)
def _table() -> dict[tuple[float, int, int], tuple[float, ...]]:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        (row["alpha"], row["contrasts"], row["planned_blocks"]): tuple(row["levels"])
        for row in stored["levels"]
    }
