"""The boots that say something as arrays, and what each hypothesis says of them. Pure.

A *segment* is the cells between two places that were measured, which no boot tells apart. A column
is a place that was measured, or the last end without one candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.tracking.bisect.cells import Cells
from mitigauge.tracking.bisect.likelihood import Boots, Floats, Whole
from mitigauge.tracking.bisect.model import History, Observed, Question

# Logs of floats lie within ±745; whatever is beyond is no log of a mean.
LARGEST_LOG = 1000.0


def usable(question: Question, history: History, cells: Cells) -> list[Observed]:
    """The boots that say something, in an order of their own: those of points that exist and are
    not skipped, with a value that can be the log of a mean, beside another point in their block.

    A block of one point alone (the other one does not boot on that host, or its boots were lost)
    has a level of its own that nothing can be set against.
    """
    found = [
        item
        for item in history.observed
        if abs(item.value) <= LARGEST_LOG
        and (
            item.point in cells.place_of
            or (
                item.point == question.reverted
                and item.point not in history.skipped
                and cells.cell_of(history.verified.get(item.group, 0)) is not None
            )
        )
    ]
    points: dict[str, set[int]] = {}
    for item in found:
        points.setdefault(item.group, set()).add(cells.place_of.get(item.point, -1))
    return sorted(
        (item for item in found if len(points[item.group]) > 1),
        key=lambda item: (item.point, item.group, item.layout, item.value),
    )


@dataclass(frozen=True, slots=True)
class Reverts:
    """The candidates without which the last end was booted, in the order of their columns.

    ``shares``: the part of its segment's weight that each has. ``steps`` ``[revert, column]``: what
    has the changed level if it is the culprit and its revert takes the change away, ``ends``: its
    own column alone.
    """

    candidates: tuple[int, ...]
    segments: Whole
    shares: Floats
    steps: Floats
    ends: Floats

    @classmethod
    def of(
        cls, cells: Cells, measured: Sequence[int], reverted: Sequence[int], steps: Floats
    ) -> Reverts:
        own = np.array([cells.cell_of(candidate) or 1 for candidate in reverted], dtype=np.intp)
        segments = np.searchsorted(measured, own).astype(np.intp)
        ends = np.zeros((len(reverted), steps.shape[1]))
        ends[np.arange(len(reverted)), len(measured) + np.arange(len(reverted))] = 1.0
        weights = np.array([*cells.weights, 0.0])[own - 1]
        whole = np.maximum(by_segment(cells, measured)[segments], 1e-300)
        return cls(tuple(reverted), segments, weights / whole, steps[segments] * (1 - ends), ends)


@dataclass(frozen=True, slots=True)
class Columns:
    """The boots as arrays, and what each hypothesis says of each column."""

    boots: Boots
    measured: tuple[int, ...]
    steps: Floats  # [segment, column]
    reverts: Reverts

    @classmethod
    def of(
        cls, question: Question, history: History, cells: Cells, observed: Sequence[Observed]
    ) -> Columns:
        places = [cells.place_of.get(item.point) for item in observed]
        measured = tuple(sorted({place for place in places if place is not None}))
        reverted = sorted(
            {
                history.verified[item.group]
                for item, place in zip(observed, places, strict=True)
                if place is None
            }
        )
        column_of = {place: column for column, place in enumerate(measured)}
        columns = [
            column_of[place]
            if place is not None
            else len(measured) + reverted.index(history.verified[item.group])
            for item, place in zip(observed, places, strict=True)
        ]
        sign = 1.0 if question.higher_is_worse else -1.0
        y = np.array([sign * item.value for item in observed])
        builds = [(column, item.layout) for column, item in zip(columns, observed, strict=True)]
        boots = Boots(
            y=y - y.mean() if y.size else y,
            blocks=_numbered([item.group for item in observed]),
            columns=np.array(columns, dtype=np.intp),
            builds=_numbered(builds) if any(item.layout for item in observed) else None,
            width=len(measured) + len(reverted),
        )
        steps = steps_of(cells, measured, reverted)
        return cls(boots, measured, steps, Reverts.of(cells, measured, reverted, steps))


def _numbered(names: Sequence[object]) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def steps_of(cells: Cells, measured: Sequence[int], reverted: Sequence[int]) -> Floats:
    """1 where a column has the changed level, were the change in a segment; ``[segment, column]``.

    A reverted end has it unless the candidate that is reverted is the culprit.
    """
    segments = len(measured) + 1
    steps = np.zeros((segments, len(measured) + len(reverted)))
    for column in range(len(measured)):
        steps[: column + 1, column] = 1.0
    weights = by_segment(cells, measured)
    for number, candidate in enumerate(reverted):
        cell = cells.cell_of(candidate)
        column = len(measured) + number
        steps[:, column] = 1.0
        if cell is not None:
            segment = int(np.searchsorted(measured, cell))
            steps[segment, column] = 1.0 - cells.weights[cell - 1] / float(weights[segment])
    return steps


def by_segment(cells: Cells, measured: Sequence[int]) -> Floats:
    weights = np.zeros(len(measured) + 1)
    at = np.searchsorted(measured, np.arange(1, cells.last + 1))
    np.add.at(weights, at, np.array(cells.weights))
    return weights
