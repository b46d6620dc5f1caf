"""What taking a candidate out of the last end did, in figures and in words. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from mitigauge.core.stats import special
from mitigauge.tracking.bisect.columns import usable
from mitigauge.tracking.bisect.evidence import Evidence
from mitigauge.tracking.bisect.likelihood import LEAST_DEVIATION
from mitigauge.tracking.bisect.model import History, Question
from mitigauge.tracking.bisect.states import RevertOutcome
from mitigauge.tracking.bisect.words import REVERTED, percent, percent_range

# From so much probability on a revert is said to fail.
FAILS = 0.5


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of differences of logs within blocks, and its 95 % interval (Student's t)."""

    mean: float
    low: float
    high: float

    def in_words(self) -> str:
        return f"{percent(self.mean)} {percent_range(self.low, self.high)}"


@dataclass(frozen=True, slots=True)
class RevertEffect:
    """The last end without *candidate*, with the metric's own sign.

    ``change``: against the last end as it is, in the ``blocks`` that have both. ``off``: against
    the candidate's parent in the same way; ``None`` where no two blocks have both.
    """

    candidate: int
    outcome: RevertOutcome
    blocks: int
    change: Estimate
    off: Estimate | None

    def in_words(self) -> str:
        """``without it the last end changes by -24.1 % [-24.4, -23.8] and is …: …``."""
        then = f" and is {self.off.in_words()} from its parent" if self.off else ""
        return (
            f"without it the last end changes by {self.change.in_words()}{then}:"
            f" {REVERTED[self.outcome]}"
        )


def revert_effects(
    question: Question, history: History, evidence: Evidence
) -> tuple[RevertEffect, ...]:
    """What each revert did that was booted in two blocks or more, by candidate."""
    found = (
        _effect(question, history, evidence, candidate) for candidate in evidence.reverts.candidates
    )
    return tuple(effect for effect in found if effect is not None)


def _effect(
    question: Question, history: History, evidence: Evidence, candidate: int
) -> RevertEffect | None:
    cells = evidence.cells
    cell = cells.cell_of(candidate)
    sides: dict[str, dict[str, list[float]]] = {}
    for item in usable(question, history, cells):
        if history.verified.get(item.group) != candidate:
            continue
        place = cells.place_of.get(item.point)
        names = ["without"] if item.point == question.reverted else []
        names += ["last"] if place == cells.last else []
        names += ["parent"] if cell is not None and place == cell - 1 else []
        for name in names:
            sides.setdefault(item.group, {}).setdefault(name, []).append(item.value)
    change = _differences(list(sides.values()), "last")
    off = _differences(list(sides.values()), "parent")
    if len(change) < 2:
        return None
    against = _estimate(change)
    outcome = _outcome(question, evidence, candidate, against)
    return RevertEffect(
        candidate, outcome, len(change), against, _estimate(off) if len(off) > 1 else None
    )


def _differences(blocks: Sequence[dict[str, list[float]]], other: str) -> list[float]:
    """By block: the last end without the candidate less another side."""
    return [
        statistics.fmean(block["without"]) - statistics.fmean(block[other])
        for block in blocks
        if "without" in block and other in block
    ]


def _estimate(differences: Sequence[float]) -> Estimate:
    """Of two differences or more. Boots scatter by no less than those of counted time."""
    count = len(differences)
    mean = statistics.fmean(differences)
    variance = max(statistics.variance(differences), 2 * LEAST_DEVIATION**2)
    half = float(special.stdtrit(count - 1, 0.975)) * math.sqrt(variance / count)
    return Estimate(mean, mean - half, mean + half)


def _outcome(
    question: Question, evidence: Evidence, candidate: int, change: Estimate
) -> RevertOutcome:
    at = evidence.reverts.candidates.index(candidate)
    own = float(evidence.singles[evidence.reverts.segments[at]])
    left = float(evidence.reverts.left[at])
    better = change.high < 0 if question.higher_is_worse else change.low > 0
    worse = change.low > 0 if question.higher_is_worse else change.high < 0
    if worse:
        return RevertOutcome.WORSE
    if not better:
        return RevertOutcome.NOTHING
    return RevertOutcome.PART if left > FAILS * (left + own) else RevertOutcome.GONE
