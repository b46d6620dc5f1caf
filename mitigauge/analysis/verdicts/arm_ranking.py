"""Arms of a run as a tournament ranks them, look by look. Pure.

An arm that dropped out keeps the figures that it dropped out with: what comes later is not set
beside it. See :mod:`mitigauge.core.stats.tournament` for the test and its error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mitigauge.analysis.verdicts.judgement import Answer, Design
from mitigauge.core.stats.boundaries import looks_until
from mitigauge.core.stats.bounds import Uncounted
from mitigauge.core.stats.layouts import by_layout
from mitigauge.core.stats.scale import scale_cases
from mitigauge.core.stats.terms import ALPHA
from mitigauge.core.stats.tournament import Loser, Tied, look_at, share_of
from mitigauge.measurement.runs.ranking import Place, RankedArm, Ranking

UNCOUNTED = (
    "Arms differ by events of the hardware, which an emulated host does not count: they have no "
    "order here, and none drops out."
)
FEWEST_LEFT = FEWEST_ROUNDS = 2


def ranked(
    design: Design, judged: Sequence[Answer], before: Ranking | None, blocks: int | None
) -> Ranking | None:
    """The ranking after so many complete *blocks*, of which the one *before* is the last look's.

    *judged*: the run's answers, of which one is primary. The ranking before where no look is due;
    None where there was none.
    """
    answer = next((each for each in judged if each.asked.declared.primary), None)
    if answer is None or blocks is None or not _is_due(design, before, blocks):
        return before
    if any(kind is not Uncounted.NONE for kind in design.uncounted.values()):
        return Ranking(blocks=blocks, note=UNCOUNTED)
    losers = before.losers if before else ()
    out = {loser.position for loser in losers}
    left = [arm for position, arm in enumerate(design.arms) if position not in out]
    whole = [arm for arm in left if _is_whole(answer.values[arm].means, blocks)]
    missing = [
        RankedArm(
            position=design.arms.index(arm),
            place=Place.NOT_COUNTED,
            blocks=len(answer.values[arm].means),
        )
        for arm in left
        if arm not in whole
    ]
    placed, is_decided = _placed(design, answer, whole, blocks)
    return Ranking(blocks=blocks, is_decided=is_decided, arms=(*placed, *losers, *missing))


def _is_due(design: Design, before: Ranking | None, blocks: int) -> bool:
    is_look = blocks in looks_until(design.planned_blocks)
    if before is None:
        return is_look and blocks >= FEWEST_ROUNDS
    return is_look and not before.is_decided and blocks > before.blocks


def _is_whole(means: Mapping[int, float], blocks: int) -> bool:
    return all(block in means for block in range(1, blocks + 1))


def _placed(
    design: Design, answer: Answer, arms: Sequence[int], blocks: int
) -> tuple[list[RankedArm], bool]:
    """Arms of which each has a boot in every block, in order; and whether that is all."""
    if len(arms) < FEWEST_LEFT:
        alone = (_Look(design, answer, arms, blocks).first(arm) for arm in arms)
        return list(alone), True
    share = share_of(ALPHA, looks_until(design.planned_blocks), len(design.arms))
    return _Look(design, answer, arms, blocks).placed(share)


class _Look:
    """One look at arms of which each has a boot in every block."""

    def __init__(self, design: Design, answer: Answer, arms: Sequence[int], blocks: int) -> None:
        self.declared = answer.asked.declared
        self.sign = 1.0 if self.declared.direction == "lower" else -1.0
        self.arms, self.blocks = arms, blocks
        self.positions = {arm: position for position, arm in enumerate(design.arms)}
        numbers = range(1, blocks + 1)
        means = np.array([[[answer.values[arm].means[block] for block in numbers] for arm in arms]])
        self.scaled = scale_cases(means, [self.declared.unit])
        self.means = [float(mean) for mean in self.scaled.means(slice(None))[0]]
        y = self.scaled.y
        if design.layouts > 1:
            present = np.ones((len(arms), blocks), dtype=np.bool_)
            y, told = by_layout(y, present, list(numbers), design.layouts)
            y = y[:, :, told.all(axis=0)]
        self.cost = self.sign * y[0]
        """``[arm, round]``: blocks, or layouts where kernels have several."""

    def placed(self, share: float) -> tuple[list[RankedArm], bool]:
        """Every arm at its place, and whether that is all."""
        costs = {str(arm): list(self.cost[at]) for at, arm in enumerate(self.arms)}
        margin = self._margin()
        found = look_at(costs, share=share, margin=margin)
        self.leader = int(found.leader)
        placed = [self.first(self.leader)]
        tied = sorted(found.tied, key=lambda each: each.more)
        placed += [self._arm(each, _place_of(each, margin)) for each in tied]
        placed += [self._arm(each, Place.WORSE) for each in reversed(found.losers)]
        return placed, found.is_decided

    def first(self, arm: int) -> RankedArm:
        """The arm with the best mean."""
        return RankedArm(
            position=self.positions[arm],
            place=Place.FIRST,
            blocks=self.blocks,
            mean=self.means[self.arms.index(arm)],
        )

    def _margin(self) -> float:
        """A difference that does not matter, on the scale of the costs."""
        part = self.declared.delta_percent / 100.0
        if self.scaled.log[0]:
            return float(np.log1p(part))
        return part * max(float(np.abs(self.cost).mean()), np.finfo(float).tiny)

    def _arm(self, gap: Tied | Loser, place: Place) -> RankedArm:
        value, low, high = self._percent((gap.more, gap.low, gap.high))
        return RankedArm(
            position=self.positions[int(gap.arm)], place=place, blocks=self.blocks,
            mean=self.means[self.arms.index(int(gap.arm))],
            effect_percent=value, low_percent=min(low, high), high_percent=max(low, high),
        )  # fmt: skip

    def _percent(self, gaps: tuple[float, float, float]) -> Iterator[float]:
        """Differences of cost as percent of the first arm's value, signed as measured."""
        first = self.sign * self.cost[self.arms.index(self.leader)].mean()
        base = np.array([first * self.scaled.magnitude[0]])
        return map(float, self.scaled.percent(self.sign * np.array([gaps]), base)[0])


def _place_of(gap: Tied, margin: float) -> Place:
    return Place.AS_GOOD if -margin < gap.low and gap.high < margin else Place.UNDECIDED
