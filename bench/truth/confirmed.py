"""The whole path of an alarm: a detector says it, fresh boots of both kernels confirm it or not.

Each alarm for the worse, of a year of weekly values, is followed by an experiment: the kernel
before and the one after, side by side, judged by the engine that judges every experiment. Where
nothing was changed, both are one; season, drift and a host's two modes meet both alike. Of a step
the new kernel is slower by its size. Boots scatter about their block by *boot_noise* percent;
weekly values by 1 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.stats.noise import simulate
from bench.stats.rules import ours
from bench.truth.detectors import Detector
from bench.truth.intervals import Interval, wilson
from bench.truth.made import LEVEL, NULL, made
from bench.truth.metric import MARGIN, away
from bench.truth.series import Known
from bench.truth.year import FRAME, HISTORY, SEEN, Said, said_of_each
from mitigauge.tracking.regressions.confirmation import ARMS, BLOCKS

STEPS = ("step 2", "step 3", "step 2, AR(1) 0.4")
# Percent of the level: as the weeks scatter, and as if four boots a week made all of that.
BOOT_NOISES = (1.0, 2.0)
# How boots of a host scatter whose weekly values look so.
NOISE_OF = {"t, 3 degrees": "heavy", "two modes": "bimodal"}
SEED = 43
# Values about a place that tell which way the level went there.
ABOUT = 8


@dataclass(frozen=True, slots=True)
class Decided:
    """What fresh boots said of an alarm, and in which week of the year it was said."""

    week: int
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Path:
    """What became of the alarms for the worse of so many series of one kind."""

    kind: str
    boot_noise: float
    decided: tuple[tuple[Decided, ...], ...]
    """Of each series."""
    boots: float
    """A series and year."""

    @property
    def series(self) -> int:
        """How many there are."""
        return len(self.decided)

    @property
    def alarms(self) -> int:
        """Of all of them."""
        return sum(map(len, self.decided))

    @property
    def confirmed(self) -> int:
        """Series, of which at least one alarm was confirmed."""
        return sum(any(each.confirmed for each in of) for of in self.decided)

    @property
    def share(self) -> Interval:
        """Of the series, with 95 %."""
        return wilson(self.confirmed, self.series)


def paths(detector: Detector, null_years: int, stepped_years: int) -> Iterator[Path]:
    """Every kind with each scatter of boots."""
    for kind in (*NULL, *STEPS):
        count = stepped_years if kind in STEPS else null_years
        series = [upward(each) for each in made(kind, count, FRAME)]
        looks = detector.as_it_goes([each.values for each in series], SEEN)
        said = [worse(of, each) for of, each in zip(series, said_of_each(looks), strict=True)]
        for noise in BOOT_NOISES:
            yield _path(kind, noise, series, said)


def upward(of: Known) -> Known:
    """The series with its change for the worse: turned about its level where it goes down."""
    if not of.changes or of.changes[0].size > 0:
        return of
    change = of.changes[0]
    values = 2 * LEVEL - of.values
    turned = type(change)(change.first, change.last, -change.size)
    return Known(of.kind, values, (turned,), of.weeks)


def worse(of: Known, said: Sequence[Said]) -> list[Said]:
    """Alarms behind which the values are larger; of a step only those at its place."""
    found = []
    for each in said:
        before = of.values[max(each.place - ABOUT, 0) : each.place]
        after = of.values[each.place : min(each.place + ABOUT, each.seen)]
        is_real = not of.changes or away(of.changes[0], each.place) <= MARGIN
        if is_real and len(before) and len(after) and np.median(after) > np.median(before):
            found.append(each)
    return found


def _path(kind: str, noise: float, series: Sequence[Known], said: Sequence[list[Said]]) -> Path:
    alarms = sum(map(len, said))
    effect = series[0].changes[0].size if series[0].changes else 0.0
    confirmed, boots = (
        fresh_boots(alarms, effect, noise, NOISE_OF.get(kind, "Gaussian")) if alarms else ([], 0.0)
    )
    answers = iter(confirmed)
    decided = tuple(tuple(Decided(a.seen - HISTORY, next(answers)) for a in each) for each in said)
    return Path(kind, noise, decided, boots / len(series))


def fresh_boots(count: int, effect: float, noise: float, shape: str) -> tuple[list[bool], float]:
    """Whether each of *count* experiments says *worse*, and the boots that all of them took.

    *effect*, *noise*: percent.
    """
    values = simulate(
        shape, experiments=count, contrasts=1, boot_noise_percent=noise, effect_percent=effect,
        seed=(SEED, count, round(100 * noise)), blocks=BLOCKS,
    )  # fmt: skip
    answers = ours(values)
    return list(answers.changed[:, 0] == 1), float(answers.blocks.sum()) * len(ARMS)
