"""Where the level of a series changed, how surely, and by how much (the detector).

A generalised likelihood ratio for one step of the mean, applied again to both parts. With normal
noise whose mean of n values deviates by σ/√n, the root of twice the log of the ratio is

    |mean after − mean before| / (σ·√(1/a + 1/b)).

The largest one of a stretch is a change where it is over THRESHOLD. σ is that of an
autoregression's mean, of each stretch anew: neighbours in time are alike. What is found is then
read as a step function:

- a change that is smaller than δ is none, however sure it is;
- a change after which the level came back is one *that went away*, not two;
- values far off all that is around them, three in a row at most, are *outliers*, not a change.

Outliers leave first: one value in a wrong unit is larger than any step, so that the largest
ratio would be its own. What is said of places holds for the whole series again.

Values are one for each run: the mean of the boots' means on the log scale. Boots of a run share a
day, so they are no replicates of what happens between runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.dependence import long_run_variance

# A level needs so many values: one that is off is an outlier, and two may be chance.
SHORTEST = 3
# Of a stretch that is looked at: of fewer too little is known of the noise.
FEWEST = 14
# Standard deviations of a difference of means, with the likeness of neighbours. A look after every
# value makes as many false alarms a year as docs/trends.md says.
THRESHOLD = 4.8
_TINY = float(np.finfo(float).tiny)
# −2·ln(1 − √0.95): the likelihood ratio of two exponential sides (Yao, Ann. Stat. 15, 1987).
_PLACE_RATIO = -2.0 * math.log(1.0 - math.sqrt(0.95))
# A value so many robust standard deviations off its level is an outlier.
_OUTLIER_DEVIATIONS = 6.0
_ROBUST = 1.4826
# An outlier is far off the median of so many values about it. Four of them in a row are the median,
# so that the shortest level that a test could prove stays.
_WINDOW = 7
# More than for one that is only marked: it leaves the test too.
_WILD_DEVIATIONS = 10.0
_BESIDE = 3
# Of a series; where more are far off, this is what it does.
_MOST_OUTLIERS = 1.0 / 3.0
# A level that came back to within this share of the change did come back.
_BACK_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Change:
    """One change of level; places are positions in the series, from 0."""

    at: int
    """The first value at the new level."""
    earliest: int
    latest: int
    """95 %: the first value at the new level is none before *earliest* and none after *latest*."""
    until: int | None
    """Of one that went away: the first value without it."""
    p: float
    """Of the ratio in normal noise, times the places that it is the largest of."""
    before: float
    after: float
    """Means of the levels, outliers left out, on the scale that was given."""
    low: float
    high: float
    """95 % interval of *after* − *before* (Welch)."""
    values_before: int
    values_after: int

    @property
    def difference(self) -> float:
        """How far the level moved."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Course:
    """What one series did."""

    changes: tuple[Change, ...]
    levels: tuple[tuple[int, int, float], ...]
    """(first, end, mean) of each stretch between two changes."""
    outliers: tuple[int, ...]


@dataclass(slots=True)
class _Splits:
    """Places at which one series was split, with their p values."""

    p: dict[int, float] = field(default_factory=dict)

    def bounds(self, length: int) -> list[int]:
        return [0, *sorted(self.p), length]


def courses(series: Sequence[Floats], *, smallest: Sequence[float] | float = 0.0) -> list[Course]:
    """What each of *series* did; rows may differ in length. Finite numbers, in order of time.

    *smallest*: the smallest change that counts, one for all or one for each, on the scale given
    (for logarithms ln(1 + δ)).
    """
    if isinstance(smallest, float | int):
        smallest = [float(smallest)] * len(series)
    return [course_of(values, floor) for values, floor in zip(series, smallest, strict=True)]


def course_of(values: Floats, smallest: float) -> Course:
    """What one series did."""
    normal = ~wild(values, smallest)
    kept = values[normal]
    splits = _Splits()
    _split(kept, 0, splits)
    return _among_all(_course(kept, splits, smallest), normal)


