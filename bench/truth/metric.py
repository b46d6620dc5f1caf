"""The one metric: which of the true changes were found, and what was said besides.

A true change is found if a place is at most five values from it; of a ramp, from its stretch. Each
place finds one change and each change is found once, the nearest first. Every other place is a
false alarm, but for further places within a ramp that was found: those tell the same change.
Counts are summed over series before shares are taken of them, and the start of a series is no
change: whoever says nothing has found nothing, and has recall 0 and F1 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from bench.truth.series import Answer, Known, Truth

MARGIN = 5


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one series, or of many."""

    right: int = 0
    missed: int = 0
    false: int = 0
    held: int = 0
    """Of those that are right: whose interval holds the true size."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.right + other.right,
            self.missed + other.missed,
            self.false + other.false,
            self.held + other.held,
        )

    @property
    def precision(self) -> float:
        """Share of what was said that is right; 0 where nothing was said."""
        return _share(self.right, self.right + self.false)

    @property
    def recall(self) -> float:
        """Share of the true changes that were found."""
        return _share(self.right, self.right + self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.right, 2 * self.right + self.false + self.missed)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def total(counts: Iterable[Counts]) -> Counts:
    """The sum of them."""
    return sum(counts, Counts())


def matches(changes: Sequence[Truth], places: Sequence[int]) -> dict[int, int]:
    """Which of *changes* is found by which of *places*, both by their number, the nearest first."""
    near = sorted(
        (off, change, place)
        for change, truth in enumerate(changes)
        for place, at in enumerate(places)
        if (off := away(truth, at)) <= MARGIN
    )
    found: dict[int, int] = {}
    for _, change, place in near:
        if change not in found and place not in found.values():
            found[change] = place
    return found


def away(change: Truth, place: int) -> int:
    """By how many values a place is off a change."""
    return max(change.first - place, place - change.last, 0)


def judged(series: Known, answer: Answer) -> Counts:
    """What an answer says of a series whose changes are known."""
    found = matches(series.changes, [each.place for each in answer])
    held = sum(
        answer[place].low <= series.changes[change].size <= answer[place].high
        for change, place in found.items()
    )
    again = sum(
        number not in found.values()
        and any(_within(series.changes[change], each.place) for change in found)
        for number, each in enumerate(answer)
    )
    right = len(found)
    return Counts(right, len(series.changes) - right, len(answer) - right - again, held)


def _within(change: Truth, place: int) -> bool:
    return change.first < change.last and away(change, place) <= MARGIN


def counted_with_start(readers: Sequence[Sequence[Truth]], places: Iterable[int]) -> float:
    """F1 of one series as the Turing Change Point Dataset counts: the start is a change.

    Precision against what any reader marked, recall averaged over the readers (van den Burg and
    Williams, arXiv:2003.06222, 2020). Everybody finds the start, so that silence is right on every
    series in which nothing changes, and two thirds right where there is one change.
    """
    start = Truth(0, 0, 0.0)
    every = sorted({0, *places})
    union = {(truth.first, truth.last): truth for truth in chain(*readers)}
    precision = len(matches([start, *union.values()], every)) / len(every)
    recalls = [len(matches([start, *marks], every)) / (1 + len(marks)) for marks in readers]
    recall = sum(recalls) / len(recalls)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
