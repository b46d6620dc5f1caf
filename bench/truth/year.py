"""Series as a year goes: each week one value more is seen, and all are looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.truth.detectors import Look
from bench.truth.made import Frame
from bench.truth.metric import MARGIN, away
from bench.truth.series import Known

# Half a year is there when the year begins. What is said of it then is known already.
HISTORY = 26
WEEKS = 52
# Two levels of three values each.
FEWEST = 6
SEEN = range(HISTORY, HISTORY + WEEKS + 1)
# Changes come after a quarter of the year, and leave 20 values to be noticed by.
FRAME = Frame(HISTORY + WEEKS, HISTORY + WEEKS, HISTORY + 14, 20)


@dataclass(frozen=True, slots=True)
class Said:
    """A place and how many values were seen when it was first said."""

    place: int
    seen: int


def first_said(looks: Sequence[Sequence[int]], seen: Sequence[int]) -> list[Said]:
    """New alarms of one series: places that are not within five values of any said before.

    What the first look says is old.
    """
    known = list(looks[0])
    said: list[Said] = []
    for places, end in zip(looks[1:], seen[1:], strict=True):
        for place in places:
            if all(abs(place - other) > MARGIN for other in known):
                known.append(place)
                said.append(Said(place, end))
    return said


def delay(series: Known, said: Sequence[Said]) -> int | None:
    """Values at the new level that were seen when the change was first said; None: it never was."""
    change = series.changes[0]
    ends = [each.seen for each in said if away(change, each.place) <= MARGIN]
    return max(min(ends) - change.first, 0) if ends else None


def said_of_each(looks: Sequence[Look], seen: Sequence[int] = SEEN) -> list[list[Said]]:
    """Of each series, from what was said of all of them at each look."""
    return [first_said([look[row] for look in looks], seen) for row in range(len(looks[0]))]
