"""When to look, and how small p must be at each look so that the whole procedure keeps α.

A look compares each arm's Dunnett p with the look's level, so that degrees of
freedom, arms and gaps are already accounted for. The levels are w·c: the weights
w spread the error over the looks (see ``WEIGHTS``), c is found by simulation such
that no arm of a null experiment is called worse or better at any look with
probability α. The levels of intervals are found likewise, so that the intervals of all
looks and arms together hold with 95 % (repeated confidence intervals, Jennison &
Turnbull, J. R. Stat. Soc. B 51, 1989): at whichever look a run stops, its intervals
are those of that look. All stand in ``boundaries.json``, made by

    python -m mitigauge.core.stats.calibration --regenerate
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from mitigauge.core.stats.terms import INTERVAL_LEVEL

STANDARD_LOOKS = (4, 6, 8, 12, 16, 24, 32, 48, 64)

# Little at 4 blocks, where one arm has 3 degrees of freedom and only huge effects could
# cross anyway; most at 6 and 8, where effects of 3 boot standard deviations begin to show.
WEIGHTS = (0.8, 1.5, 1.2, 0.9, 0.8, 0.8, 0.8, 0.8, 0.8)

# Of intervals: most at the end, where "same" is decided; those of an early stop are wide, for an
# early stop overstates an effect.
INTERVAL_WEIGHTS = tuple(look / STANDARD_LOOKS[-1] for look in STANDARD_LOOKS)

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
    return _levels(_table()["levels"], schedule, contrasts, alpha)


def interval_levels(schedule: Sequence[int], *, contrasts: int) -> tuple[float, ...]:
    """The level of each look's intervals: together they miss with 5 %, over looks and arms."""
    return _levels(_table()["intervals"], schedule, contrasts, 1.0 - INTERVAL_LEVEL)


_Rows = dict[tuple[float, int, int], tuple[float, ...]]


def _levels(
    rows: _Rows, schedule: Sequence[int], contrasts: int, alpha: float
) -> tuple[float, ...]:
    if len(schedule) == 1:
        return (alpha,)
    planned = next((look for look in STANDARD_LOOKS if look >= schedule[-1]), None)
    if planned is not None and tuple(schedule[:-1]) == looks_until(planned)[:-1]:
        levels = rows.get((round(alpha, 6), contrasts, planned))
        if levels is not None:
            return levels
    return tuple(alpha / len(schedule) for _ in schedule)


@lru_cache(maxsize=1)
def _table() -> dict[str, _Rows]:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        kind: {
            (row["alpha"], row["contrasts"], row["planned_blocks"]): tuple(row["levels"])
            for row in stored[kind]
        }
        for kind in ("levels", "intervals")
    }
