"""What can be told apart: points that can be booted, and the candidates between two of them.

A point whose candidate has weight 0 has its parent's binary, so it is its parent for us. A skipped
point tells nothing, so the candidates on both sides of it cannot be told apart. What is left are
*places*, one for each binary that can be booted, and *cells*: the candidates between two places
that follow each other. The change happened in one cell; a cell of one candidate names it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from mitigauge.tracking.bisect.model import Question


@dataclass(frozen=True, slots=True)
class Cells:
    """``places``: the point to boot for each place 0…J, the first and the last end among them.

    Cell j (1…J) lies between place j − 1 and place j: ``candidates[j − 1]`` are its candidates that
    have weight, ``weights[j − 1]`` is that weight, all weights together 1. ``place_of``: point →
    place, for each point that can be booted.
    """

    places: tuple[int, ...]
    candidates: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    place_of: Mapping[int, int]

    @property
    def last(self) -> int:
        """J: the last place and the number of cells."""
        return len(self.candidates)

    def cell_of(self, candidate: int) -> int | None:
        """The cell (1…J) of *candidate*; ``None`` where its weight is 0."""
        starts = [inside[0] for inside in self.candidates]
        at = bisect_left(starts, candidate + 1) - 1
        return at + 1 if at >= 0 and candidate in self.candidates[at] else None


def cells_of(question: Question, skipped: Mapping[int, str]) -> Cells:
    """Places and cells; no cell at all where no candidate has any weight."""
    builds = _points_by_binary(question)
    last = question.last
    places: list[int] = []
    candidates: list[tuple[int, ...]] = []
    place_of: dict[int, int] = {}
    inside: list[int] = []
    for points in builds:
        if points[0] > 0:
            inside.append(points[0])
        end = 0 if points[0] == 0 else last if points[-1] == last else None
        if end is None and any(point in skipped for point in points):
            continue
        if places:
            candidates.append(tuple(inside))
            inside = []
        place_of.update(dict.fromkeys(points, len(places)))
        places.append(points[0] if end is None else end)
    total = max(math.fsum(question.priors), 1e-300)
    weights = [sum(question.priors[k - 1] / total for k in cell) for cell in candidates]
    return Cells(tuple(places), tuple(candidates), tuple(weights), place_of)


def _points_by_binary(question: Question) -> list[list[int]]:
    """Points that share a binary, in order."""
    builds = [[0]]
    for point, prior in enumerate(question.priors, 1):
        if prior > 0:
            builds.append([point])
        else:
            builds[-1].append(point)
    return builds
