"""What a step's experiment says of its points. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.runs.states import BootState
from mitigauge.tracking.bisect.question import point_of
from mitigauge.tracking.bisect.records import PointLevel, Value

LONGEST_WHY = 1000


class BootRow(NamedTuple):
    """One boot of a step; *mean* of the metric that is asked for, None where it gave none."""

    host: str
    arm: str
    block: int
    state: str
    begun: bool
    reason: str
    layout: str
    mean: float | None
    error: str


@dataclass(frozen=True, slots=True)
class Intake:
    """*values*: boots that count. *skipped*: point → why it is not measured any more."""

    values: list[Value]
    skipped: dict[int, str]
    boots: int
    levels: list[PointLevel]
    notes: list[str]


def read(rows: Sequence[BootRow], points: Sequence[int]) -> Intake:
    """What the boots of an experiment that is over say.

    A point that gave no value on any host, through its own fault, is skipped; one that gave some
    on one host and none on another is said in *notes*.
    """
    values = [
        Value(point_of(row.arm), row.host, row.block, row.mean, row.layout)
        for row in rows
        if row.state == BootState.EFFECTIVE and row.mean is not None and row.mean > 0
    ]
    by_point: dict[int, list[BootRow]] = defaultdict(list)
    for row in rows:
        by_point[point_of(row.arm)].append(row)
    skipped, notes = {}, []
    for point in points:
        faults = _faults(by_point[point])
        measured_on = {value.host for value in values if value.point == point}
        if faults and not measured_on:
            skipped[point] = next(iter(faults.values()))
        for host, why in faults.items():
            if measured_on and host not in measured_on:
                notes.append(f"point {point} on {host}: {why}")
    return Intake(
        values, skipped, sum(row.begun for row in rows), levels_of(values, points), notes
    )  # fmt: skip


def _faults(rows: Sequence[BootRow]) -> dict[str, str]:
    """Host → what is wrong with the point there, where every boot that was made says so."""
    found = {}
    for host in dict.fromkeys(row.host for row in rows):
        own = [row for row in rows if row.host == host and row.begun]
        whys = [_fault(row) for row in own]
        told = [why for why in whys if why]
        # An infrastructure fault is nobody's; it neither counts for nor against the point.
        settled = [row for row in own if row.state != BootState.LAB_FAULT]
        if told and len(told) == len(settled):
            found[host] = told[0][:LONGEST_WHY]
    return found


def _fault(row: BootRow) -> str:
    """What the boot says against its point; empty: nothing."""
    said = clean_text(row.reason)
    if row.state == BootState.DID_NOT_BOOT:
        return f"does not boot: {said}" if said else "does not boot"
    if row.state == BootState.WRONG_KERNEL:
        return f"another kernel came up: {said}"
    if row.state == BootState.NOT_EFFECTIVE:
        return f"its mode is not in force: {said}"
    if row.state == BootState.EFFECTIVE and row.mean is None:
        return f"the measurement fails on it: {clean_text(row.error) or 'no value'}"
    return ""


def levels_of(values: Sequence[Value], points: Sequence[int]) -> list[PointLevel]:
    """Each point's level, and its effect against the first point within the same blocks."""
    logs: dict[int, dict[tuple[str, int], list[float]]] = {p: defaultdict(list) for p in points}
    for value in values:
        if value.point in logs:
            logs[value.point][value.host, value.block].append(math.log(value.value))
    first = logs[points[0]] if points else {}
    return [_level(point, logs[point], first) for point in points]


def _level(
    point: int,
    own: Mapping[tuple[str, int], Sequence[float]],
    first: Mapping[tuple[str, int], Sequence[float]],
) -> PointLevel:
    every = [value for block in own.values() for value in block]
    if not every:
        return PointLevel(
            point=point, boots=0, mean=None, deviation_percent=None, effect_percent=None
        )  # fmt: skip
    middle = _mean(every)
    spread = math.sqrt(sum((v - middle) ** 2 for v in every) / max(len(every) - 1, 1))
    shared = [block for block in own if block in first]
    effect = _mean([_mean(own[b]) - _mean(first[b]) for b in shared]) if shared else None
    return PointLevel(
        point=point,
        boots=len(every),
        mean=math.exp(middle),
        deviation_percent=100 * math.expm1(spread) if len(every) > 1 else None,
        effect_percent=None if effect is None else 100 * math.expm1(effect),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def in_words(intake: Intake, unit: str) -> str:
    """``p00 685 ns; p08 905 ns (+32.1 %); p04 is skipped: does not boot: …``."""
    said = []
    for level in intake.levels:
        if level.mean is None:
            why = intake.skipped.get(level.point, "no boot counts")
            said.append(f"point {level.point}: {why}")
            continue
        first = level.point == intake.levels[0].point
        change = (
            "" if first or level.effect_percent is None else f" ({level.effect_percent:+.2f} %)"
        )
        said.append(f"point {level.point}: {level.mean:.5g} {unit}{change}")
    return "; ".join([*said, *intake.notes])[:LONGEST_WHY]
