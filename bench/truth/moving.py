"""Null years in which every new build lies elsewhere: what a week then confirms, all of it false.

Every eighth week a kernel comes that is a new build of a source that never becomes slower. Where
its code lies moves the level, by a scatter that is a share of a boot's. Alarms for the worse are
followed by boots of the build before and the build after, as the service orders them: of these two
where there are no more, or of three of each that differ in layout alone, these two among them. The
two were chosen by an alarm, so that they differ by more than others do.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.stats.layouts import judged
from bench.truth.confirmed import worse
from bench.truth.detectors import Detector
from bench.truth.intervals import Interval, wilson
from bench.truth.made import LEVEL
from bench.truth.series import Known
from bench.truth.year import HISTORY, SEEN, WEEKS, said_of_each
from mitigauge.core.effect import Effect, Verdict
from mitigauge.tracking.regressions.confirmation import (
    BLOCKS,
    Pair,
    Told,
    enough_confirmed,
    outcome,
)
from mitigauge.tracking.regressions.states import ConfirmationState

EVERY = 8
SCATTERS = (0.5, 1.0, 2.0)
LAYOUTS = (1, 3)
# Percent, of a boot's mean.
BOOT_NOISE = 1.0
SEED = 44
_PAIR = Pair("before", "after", "host", counted=False)
_IS_DECISION = (
    ConfirmationState.CONFIRMED, ConfirmationState.REFUTED, ConfirmationState.UNDECIDED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alarm:
    """One for the worse, where a build came; both builds' levels in shares of a boot's scatter."""

    fleet: int
    week: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class NullYears:
    """What became of the alarms of fleets in which nothing becomes slower."""

    scatter: float
    layouts: int
    alarms: int
    called_worse: int
    """Of the alarms: what a rule calls confirmed that takes one *worse* for it."""
    confirmed: int
    false_weeks: int
    """Weeks of a fleet that call something confirmed."""
    weeks: int

    @property
    def share(self) -> Interval:
        """Of the weeks, 95 %."""
        return wilson(self.false_weeks, self.weeks)


def null_years(detector: Detector, years: int, fleet: int) -> Iterator[NullYears]:
    """Each scatter with each number of layouts; *fleet*: series that one weekly letter is of."""
    length = HISTORY + WEEKS
    for scatter in SCATTERS:
        rng = np.random.default_rng([SEED, round(10 * scatter)])
        builds = scatter * rng.standard_normal((years, math.ceil(length / EVERY)))
        values = LEVEL + rng.standard_normal((years, length))
        values += np.repeat(builds, EVERY, axis=1)[:, :length]
        series = [Known("new builds", row, (), np.arange(length)) for row in values]
        looks = detector.as_it_goes([each.values for each in series], SEEN)
        said = [worse(of, each) for of, each in zip(series, said_of_each(looks), strict=True)]
        # Values before and behind the others ran on one kernel, which has nothing to be told by.
        alarms = [
            Alarm(number // fleet, each.seen, *builds[number, [at - 1, at]])
            for number, of in enumerate(said)
            for each in of
            for at in [each.place // EVERY]
            if each.place % EVERY == 0
        ]
        for layouts in LAYOUTS:
            verdicts = fresh_boots(alarms, scatter, layouts, rng)
            yield _counted(scatter, layouts, alarms, verdicts, WEEKS * (years // fleet))


def _counted(
    scatter: float,
    layouts: int,
    alarms: Sequence[Alarm],
    verdicts: Sequence[Verdict | None],
    weeks: int,
) -> NullYears:
    decided: dict[tuple[int, int], list[bool]] = defaultdict(list)
    for alarm, verdict in zip(alarms, verdicts, strict=True):
        state = _state(verdict, layouts)
        if state in _IS_DECISION:
            is_confirmed = state is ConfirmationState.CONFIRMED
            decided[alarm.fleet, alarm.week].append(is_confirmed)
    return NullYears(
        scatter=scatter,
        layouts=layouts,
        alarms=len(alarms),
        called_worse=list(verdicts).count(Verdict.WORSE),
        confirmed=sum(map(sum, decided.values())),
        false_weeks=sum(enough_confirmed(sum(of), len(of)) for of in decided.values()),
        weeks=weeks,
    )


def fresh_boots(
    alarms: Sequence[Alarm], scatter: float, layouts: int, rng: np.random.Generator
) -> list[Verdict | None]:
    """What each experiment says of two kernels that differ by where their code lies alone."""
    shape = len(alarms), 2
    builds = scatter * BOOT_NOISE * rng.standard_normal((*shape, layouts))
    builds[:, :, 0] = BOOT_NOISE * np.array([(of.before, of.after) for of in alarms]).reshape(shape)
    boots = BOOT_NOISE * rng.standard_normal((*shape, BLOCKS))
    told = judged(boots + builds[:, :, np.arange(BLOCKS) % layouts], layouts)
    return [Verdict(each[1].verdict) if each[1].verdict else None for each in told]


def _state(verdict: Verdict | None, layouts: int) -> ConfirmationState:
    effect = Effect(value=1.0, low=0.5, high=1.5)
    return outcome(_PAIR, Told(verdict, effect, 2 * BLOCKS, layouts, LEVEL, ""), "").state