def wild(values: Floats, smallest: float) -> Mask:
    """Which values of one series are far off what is around them, in whatever level that is.

    By ten robust deviations of what the medians of seven leave, and by no less than the *smallest*
    change that counts. None where they would be more than a third of the series.
    """
    size = min(_WINDOW, len(values))
    if size < _WINDOW:
        return np.zeros(len(values), dtype=np.bool_)
    medians = np.median(np.lib.stride_tricks.sliding_window_view(values, size), axis=1)
    # The first and the last ones have the first and the last window.
    around = np.concatenate(
        [np.repeat(medians[0], size // 2), medians, np.repeat(medians[-1], size // 2)]
    )
    off = np.abs(values - around)
    # The values about it include the value itself, so that few of them leave too little.
    apart = float(np.median(np.abs(np.diff(values)))) / math.sqrt(2.0)
    noise = _ROBUST * max(float(np.median(off)), apart)
    reach = max(_WILD_DEVIATIONS * noise, smallest, np.finfo(float).tiny)
    far: Mask = off > reach
    normal = np.flatnonzero(~far)
    for place in np.flatnonzero(far):
        # Beside a step an outlier tips the median to the other level's side.
        before, after = np.split(normal, [np.searchsorted(normal, place)])
        sides = [side for side in (before[-_BESIDE:], after[:_BESIDE]) if len(side)]
        far[place] = all(abs(values[place] - np.median(values[side])) > reach for side in sides)
    return far if far.mean() <= _MOST_OUTLIERS else np.zeros_like(far)


def _among_all(course: Course, normal: Mask) -> Course:
    """What was said of the values that are *normal*, by places among all of them."""
    if not len(normal):
        return course
    at = [*(int(place) for place in np.flatnonzero(normal)), len(normal)]
    bounds = [0, *(at[first] for first, _, _ in course.levels[1:]), len(normal)]
    levels = tuple(
        (first, end, level[2])
        for (first, end), level in zip(pairwise(bounds), course.levels, strict=True)
    )
    outliers = {at[place] for place in course.outliers} | set(np.flatnonzero(~normal).tolist())
    return Course(
        tuple(_change_among_all(change, at) for change in course.changes),
        levels,
        tuple(sorted(outliers)),
    )


def _change_among_all(change: Change, at: Sequence[int]) -> Change:
    place, first = at[change.at], change.at - change.values_before
    return replace(
        change,
        at=place,
        earliest=at[change.earliest],
        latest=at[change.latest],
        until=None if change.until is None else at[change.until],
        values_before=place - (at[first] if first else 0),
        values_after=at[change.at + change.values_after] - place,
    )


def _split(values: Floats, first: int, splits: _Splits) -> None:
    """Note where a stretch steps, and where both of its parts do."""
    if len(values) < FEWEST:
        return
    ratios = _ratios(values)
    best = int(np.argmax(ratios))
    middle = SHORTEST + best
    sides = values[:middle], values[middle:]
    levels = np.concatenate([np.full(len(side), side.mean()) for side in sides])
    deviation = math.sqrt(long_run_variance(values, levels))
    if ratios[best] <= THRESHOLD * max(deviation, _TINY):
        return
    ratio = ratios[best] / max(deviation, _TINY)
    splits.p[first + middle] = min(1.0, len(ratios) * 2.0 * float(special.ndtr(-ratio)))
    _split(sides[0], first, splits)
    _split(sides[1], first + middle, splits)


def _ratios(values: Floats) -> Floats:
    """For a deviation of 1, of each place that leaves enough values on both sides."""
    size = len(values)
    left = np.arange(SHORTEST, size - SHORTEST + 1)
    sums = np.cumsum(values - values.mean())[left - 1]
    return np.asarray(np.abs(sums) * np.sqrt(1.0 / left + 1.0 / (size - left)))


def _course(values: Floats, splits: _Splits, smallest: float) -> Course:
    """Read the splits as levels, changes and outliers."""
    if not len(values):
        return Course((), (), ())
    bounds = splits.bounds(len(values))
    bounds = _placed_again(values, bounds)
    p = dict(zip(bounds[1:-1], (splits.p[place] for place in sorted(splits.p)), strict=True))
    normal = ~_outliers(values, bounds, smallest)
    bounds = _without_small(values, normal, bounds, smallest)
    means = [_mean(values, normal, first, end) for first, end in _pairs(bounds)]
    changes = _read(values, normal, bounds, means, p, smallest)
    levels = tuple(
        (first, end, mean) for (first, end), mean in zip(_pairs(bounds), means, strict=True)
    )
    outliers = _outliers(values, bounds, smallest)
    return Course(tuple(changes), levels, tuple(int(place) for place in np.flatnonzero(outliers)))


def _pairs(bounds: Sequence[int]) -> Iterable[tuple[int, int]]:
    return pairwise(bounds)


def _placed_again(values: Floats, bounds: list[int]) -> list[int]:
    """Each inner bound where it divides its two neighbours best: a first split saw both at once."""
    placed = list(bounds)
    for index in range(1, len(bounds) - 1):
        first, end = placed[index - 1], placed[index + 1]
        if end - first >= 2 * SHORTEST:
            placed[index] = first + SHORTEST + int(np.argmax(_ratios(values[first:end])))
    return placed


def _outliers(values: Floats, bounds: Sequence[int], smallest: float) -> Mask:
    """Single values far off the median of their stretch, by the noise of all stretches."""
    off = np.concatenate(
        [values[first:end] - np.median(values[first:end]) for first, end in _pairs(bounds)]
    )
    noise = _ROBUST * float(np.median(np.abs(off)))
    far = np.abs(off) > max(_OUTLIER_DEVIATIONS * noise, smallest, np.finfo(float).tiny)
    alone: Mask = far.copy()
    alone[1:] &= ~far[:-1]
    alone[:-1] &= ~far[1:]
    return alone


def _mean(values: Floats, normal: Mask, first: int, end: int) -> float:
    chosen = values[first:end][normal[first:end]]
    return float(chosen.mean() if chosen.size else values[first:end].mean())


def _without_small(
    values: Floats,
    normal: Mask,
    bounds: list[int],
    smallest: float,
) -> list[int]:
    """Join neighbours whose levels differ by less than what counts, the most alike first."""
    bounds = list(bounds)
    while len(bounds) > 2:
        means = [_mean(values, normal, first, end) for first, end in _pairs(bounds)]
        apart = np.abs(np.diff(means))
        least = int(np.argmin(apart))
        if apart[least] >= smallest:
            break
        del bounds[least + 1]
    return bounds


def _read(
    values: Floats,
    normal: Mask,
    bounds: Sequence[int],
    means: Sequence[float],
    p: dict[int, float],
    smallest: float,
) -> Iterable[Change]:
    index = 1
    while index < len(bounds) - 1:
        before, place = bounds[index - 1], bounds[index]
        end = bounds[index + 1]
        returns = index + 2 < len(bounds) and _came_back(means[index - 1 : index + 2], smallest)
        earliest, latest = _place_interval(values, before, place, end)
        low, high = _welch(values, normal, (before, place), (place, end))
        yield Change(
            at=place,
            earliest=earliest,
            latest=latest,
            until=end if returns else None,
            p=p[place],
            before=means[index - 1],
            after=means[index],
            low=low,
            high=high,
            values_before=place - before,
            values_after=end - place,
        )
        index += 2 if returns else 1


def _came_back(means: Sequence[float], smallest: float) -> bool:
    first, second, third = means
    jump = min(abs(second - first), abs(third - second))
    return abs(third - first) <= max(smallest, _BACK_SHARE * jump)


def _place_interval(values: Floats, first: int, place: int, end: int) -> tuple[int, int]:
    """Places that the data tell from the best one with less than 95 % confidence.

    Of the likelihood of one step in normal noise: m·ln(SSE / smallest SSE) ≤ −2·ln(1 − √0.95).
    """
    part = values[first:end] - values[first:end].mean()
    size = len(part)
    left = np.arange(1, size)
    sums = np.cumsum(part)[:-1]
    total = float(np.square(part).sum())
    errors = np.maximum(total - sums**2 * (1.0 / left + 1.0 / (size - left)), 0.0)
    best = errors[place - first - 1]
    tiny = 1e-12 * total + np.finfo(float).tiny
    near = size * np.log((errors + tiny) / (best + tiny)) <= _PLACE_RATIO
    likely = first + left[near]
    return min(int(likely.min()), place), max(int(likely.max()), place)


def _welch(
    values: Floats,
    normal: Mask,
    one: tuple[int, int],
    two: tuple[int, int],
) -> tuple[float, float]:
    """95 % interval of the difference of two means with variances of their own (Welch 1947)."""
    parts = [values[slice(*part)][normal[slice(*part)]] for part in (one, two)]
    if min(part.size for part in parts) < 2:
        parts = [values[slice(*part)] for part in (one, two)]
    errors = [float(part.var(ddof=1)) / part.size for part in parts]
    difference = float(parts[1].mean() - parts[0].mean())
    error = sum(errors)
    if error <= 0.0:
        return difference, difference
    freedom = error**2 / sum(e**2 / (part.size - 1) for e, part in zip(errors, parts, strict=True))
    reach = float(special.stdtrit(freedom, 0.975)) * math.sqrt(error)
    return difference - reach, difference + reach
