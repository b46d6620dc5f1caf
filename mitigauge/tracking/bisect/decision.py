"""The next action of a bisection. Pure: the same question and history give the same action.

1. *Ends*: blocks of both ends until they differ, or until it is clear that they do not or by too
   little.
2. *Search*: the points that tell most for their cost, an end among them in every block.
3. *Verify*: fresh blocks of the likeliest candidate and its parent. They count like all others, and
   no candidate is named without them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.tracking.bisect.choice import choose
from mitigauge.tracking.bisect.columns import usable
from mitigauge.tracking.bisect.ends import at_ends, look_at_ends
from mitigauge.tracking.bisect.evidence import Evidence, posterior_of
from mitigauge.tracking.bisect.model import (
    MOST_BOOTS,
    Action,
    Answer,
    Culprit,
    History,
    Measure,
    NoneOfThese,
    Purpose,
    Question,
    Refused,
    SeveralCulprits,
    Undecided,
)
from mitigauge.tracking.bisect.posterior import weigh
from mitigauge.tracking.bisect.reverts import revert_effects
from mitigauge.tracking.bisect.words import listed, percent

VERIFY_FROM = 0.7
VERIFY_BLOCKS, MORE_VERIFY_BLOCKS = 4, 2
# After so many fresh blocks, more of them would not tell what is still open.
PATIENT_BLOCKS, MOST_VERIFY_BLOCKS = 8, 16
# An answer waits, while there is budget, until the doubt is this part of what is allowed: hosts
# wander and boots go wild in ways that the model does not have.
DOUBT = 1 / 3
# Two culprits are located once one pair has this part of the probability of all pairs.
LOCATED = 0.9
# Of the ends' difference: what a single culprit must differ from its own parent by.
OWN_SHARE = 0.5
# Together the candidates that are told of several have this part of what all have.
LIKELY = 0.95


def next_action(question: Question, history: History) -> Action:
    """What to measure next, or the answer. Never raises for what was measured."""
    return (
        _cannot_begin(question, history)
        or _Decision(question, history, weigh(question, history)).action()
    )


def _cannot_begin(question: Question, history: History) -> Refused | None:
    for point in (0, question.last):
        if point in history.skipped:
            return Refused(
                f"point {point} is an end and cannot be booted: {history.skipped[point]}",
                "Choose an end that builds and boots.",
            )
    if not any(question.priors):
        return Refused(
            "no candidate changes the binary: both ends are the same",
            "Choose ends between which the binary changes, or look elsewhere for the cause"
            " (configuration, firmware, host).",
        )
    if len(history.observed) > MOST_BOOTS:
        return Refused(
            f"{len(history.observed)} boots were made, more than {MOST_BOOTS}",
            "Start anew between ends that lie nearer to each other.",
        )
    return None


@dataclass(frozen=True, slots=True)
class _Verification:
    """Fresh blocks of a cell: how many, and the median difference of its sides in them."""

    blocks: int
    difference: float


@dataclass(frozen=True, slots=True)
class _Decision:
    question: Question
    history: History
    evidence: Evidence

    @property
    def _sign(self) -> float:
        """Effects are upwards where worse; answers have the metric's own sign."""
        return 1.0 if self.question.higher_is_worse else -1.0

    @property
    def boots_left(self) -> int:
        return max(self.question.budget_boots - len(self.history.observed), 0)

    def action(self) -> Action:
        wanted = self._next_action()
        if not isinstance(wanted, Measure):
            return wanted
        return self._within_budget(wanted) or self._out_of_budget()

    def _next_action(self) -> Action:
        if set(self.evidence.measured) <= {0, self.evidence.cells.last}:
            ends = look_at_ends(self.question, self.history, self.evidence)
            first = at_ends(self.question, self.evidence, ends)
            if first:
                return first
        return self._answer(1 - DOUBT * (1 - self.question.confidence)) or self._measure()

    def _within_budget(self, wanted: Measure) -> Measure | None:
        blocks = min(wanted.blocks, self.boots_left // len(wanted.points))
        if blocks < 1:
            return None
        return Measure(wanted.points, blocks, wanted.why, wanted.purpose, wanted.verifies)

    # Answers.

    def _answer(self, needed: float) -> Answer | None:
        """The answer that has the probability *needed*, if one has."""
        evidence = self.evidence
        if evidence.none >= needed:
            return NoneOfThese(
                evidence.none,
                "the ends do not differ when they are measured again, or no step between them does",
                posterior_of(self.question, evidence),
            )
        if evidence.several >= needed and self._located() and not self._pair_blocks():
            return self._several()
        failing = self._kept_by_the_end(needed)
        if failing:
            return failing
        cell, probability = self._likeliest()
        if probability >= self._patient(cell, needed) and self._is_verified(cell):
            return self._named(cell, probability)
        return None

    def _patient(self, cell: int, needed: float) -> float:
        """What is needed of a cell that was verified for long: what was asked for."""
        long = self._verified(cell).blocks >= PATIENT_BLOCKS
        return min(needed, self.question.confidence) if long else needed

    def _likeliest(self) -> tuple[int, float]:
        """The cell that has most of the probability of a single culprit, and how much."""
        by_cell = [self._of_cell(cell) for cell in range(1, self.evidence.cells.last + 1)]
        at = int(np.argmax(by_cell))
        return at + 1, by_cell[at]

    def _suspect(self) -> tuple[int, float]:
        """The cell that most likely changed the level, whether or not its revert undoes that."""
        cells = self.evidence.cells
        by_cell = np.array([self._of_cell(cell) for cell in range(1, cells.last + 1)])
        reverts = self.evidence.reverts
        for candidate, left in zip(reverts.candidates, reverts.left.tolist(), strict=True):
            cell = cells.cell_of(candidate)
            if cell is not None:
                by_cell[cell - 1] += left
        at = int(np.argmax(by_cell))
        return at + 1, float(by_cell[at])

    def _of_cell(self, cell: int) -> float:
        """Probability that all that changed is in *cell*: what skipped points hide stays in it."""
        evidence = self.evidence
        segment = evidence.segment_of(cell)
        hidden = float(evidence.pairs[segment, segment]) * evidence.share(cell) ** 2
        return evidence.single(cell) + hidden

    def _named(self, cell: int, probability: float) -> Answer:
        evidence = self.evidence
        inside = [k for k in evidence.cells.candidates[cell - 1] if self.question.priors[k - 1] > 0]
        now = posterior_of(self.question, evidence)
        if len(inside) > 1:
            between = range(evidence.cells.places[cell - 1] + 1, evidence.cells.places[cell])
            skipped = [point for point in between if point in self.history.skipped]
            why = (
                f"one of {listed(inside)}: the points between cannot be booted ({listed(skipped)})"
            )
            return Undecided(why, tuple(inside), probability, now, tuple(skipped))
        segment = evidence.segment_of(cell)
        effect = self._sign * float(evidence.rise[segment])
        half = 1.96 * math.sqrt(float(evidence.rise_variance[segment]))
        ends = look_at_ends(self.question, self.history, self.evidence)
        if self._sign * effect < OWN_SHARE * ends.difference:
            why = (
                f"candidate {inside[0]} differs from its parent by {percent(effect)} alone, though"
                f" all else speaks for it{self._revert_in_words(inside[0])}"
            )
            return Undecided(why, tuple(inside), probability, now)
        return Culprit(
            candidate=inside[0],
            confidence=probability,
            effect=effect,
            interval=(effect - half, effect + half),
            posterior=now,
            why=f"{percent(effect)} against its parent, verified in"
            f" {self._verified(cell).blocks} fresh blocks",
        )

    def _kept_by_the_end(self, needed: float) -> SeveralCulprits | None:
        """One candidate changed the level, but the last end keeps the change without it."""
        reverts = self.evidence.reverts
        if not reverts.candidates:
            return None
        at = int(np.argmax(reverts.left))
        candidate, probability = reverts.candidates[at], float(reverts.left[at])
        cell = self.evidence.cells.cell_of(candidate)
        if cell is None or self._verified(cell).blocks < VERIFY_BLOCKS:
            return None
        if probability < self._patient(cell, needed):
            return None
        why = (
            f"candidate {candidate} changes the level by"
            f" {percent(self._sign * float(reverts.rise[at]))} against its parent, but its revert"
            f" does not undo that{self._revert_in_words(candidate)}. Another change keeps the last"
            f" end there too, or the revert leaves part of candidate {candidate} in"
        )
        now = posterior_of(self.question, self.evidence)
        return SeveralCulprits((candidate,), probability, why, now)

    def _revert_in_words(self, candidate: int) -> str:
        effects = revert_effects(self.question, self.history, self.evidence)
        own = [effect.in_words() for effect in effects if effect.candidate == candidate]
        return f"; {own[0]}" if own else ""

    def _located(self) -> bool:
        """Whether one pair of cells, each of which no place divides, has most of it."""
        one, two = self._likeliest_pair()
        evidence = self.evidence
        share = float(evidence.pairs[one, two]) / evidence.several
        return share >= LOCATED and all(len(self._cells_in(at)) == 1 for at in (one, two))

    def _likeliest_pair(self) -> tuple[int, int]:
        at = int(np.argmax(self.evidence.pairs))
        one, two = divmod(at, self.evidence.pairs.shape[1])
        return one, two

    def _cells_in(self, segment: int) -> list[int]:
        evidence = self.evidence
        cells = range(1, evidence.cells.last + 1)
        return [cell for cell in cells if evidence.segment_of(cell) == segment]

    def _pair_points(self) -> tuple[int, ...]:
        """The points on both sides of each of the two likeliest cells."""
        places = self.evidence.cells.places
        cells = [cell for at in self._likeliest_pair() for cell in self._cells_in(at)]
        return tuple(sorted({places[at] for cell in cells for at in (cell - 1, cell)}))

    def _pair_blocks(self) -> int:
        """Blocks that two culprits still take: one wild boot must not make a level of its own."""
        points = [item.point for item in self.history.observed]
        fewest = min(points.count(point) for point in self._pair_points())
        return max(VERIFY_BLOCKS - fewest, 0)

    def _more_than_one(self) -> SeveralCulprits:
        return self._kept_by_the_end(self.evidence.several / 2) or self._several()

    def _several(self) -> SeveralCulprits:
        evidence = self.evidence
        one, two = self._likeliest_pair()
        effects = [self._sign * float(of[one, two]) for of in (evidence.first, evidence.second)]
        now = posterior_of(self.question, evidence)
        likely = _smallest_set(now.among_several, LIKELY * math.fsum(now.among_several))
        words = "a change comes and goes" if min(effects) < 0 < max(effects) else "two changes"
        why = f"a level between fits neither end: {words}, {' and '.join(map(percent, effects))}"
        return SeveralCulprits(likely, evidence.several, why, now)

    def _out_of_budget(self) -> Answer:
        evidence, now = self.evidence, posterior_of(self.question, self.evidence)
        answer = self._answer(self.question.confidence)
        if answer:
            return answer
        if self._many():
            return self._more_than_one()
        likely = _smallest_set(now.candidates, self.question.confidence)
        left = f"{self.boots_left} of {self.question.budget_boots} boots are left"
        return Undecided(
            f"the budget is spent ({left}); none of these: {evidence.none:.0%}",
            likely,
            min(math.fsum(now.candidates[k - 1] for k in likely), 1.0),
            now,
        )

    # What to measure.

    def _measure(self) -> Action:
        cell, probability = self._suspect()
        fresh = self._verified(cell).blocks
        if probability >= VERIFY_FROM and fresh < MOST_VERIFY_BLOCKS:
            return self._verify(cell)
        if self._many() and self._located() and self._pair_blocks():
            why = "Two changes? Fresh blocks on both sides of each."
            return Measure(self._pair_points(), self._pair_blocks(), why, Purpose.VERIFY)
        choice = choose(
            self.evidence, boots_left=self.boots_left, build_boots=self.question.build_boots
        )
        if choice is None:
            return self._more_than_one() if self._many() else self._verify(cell)
        places = self.evidence.cells.places
        points = tuple(places[place] for place in choice.places)
        between = [point for point in points if 0 < point < self.question.last]
        why = f"Halves what is likely: {listed(between)} beside the ends' levels."
        return Measure(points, choice.blocks, why)

    def _many(self) -> bool:
        return self.evidence.several >= self.question.confidence

    def _verify(self, cell: int) -> Measure:
        places = self.evidence.cells.places
        candidate = self._candidate_of(cell)
        blocks = VERIFY_BLOCKS - self._verified(cell).blocks
        points = [places[cell - 1], places[cell]]
        if self._can_revert(cell):
            points += [self.question.last, self.question.reverted]
        return Measure(
            tuple(sorted(set(points))),
            blocks if blocks > 0 else MORE_VERIFY_BLOCKS,
            f"Is it candidate {candidate}? Fresh blocks of it and its parent.",
            Purpose.VERIFY,
            candidate,
        )

    def _candidate_of(self, cell: int) -> int:
        """The last candidate of *cell* that has weight: the one whose binary is booted."""
        inside = self.evidence.cells.candidates[cell - 1]
        return max(k for k in inside if self.question.priors[k - 1] > 0)

    def _can_revert(self, cell: int) -> bool:
        question, cells = self.question, self.evidence.cells
        inside = cells.candidates[cell - 1]
        # The last end without the last change is that change's parent, which is booted anyway.
        return (
            question.revert
            and cell < cells.last
            and question.reverted not in self.history.skipped
            and sum(question.priors[k - 1] > 0 for k in inside) == 1
        )

    def _is_verified(self, cell: int) -> bool:
        fresh = self._verified(cell)
        rise = float(self.evidence.rise[self.evidence.segment_of(cell)])
        return fresh.blocks >= VERIFY_BLOCKS and fresh.difference >= rise / 2

    def _verified(self, cell: int) -> _Verification:
        """Of the blocks that were made to verify it, those that have both of its sides."""
        cells = self.evidence.cells
        inside = cells.candidates[cell - 1]
        sides: dict[str, tuple[list[float], list[float]]] = {}
        for item in usable(self.question, self.history, cells):
            place = cells.place_of.get(item.point)
            if self.history.verified.get(item.group) in inside and place in {cell - 1, cell}:
                sides.setdefault(item.group, ([], []))[place == cell].append(item.value)
        both = [(before, after) for before, after in sides.values() if before and after]
        differences = [
            self._sign * (math.fsum(after) / len(after) - math.fsum(before) / len(before))
            for before, after in both
        ]
        return _Verification(len(both), statistics.median(differences) if both else 0.0)


def _smallest_set(probabilities: Sequence[float], enough: float) -> tuple[int, ...]:
    """The fewest candidates that have *enough* together, sorted; none that has next to nothing."""
    likely: list[int] = []
    whole = 0.0
    for candidate in sorted(range(1, len(probabilities) + 1), key=lambda k: -probabilities[k - 1]):
        if whole >= enough or probabilities[candidate - 1] < 0.001:
            break
        likely.append(candidate)
        whole += probabilities[candidate - 1]
    return tuple(sorted(likely))
