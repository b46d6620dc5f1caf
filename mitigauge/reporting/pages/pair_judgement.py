"""What is said of rows that two experiments have in common: arrays of all rows at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.effect import CellState
from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.effects_apart import (
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
from mitigauge.core.stats.scale import LINEAR_UNITS
from mitigauge.reporting.pages.pair_matches import Key, Match
from mitigauge.reporting.pages.pair_schemas import LevelRatio

# Rows of the query of cells, and of that of levels.
CellRow = Any
LevelRow = Any
# Levels of A and B, and the metric's unit.
Levels = tuple[LevelRow, LevelRow, str]
Counts = NDArray[np.intp]
# Of the former.
_COLUMNS = 14
_NAN = float("nan")


class Cells:
    """Stored cells of one experiment, by what they are about."""

    def __init__(self, rows: Sequence[CellRow], layouts: Mapping[int, int]) -> None:
        """*layouts*: by run, in how many builds each of its kernels was booted."""
        self._rows = rows
        # Row by row they would take several times as long.
        self._columns = list(zip(*rows, strict=True)) or [()] * _COLUMNS
        keys = zip(*self._columns[:4], strict=True)
        self._index = dict(zip(keys, range(len(rows)), strict=True))
        self._layouts = layouts

    def get(self, key: Key) -> CellRow | None:
        """The cell of a row; None where nothing is stored."""
        at = self._index.get(key)
        return None if at is None else self._rows[at]

    def effects(self, keys: Iterable[Key]) -> tuple[StoredEffects, Counts]:
        """Effects of rows, and the blocks that they rest on; NaN and 0 without an interval."""
        nowhere = len(self._rows)
        places = np.array([self._index.get(key, nowhere) for key in keys], dtype=np.intp)
        effect, low, high, df, contrasts, blocks = (each[places] for each in self._figures())
        return StoredEffects(effect, low, high, df, contrasts), blocks

    def _figures(self) -> tuple[Any, ...]:
        """Columns of all cells, with an entry more at the end for a cell that is not there."""
        state, _, blocks, _, *percents = self._columns[4:11]
        effect, low, high = (np.array([*each, _NAN], np.float64) for each in percents)
        measured = np.array([*map(CellState.MEASURED.value.__eq__, state), False], np.bool_)
        known = measured & ~np.isnan(low)
        df, contrasts = self._analyses()
        return (
            *(np.where(known, each, _NAN) for each in (effect, low, high)),
            *(np.where(known, each, 0) for each in (df, contrasts, _counts(blocks))),
        )

    def _analyses(self) -> tuple[Counts, Counts]:
        """Degrees of freedom and contrasts of the analysis of every cell."""
        places: dict[tuple[Any, ...], int] = {}
        asked = zip(*self._columns[:3], strict=True)
        group = np.array([places.setdefault(each, len(places)) for each in asked] + [len(places)])
        boots = _by_group(group, _counts(self._columns[5]))[group]
        decided = _counts([after or 0 for after in self._columns[13]])
        layouts = _counts([self._layouts[run] for run in self._columns[0]])
        blocks = np.where(decided > 0, decided, boots.max(axis=1))
        contrasts = np.maximum(np.count_nonzero(boots, axis=1) - 1, 0)
        df = residual_df(np.minimum(boots, blocks[:, None]).sum(axis=1), blocks, contrasts)
        of_layouts = np.maximum(np.minimum(layouts, blocks) - 1, 0) * contrasts
        return np.where(layouts > 1, of_layouts, df), contrasts


def _counts(values: Sequence[int]) -> Counts:
    """The values with the 0 of a cell that is not there."""
    return np.array([*values, 0], np.intp)


def _by_group(group: Counts, values: Counts) -> Counts:
    """A row for each group with its values, and 0 up to the length of the longest."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    within = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.zeros((len(sizes), int(np.max(sizes))), np.intp)
    table[group[order], within] = values[order]
    return table


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
        a.effects(m.key_a for m in matches),
        b.effects(m.key_b for m in matches),
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
    sides = (("A", match.a, a), ("B", match.b, b))
    early = [side for side, of, row in sides if row and stopped_early(row, of.comparison.blocks)]
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


def stopped_early(row: CellRow, planned: int) -> bool:
    """Whether an interim analysis decided before the last one, so that the effect is overstated."""
    decided = row.decided_after
    return decided is not None and decided < planned and row.verdict in ("worse", "better")


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
