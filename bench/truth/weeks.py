"""What the weekly reports of a fleet call confirmed, and how much of it is false.

Series of all null kinds, as many of each, are mixed with some that step; each alarm is decided by
fresh boots in the week it is said in, and the report calls confirmed what its rule allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from bench.truth.confirmed import Decided, Path
from bench.truth.intervals import Interval
from bench.truth.made import NULL
from bench.truth.year import WEEKS as WEEKS_A_YEAR
from mitigauge.tracking.regressions.confirmation import enough_confirmed

STEP = "step 2"
_DRAWS = 2000
_SEED = 8
# No false one in n weeks: a mean share of 3 / n is not ruled out (5 %).
_NONE_SEEN = 3.0

OneSeries = tuple[bool, tuple[Decided, ...]]
"""Whether it really steps, and what was decided of it."""


@dataclass(frozen=True, slots=True)
class Weeks:
    """Every week of every fleet."""

    shares: tuple[float, ...]
    """The false part of what each week calls confirmed; 0 where it calls nothing so."""
    false: int
    true: int
    held_back: int
    """Confirmed and really slower, in a week that confirmed too few to say so."""

    @property
    def mean(self) -> float:
        """What the rule bounds."""
        return float(np.mean(self.shares)) if self.shares else 0.0

    @property
    def interval(self) -> Interval:
        """95 % of the mean, by weeks drawn anew."""
        weeks = np.array(self.shares)
        if not weeks.any():
            return 0.0, _NONE_SEEN / max(len(weeks), 1)
        rng = np.random.default_rng(_SEED)
        means = [float(rng.choice(weeks, len(weeks)).mean()) for _ in range(_DRAWS)]
        low, high = np.quantile(means, (0.025, 0.975))
        return float(low), float(high)


def fleets(found: Sequence[Path], noise: float, changed: float, size: int) -> Weeks:
    """The year of fleets of *size* series, of which the part *changed* steps.

    *noise*: percent, of boots. What is left over of the series makes no fleet.
    """
    of = {path.kind: path for path in found if path.boot_noise == noise}
    null = list(_in_turn([of[kind] for kind in NULL]))
    steps = [(True, decided) for decided in of[STEP].decided]
    stepping = round(size * changed)
    count = len(null) // (size - stepping)
    if stepping:
        count = min(count, len(steps) // stepping)
    years = [
        _year(
            null[each * (size - stepping) : (each + 1) * (size - stepping)]
            + steps[each * stepping : (each + 1) * stepping]
        )
        for each in range(count)
    ]
    return Weeks(
        tuple(chain.from_iterable(year.shares for year in years)),
        *(sum(getattr(year, name) for year in years) for name in ("false", "true", "held_back")),
    )


def _in_turn(paths: Sequence[Path]) -> Iterator[OneSeries]:
    """One series of each kind, then the next of each."""
    for row in zip_longest(*(path.decided for path in paths)):
        yield from ((False, decided) for decided in row if decided is not None)


def _year(fleet: Sequence[OneSeries]) -> Weeks:
    weeks: dict[int, list[tuple[bool, bool]]] = defaultdict(list)
    for steps, decided in fleet:
        for each in decided:
            weeks[each.week].append((steps, each.confirmed))
    shares, false, true, held_back = [], 0, 0, 0
    for week in range(1, WEEKS_A_YEAR + 1):
        real = sum(steps and said for steps, said in weeks[week])
        wrong = sum(said and not steps for steps, said in weeks[week])
        if enough_confirmed(real + wrong, len(weeks[week])):
            false, true = false + wrong, true + real
            shares.append(wrong / (real + wrong))
        else:
            held_back += real
            shares.append(0.0)
    return Weeks(tuple(shares), false, true, held_back)
