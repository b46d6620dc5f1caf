"""What is said of rows that two experiments have in common: arrays of all rows at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mitigauge.effect import CellState
from mitigauge.pages.pair_matches import Key, Match, Place
from mitigauge.pages.pair_schemas import LevelRatio
from mitigauge.stats.block_model import Mask
from mitigauge.stats.boot_means import Floats
from mitigauge.stats.bounds import Bound
from mitigauge.stats.effects_apart import (
    Differences,
    Estimates,
    Judged,
    StoredEffects,
    differences,
    estimates_of,
    is_on_log,
    judge,
    percent_of,
    residual_df,
)
from mitigauge.stats.scale import LINEAR_UNITS

# Rows of the query of cells, and of that of levels.
CellRow = Any
LevelRow = Any
# Levels of A and B, and the metric's unit.
Levels = tuple[LevelRow, LevelRow, str]
Counts = NDArray[np.intp]
_NAN = float("nan")
_NONE = (_NAN, _NAN, _NAN, 0, 0, 0)


class Cells:
    """Stored cells of one experiment, by what they are about."""

    def __init__(self, rows: Iterable[CellRow]) -> None:
        self.by_key: dict[tuple[Any, ...], CellRow] = {}
        self._boots: dict[tuple[Any, ...], list[int]] = {}
        for row in rows:
            run, case, metric, arm = row[:4]
            self.by_key[run, case, metric, arm] = row
            self._boots.setdefault((run, case, metric), []).append(row[5])

    def get(self, key: Key) -> CellRow | None:
        """The cell of a row; None where nothing is stored."""
        return self.by_key.get(key)

    def figures(self, place: Place, key: Key) -> tuple[float, ...]:
        """Effect, ends of its interval, degrees of freedom and contrasts of its analysis, blocks.

        NaN and 0 where the cell has no interval.
        """
        row = self.by_key.get(key)
        if row is None or row[9] is None or row[4] != CellState.MEASURED:
            return _NONE
        df, contrasts = _analysis(tuple(self._boots[key[:3]]), row[13], place.comparison.layouts)
        return row[8], row[9], row[10], df, contrasts, row[6]


@lru_cache(maxsize=4096)
def _analysis(boots: tuple[int, ...], decided_after: int | None, layouts: int) -> tuple[int, int]:
    counts = [n for n in boots if n > 0]
    blocks = decided_after or max(counts, default=0)
    contrasts = len(counts) - 1
    if layouts > 1:
        return max(min(layouts, blocks) - 1, 0) * contrasts, contrasts
    return residual_df([min(n, blocks) for n in counts], blocks, contrasts), contrasts


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """Figures of all rows in percent, an entry a row; NaN where there is none."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats
    detectable: Floats
    differs: Mask
    compared: Mask
    on_log: Mask


def judge_rows(matches: Sequence[Match], a: Cells, b: Cells) -> JudgedRows:
    """The difference of both effects of every row, judged over all of them."""
    sides = (
        _stored([(m.a, m.key_a) for m in matches], a),
        _stored([(m.b, m.key_b) for m in matches], b),
    )
    declared = [of.a.case.metrics[of.metric] for of in matches]
    units = {each.unit: each.unit.strip().lower() in LINEAR_UNITS for each in declared}
    linear = np.array([units[each.unit] for each in declared], dtype=np.bool_)
    on_log = is_on_log(sides[0][0]) & is_on_log(sides[1][0]) & ~linear
    found = differences(*(estimates_of(effects, on_log) for effects, _ in sides))
    delta = np.array([each.delta_percent for each in declared], dtype=np.float64) / 100
    blocks = np.minimum(sides[0][1], sides[1][1])
    judged = judge(found, blocks=blocks, delta=np.where(on_log, np.log1p(delta), delta))
    return _in_percent(found, judged, on_log)


def _stored(places: Sequence[tuple[Place, Key]], cells: Cells) -> tuple[StoredEffects, Counts]:
    """Effects of one side, and the blocks that they rest on."""
    figures = [cells.figures(place, key) for place, key in places]
    table = np.array(figures, dtype=np.float64).reshape(-1, 6)
    df, contrasts, blocks = table[:, 3:].astype(np.intp).T
    return StoredEffects(table[:, 0], table[:, 1], table[:, 2], df, contrasts), blocks


