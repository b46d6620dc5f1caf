"""Every detector behind one interface: series in, what changed in each of them out.

Whoever says where alone is given sizes here: the difference of the means of the stretches on both
sides, with Welch's interval. Ours says its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scipy.special import stdtrit

from bench.truth import bocpd, glr
from bench.truth.metric import MARGIN
from bench.truth.series import Answer, Found, Values
from mitigauge.core.stats.change_points import Course, courses

Look = list[list[int]]
"""Places that are said of each series when so many of its values were seen."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A name and what it finds; *looks* where a year is cheaper than look by look."""

    name: str
    answers: Callable[[Sequence[Values]], list[Answer]]
    looks: Callable[[Sequence[Values], range], list[Look]] | None = None

    def found(self, values: Values) -> Answer:
        """What it says of one series."""
        return self.answers([values])[0]

    def as_it_goes(self, series: Sequence[Values], seen: range) -> list[Look]:
        """What is said after each number of values in *seen*."""
        if self.looks is not None:
            return self.looks(series, seen)
        parts = ([values[:end] for values in series] for end in seen)
        return [[[each.place for each in a] for a in self.answers(part)] for part in parts]


def sized(values: Values, places: Sequence[int]) -> Answer:
    """Each place with the difference of the stretches beside it."""
    bounds = [0, *sorted({place for place in places if 0 < place < len(values)}), len(values)]
    parts = [values[first:end] for first, end in pairwise(bounds)]
    return [
        Found(place, *welch(before, after))
        for place, (before, after) in zip(bounds[1:-1], pairwise(parts), strict=True)
    ]


def welch(before: Values, after: Values) -> tuple[float, float, float]:
    """Difference of two means with its 95 % interval; one value alone bounds nothing."""
    difference = float(after.mean() - before.mean())
    if min(before.size, after.size) < 2:
        return difference, -math.inf, math.inf
    errors = [float(part.var(ddof=1)) / part.size for part in (before, after)]
    error = sum(errors)
    if error <= 0.0:
        return difference, difference, difference
    rest = sum(e**2 / (p.size - 1) for e, p in zip(errors, (before, after), strict=True))
    reach = float(stdtrit(error**2 / rest, 0.975)) * math.sqrt(error)
    return difference, difference - reach, difference + reach


def _of_course(values: Values, course: Course) -> Answer:
    """Every bound between two levels is a place; of those that are changes, their own size."""
    own = {c.at: Found(c.at, c.difference, c.low, c.high) for c in course.changes}
    bounds = [first for first, _, _ in course.levels[1:]]
    return [own.get(each.place, each) for each in sized(values, bounds)]


def _ours(series: Sequence[Values]) -> list[Answer]:
    found = courses(series)
    return [_of_course(values, course) for values, course in zip(series, found, strict=True)]


def _by_places(places: Callable[[Values], list[int]]) -> Callable[[Sequence[Values]], list[Answer]]:
    return lambda series: [sized(values, places(values)) for values in series]


def _bocpd(series: Sequence[Values]) -> list[Answer]:
    said = bocpd.alarms(series)
    return [
        sized(values, [alarm.place for alarm in alarms])
        for values, alarms in zip(series, said, strict=True)
    ]


def _bocpd_looks(series: Sequence[Values], seen: range) -> list[Look]:
    said = bocpd.alarms(series)
    return [[[a.place for a in alarms if a.seen <= end] for alarms in said] for end in seen]


def vote(*answers: Sequence[int], of: int = 2) -> list[int]:
    """Places that *of* or more answers have within five values: the first answer's own, if any."""
    places: list[int] = []
    for number, answer in enumerate(answers):
        others = [other for at, other in enumerate(answers) if at != number]
        for place in answer:
            votes = 1 + sum(_has(other, place) for other in others)
            if votes >= of and not _has(places, place):
                places.append(place)
    return sorted(places)


def _has(places: Sequence[int], place: int) -> bool:
    return any(abs(place - other) <= MARGIN for other in places)


OURS = Detector("ours", _ours)
GLR = Detector("GLR, 5.4", _by_places(glr.places))
BOCPD = Detector("BOCPD", _bocpd, _bocpd_looks)
SILENCE = Detector("silence", lambda series: [[] for _ in series])
DETECTORS = (SILENCE, OURS, GLR, BOCPD)
VOTE = "vote of three"
VOTERS = (OURS.name, GLR.name, BOCPD.name)
