"""Details of a case within a boot: read from what a parser printed, and brought to one boot. Pure.

A boot is the unit of replication, so of its passes only a mean is kept; each pass's own figures
stay in the raw files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.boot_means import mean_of
from mitigauge.core.wire.limits import LARGEST_VALUE
from mitigauge.measurement.workloads.details import (
    MOST_BREAKDOWNS,
    MOST_FIGURES,
    MOST_ROWS,
    Details,
)

MOST_POINTS: Final = 1024
MOST_THRESHOLDS: Final = 64
LONGEST_NAME: Final = 63
Entry = TypeVar("Entry")


def _bounded(value: float) -> float:
    if not abs(value) <= LARGEST_VALUE:
        raise ValueError(f"no finite number of at most {LARGEST_VALUE:g} in size")
    return value


# Strict: a truth value or a text is no number.
Number = Annotated[float, Field(strict=True), AfterValidator(_bounded)]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Point(_Closed):
    """The curve at one load; no value where too little was done there to tell."""

    load: Number
    count: Annotated[float, Field(ge=0, le=1e12)] = 0
    value: Number | None = None


class Reached(_Closed):
    """The load at which the curve first reaches a threshold; none where it never does."""

    threshold: Number
    load: Number | None = None


# Row → figure → value; None where the host could not tell it.
Rows = Annotated[
    dict[Name, Annotated[dict[Name, Number | None], Field(max_length=MOST_FIGURES)]],
    Field(max_length=MOST_ROWS),
]


class PassDetails(_Closed):
    """What one pass tells besides its metrics."""

    curve: list[Point] = Field(default_factory=list, max_length=MOST_POINTS)
    reached: list[Reached] = Field(default_factory=list, max_length=MOST_THRESHOLDS)
    breakdowns: dict[Name, Rows] = Field(default_factory=dict, max_length=MOST_BREAKDOWNS)


class BootDetails(PassDetails):
    """The same of a boot, with the declaration by which it is shown.

    The declaration goes along so that a later edit of the workload changes nothing.
    """

    declared: Details


def of_boot(
    declared: Details | None, passes: Sequence[PassDetails], iterations: int
) -> BootDetails | None:
    """The details of a boot from those of its *passes*, one an iteration.

    Raises :class:`InvalidInput` for what the workload does not declare, or lacks.
    """
    if declared is None:
        if passes:
            raise InvalidInput(
                "details: the workload declares none",
                hint="Declare them in workload.yml, or leave them out in parse.py.",
            )
        return None
    if len(passes) != iterations:
        raise InvalidInput(
            f"details: of {len(passes)} iterations, the plan asks for {iterations}",
            hint="parse.py gives the details of each iteration, warm-ups left out.",
        )
    for one in passes:
        _require_declared(declared, one)
    return BootDetails(
        declared=declared,
        curve=_curve([one.curve for one in passes]),
        reached=_reached([one.reached for one in passes]),
        breakdowns={
            name: _rows([one.breakdowns[name] for one in passes]) for name in declared.breakdowns
        },
    )


def _require_declared(declared: Details, one: PassDetails) -> None:
    if (declared.curve is None) != (not one.curve):
        raise _not_as_declared("curve", "a curve" if one.curve else "no curve")
    if declared.curve is None and one.reached:
        raise _not_as_declared("reached", "thresholds of no curve")
    for name, keys in (
        ("curve", [point.load for point in one.curve]),
        ("reached", [reached.threshold for reached in one.reached]),
    ):
        if keys != sorted(set(keys)):
            raise _not_as_declared(name, "loads or thresholds that do not ascend")
    _require_same("breakdowns", one.breakdowns, declared.breakdowns)
    for name, rows in one.breakdowns.items():
        form = declared.breakdowns[name]
        _require_known(f"breakdowns.{name}", rows, form.rows)
        for row, figures in rows.items():
            _require_known(f"breakdowns.{name}.{row}", figures, form.figures)


def _require_same(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    if set(given) != set(known):
        raise _not_as_declared(where, _listed(given))


def _require_known(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    if unknown := set(given) - set(known):
        raise _not_as_declared(where, _listed(unknown))


def _listed(names: Iterable[str]) -> str:
    return ascii(", ".join(sorted(names)))[:200]


def _not_as_declared(where: str, got: str) -> InvalidInput:
    return InvalidInput(
        f"details.{where}: {got}: not as the workload declares it",
        hint="Compare workload.yml's details with what parse.py prints.",
    )


def _curve(curves: Sequence[Sequence[Point]]) -> list[Point]:
    by_load = _by_key(curves, lambda point: point.load)
    return [
        Point(
            load=load,
            count=sum(point.count for point in points),
            value=_known_mean([point.value for point in points]),
        )
        for load, points in by_load.items()
    ]


def _reached(every: Sequence[Sequence[Reached]]) -> list[Reached]:
    found = []
    for threshold, of_passes in _by_key(every, lambda one: one.threshold).items():
        loads = [one.load for one in of_passes]
        # A mean over the passes that reached it alone would be too low.
        whole = [load for load in loads if load is not None] if None not in loads else []
        found.append(Reached(threshold=threshold, load=mean_of(whole) if whole else None))
    return found


def _rows(every: Sequence[Mapping[str, Mapping[str, float | None]]]) -> dict[str, Any]:
    names = {row: None for rows in every for row in rows}
    return {
        row: {
            figure: _known_mean([rows[row].get(figure) for rows in every if row in rows])
            for figure in dict.fromkeys(f for rows in every for f in rows.get(row, {}))
        }
        for row in names
    }


def _by_key(
    every: Sequence[Sequence[Entry]], key: Callable[[Entry], float]
) -> dict[float, list[Entry]]:
    found: dict[float, list[Entry]] = {}
    for one in every:
        for entry in one:
            found.setdefault(key(entry), []).append(entry)
    return dict(sorted(found.items()))


def _known_mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean_of(known) if known else None