def _in_percent(found: Differences, judged: Judged, on_log: Mask) -> JudgedRows:
    return JudgedRows(
        difference=percent_of(found.value, on_log),
        low=percent_of(found.low, on_log),
        high=percent_of(found.high, on_log),
        p=found.p,
        q=judged.q,
        detectable=percent_of(judged.detectable, on_log),
        differs=judged.differs,
        compared=~np.isnan(found.p),
        on_log=on_log,
    )


def notes_of(match: Match, a: CellRow | None, b: CellRow | None, *, small: bool) -> list[str]:
    """What a reader of the row must know; *small*: it differs, yet within the metric's ±δ."""
    declared = match.a.case.metrics[match.metric]
    notes = [f"real, yet within ±{declared.delta_percent:g} %"] if small else []
    lacking: dict[str, list[str]] = {}
    for side, row in (("A", a), ("B", b)):
        why = _lacks(row)
        if why:
            lacking.setdefault(why, []).append(side)
    notes += [f"{why} in {' and '.join(sides)}" for why, sides in lacking.items()]
    early = [side for side, row in (("A", a), ("B", b)) if row is not None and stopped_early(row)]
    if early:
        notes.append(f"{' and '.join(early)} stopped early, which overstates an effect")
    if any(row is not None and row.bound != Bound.EXACT for row in (a, b)):
        notes.append("without the hardware's own events, which are not counted here")
    return notes


def _lacks(row: CellRow | None) -> str:
    """Why the cell has no effect with an interval; empty where it has one."""
    if row is None or row.state == CellState.NO_DATA:
        return "not measured"
    if row.state == CellState.NOT_EFFECTIVE:
        return "mode not in force"
    if row.effect_percent is None:
        return "no effect"
    return "too few blocks for an interval" if row.ci_low_percent is None else ""


def stopped_early(row: CellRow) -> bool:
    """Whether an interim analysis decided, so that the effect is overstated."""
    return row.decided_after is not None and row.verdict in ("worse", "better")


def ratios_of(
    places: Sequence[Levels],
) -> list[LevelRatio | None]:
    """B's mean over A's of (A, B, unit), from boots' means by Welch's t; None without both.

    On the log scale where all means are above 0 and the unit is none of counts or shares, as
    verdicts do it. Blocks are not taken out: what differs between weeks is in the variance of
    neither side, so the ratio tells of hosts and weeks as well.
    """
    known = [i for i, (a, b, _) in enumerate(places) if a is not None and b is not None]
    if not known:
        return [None] * len(places)
    on_log = np.array([_by_factors(*places[i]) for i in known], dtype=np.bool_)
    sides = [_means([places[i][side] for i in known], on_log) for side in (0, 1)]
    base = np.where(on_log, 1.0, [abs(places[i][0].mean) or _NAN for i in known])
    found = differences(*(_over(side, base) for side in sides))
    percents = [percent_of(each, on_log) for each in (found.value, found.low, found.high)]
    ratios: list[LevelRatio | None] = [None] * len(places)
    for place, value, low, high in zip(known, *(each.tolist() for each in percents), strict=True):
        if np.isfinite(value):
            ends = [end if np.isfinite(end) else None for end in (low, high)]
            ratios[place] = LevelRatio(percent=value, low_percent=ends[0], high_percent=ends[1])
    return ratios


def _by_factors(a: LevelRow, b: LevelRow, unit: str) -> bool:
    return unit.strip().lower() not in LINEAR_UNITS and a.least > 0 and b.least > 0


def _means(rows: Sequence[LevelRow], on_log: Mask) -> Estimates:
    table = np.array(
        [(r.boots, r.mean, r.variance, r.log_mean, r.log_variance) for r in rows],
        dtype=np.float64,
    )
    boots, mean, variance, log_mean, log_variance = table.T
    value = np.where(on_log, log_mean, mean)
    error = np.sqrt(np.where(on_log, log_variance, variance) / boots)
    return Estimates(value, error, boots - 1)


def _over(side: Estimates, base: Floats) -> Estimates:
    return Estimates(side.value / base, side.error / base, side.df)
