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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from mitigauge.core.stats.boot_means import Floats

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


@dataclass(slots=True)
class _Field:
    """The arms that are left, and their values by round."""

    values: dict[str, list[float]]
    arms: int
    losers: list[Loser] = field(default_factory=list)

    def table(self) -> Floats:
        """``[arm, round]`` of those that are left."""
        return np.array(list(self.values.values()))


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
    left = _Field({arm: [] for arm in arms}, len(arms))
    share = alpha / (len(looks) * (len(arms) - 1))
    measured, is_decided = 0, False
    for rounds in range(1, looks[-1] + 1):
        for arm, values in left.values.items():
            value = measure(arm, rounds - 1)
            if not np.isfinite(value):
                raise ValueError(f"{arm} costs {value}")
            values.append(value)
        measured += len(left.values)
        if rounds in looks:
            _drop(left, share)
            is_decided = _is_decided(left, share, margin)
            if is_decided:
                break
    return _ranking(left, rounds, measured, is_decided=is_decided)


def _ranking(left: _Field, rounds: int, measured: int, *, is_decided: bool) -> Ranking:
    gaps = _gaps(left.values)
    winner = next(arm for arm, gap in gaps.items() if gap is None)
    tied = [Tied(arm, gap.more, *gap.interval()) for arm, gap in gaps.items() if gap is not None]
    return Ranking(winner, rounds, measured, left.losers, tied, is_decided)


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


def _drop(left: _Field, share: float) -> None:
    """Take out those that surely cost more than the leader."""
    if len(left.values) < FEWEST_ARMS:
        return
    gaps = {arm: gap for arm, gap in _gaps(left.values).items() if gap is not None}
    for arm, gap in sorted(gaps.items(), key=lambda each: -each[1].more):
        if gap.lower(share) > 0:
            rounds = len(left.values.pop(arm))
            left.losers.append(Loser(arm, rounds, gap.more, *gap.interval()))


def _is_decided(left: _Field, share: float, margin: float) -> bool:
    if len(left.values) < FEWEST_ARMS:
        return True
    return all(gap is None or gap.above(share) < margin for gap in _gaps(left.values).values())
