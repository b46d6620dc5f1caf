"""Which of several arms costs least: an arm drops out as soon as it surely costs more.

A round measures each arm that is left once, in one layout: a block. At looks after so many rounds
each arm is set against the one with the least mean so far, by the differences within rounds. It
drops out where these are above zero at the level

    α / (looks · (arms − 1)),

so that over all looks and all arms the best one drops out with probability α at most (Bonferroni,
whichever arm leads). The standard error is the larger one of two: of the arm's own differences, and
of the scatter of all arms together (a block design, Cochran & Cox 1957, 4.2), which a few rounds
know better. It ends with one arm, or where the leader surely costs no more than any that is left,
but for the margin: no other is surely better, and some may be as good. Every bound is one-sided
Student's t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LOOKS = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
ALPHA = 0.01
LEVEL = 0.95
FEWEST_ARMS, MOST_ARMS = 2, 64

Measure = Callable[[str, int], float]
"""What an arm costs in a round, from 0; on a scale on which differences count."""


@dataclass(frozen=True, slots=True)
class Loser:
    """An arm that dropped out: after how many rounds, and what it costs more than the leader."""

    arm: str
    rounds: int
    more: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tied:
    """An arm that was left beside the winner."""

    arm: str
    more: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a tournament came to."""

    winner: str
    rounds: int
    measured: int
    """How often an arm was measured, all together."""
    losers: Sequence[Loser]
    """In the order in which they dropped out; at one look the dearest first."""
    tied: Sequence[Tied]
    """Those that were left beside the winner."""
    is_decided: bool
    """Whether the winner is surely within the margin of the best; else the rounds ran out."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a look says of the arms that it was given."""

    leader: str
    losers: Sequence[Loser]
    """Those that drop out now, the dearest first."""
    tied: Sequence[Tied]
    """Those that are left beside the leader."""
    is_decided: bool
    """Whether the leader is surely within the margin of the best."""


def tournament(
    arms: Sequence[str], measure: Measure, *, margin: float, alpha: float = ALPHA,
    looks: Sequence[int] = LOOKS,
) -> Ranking:  # fmt: skip
    """Measure *arms* until one is left, or the leader is within *margin* of all that are.

    *margin*: a difference that does not matter, on the scale of *measure*, above 0. Raises
    ValueError for fewer than two arms, two of one name, or a value that is no number.
    """
    if not FEWEST_ARMS <= len(set(arms)) == len(arms) <= MOST_ARMS or margin <= 0:
        raise ValueError(f"{len(arms)} arms, margin {margin:g}")
    left: dict[str, list[float]] = {arm: [] for arm in arms}
    share = share_of(alpha, looks, len(arms))
    losers: list[Loser] = []
    rounds = measured = 0
    for look in looks:
        for at in range(rounds, look):
            _measure_round(left, measure, at)
        measured += (look - rounds) * len(left)
        rounds = look
        standing = look_at(left, share=share, margin=margin)
        losers += standing.losers
        for loser in standing.losers:
            del left[loser.arm]
        if standing.is_decided:
            break
    return Ranking(standing.leader, rounds, measured, losers, standing.tied, standing.is_decided)


def share_of(alpha: float, looks: Sequence[int], arms: int) -> float:
    """The level of one arm's test at one look, so that all together keep *alpha*."""
    return alpha / (len(looks) * (arms - 1))


def look_at(values: Mapping[str, Sequence[float]], *, share: float, margin: float) -> Standing:
    """Which arms drop out, and how the others stand.

    *values*: of each arm that is left, its cost in each round, the same rounds for all, two at
    least. *share*: see :func:`share_of`.
    """
    losers = list(_losers(values, share))
    out = {loser.arm for loser in losers}
    gaps = _gaps({arm: each for arm, each in values.items() if arm not in out})
    tied = {arm: gap for arm, gap in gaps.items() if gap is not None}
    return Standing(
        next(arm for arm, gap in gaps.items() if gap is None),
        losers,
        [Tied(arm, gap.more, *gap.interval()) for arm, gap in tied.items()],
        all(gap.above(share) < margin for gap in tied.values()),
    )


def _measure_round(left: Mapping[str, list[float]], measure: Measure, at: int) -> None:
    for arm, values in left.items():
        value = measure(arm, at)
        if not np.isfinite(value):
            raise ValueError(f"{arm} costs {value}")
        values.append(value)


@dataclass(frozen=True, slots=True)
class _Gap:
    """What an arm costs more than the leader."""

    more: float
    error: float
    freedom: int

    def lower(self, share: float) -> float:
        """The one-sided bound at that error."""
        return self.more - float(stats.t.isf(share, self.freedom)) * self.error

    def above(self, share: float) -> float:
        """What the leader costs more than it, at most, at that error."""
        return float(stats.t.isf(share, self.freedom)) * self.error - self.more

    def interval(self) -> tuple[float, float]:
        """Two-sided, 95 %."""
        reach = float(stats.t.isf((1 - LEVEL) / 2, self.freedom)) * self.error
        return self.more - reach, self.more + reach


def _gaps(values: Mapping[str, Sequence[float]]) -> dict[str, _Gap | None]:
    """Of each arm that is left; None of the leader."""
    table = np.array(list(values.values()))
    means = table.mean(axis=1)
    leader = int(np.argmin(means))
    rounds = table.shape[1]
    within = table - table.mean(axis=0) - means[:, None] + means.mean()
    freedom = max(1, (len(table) - 1) * (rounds - 1))
    together = np.sqrt(2 * float((within**2).sum()) / freedom / rounds)
    own = (table - table[leader]).std(axis=1, ddof=1) / np.sqrt(rounds)
    return {
        arm: None
        if number == leader
        else _Gap(
            float(means[number] - means[leader]),
            max(float(together), float(own[number])),
            freedom if together >= own[number] else rounds - 1,
        )
        for number, arm in enumerate(values)
    }


def _losers(values: Mapping[str, Sequence[float]], share: float) -> Iterator[Loser]:
    """Those that surely cost more than the leader, the dearest first."""
    gaps = {arm: gap for arm, gap in _gaps(values).items() if gap is not None}
    for arm, gap in sorted(gaps.items(), key=lambda each: -each[1].more):
        if gap.lower(share) > 0:
            yield Loser(arm, len(values[arm]), gap.more, *gap.interval())
