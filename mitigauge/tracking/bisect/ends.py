"""Do the ends differ, and by enough? While nothing but ends was booted. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mitigauge.core.stats import special
from mitigauge.tracking.bisect.columns import usable
from mitigauge.tracking.bisect.evidence import Evidence, posterior_of
from mitigauge.tracking.bisect.likelihood import LEAST_DEVIATION
from mitigauge.tracking.bisect.model import History, Measure, Purpose, Question, Refused
from mitigauge.tracking.bisect.words import percent, scatter

FIRST_BLOCKS, MORE_BLOCKS, MOST_BLOCKS = 4, 2, 16
# The ends differ once "none of these" is less likely than this.
ENDS_DIFFER = 0.05
# Of the bound that decides whether to refuse: a wrong refusal ends the bisection.
REFUSE_LEVEL = 0.999
# What a change of two standard deviations takes on average (`make bench-bisect`).
BOOTS_AT_TWO_DEVIATIONS = 80


@dataclass(frozen=True, slots=True)
class Ends:
    """``difference``: last end less first, upwards where worse, mean of the blocks; ``half``: of
    its interval at ``REFUSE_LEVEL`` (one side); ``floor``: the least that is worth a bisection."""

    blocks: int
    difference: float
    half: float
    floor: float


def look_at_ends(question: Question, history: History, evidence: Evidence) -> Ends:
    """What the blocks that have both ends say."""
    floor = max(question.minimum_effect, question.minimum_deviations * evidence.deviation)
    differences = _differences(question, history, evidence)
    count = len(differences)
    if count < 2:
        return Ends(count, math.fsum(differences), math.inf, floor)
    mean = math.fsum(differences) / count
    variance = math.fsum((item - mean) ** 2 for item in differences) / (count - 1)
    deviation = math.sqrt(max(variance, 2 * LEAST_DEVIATION**2) / count)
    return Ends(count, mean, float(special.stdtrit(count - 1, REFUSE_LEVEL)) * deviation, floor)


def at_ends(question: Question, evidence: Evidence, ends: Ends) -> Measure | Refused | None:
    """More blocks of the ends, a refusal, or ``None`` once they are known to differ."""
    if ends.blocks < FIRST_BLOCKS:
        return _boot(question, FIRST_BLOCKS - ends.blocks, "Do the ends differ?")
    if ends.difference + ends.half < ends.floor:
        return _refused(question, evidence, ends)
    if evidence.none <= ENDS_DIFFER:
        return None
    if ends.blocks < MOST_BLOCKS:
        return _boot(question, MORE_BLOCKS, "The ends do not differ clearly yet.")
    return _refused(question, evidence, ends)


def _differences(question: Question, history: History, evidence: Evidence) -> list[float]:
    cells = evidence.cells
    values: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for item in usable(question, history, cells):
        place = cells.place_of.get(item.point)
        if place in {0, cells.last}:
            values[place == cells.last].setdefault(item.group, []).append(item.value)
    first, last = values
    sign = 1.0 if question.higher_is_worse else -1.0
    return [
        sign * (math.fsum(last[group]) / len(last[group]) - math.fsum(of) / len(of))
        for group, of in sorted(first.items())
        if group in last
    ]


def _boot(question: Question, blocks: int, why: str) -> Measure:
    return Measure((0, question.last), blocks, why, Purpose.ENDS)


def _refused(question: Question, evidence: Evidence, ends: Ends) -> Refused:
    now = posterior_of(question, evidence)
    noise = scatter(evidence.deviation)
    by = f"{percent(ends.difference)}, a boot scatters by {noise}, after {ends.blocks} blocks"
    if ends.difference + ends.half < 0:
        return Refused(
            f"the last end is better than the first ({by})",
            "Swap the ends to find what made it better.",
            now,
        )
    if ends.difference - ends.half <= 0:
        return Refused(
            f"the ends do not differ ({by})",
            "Choose ends that differ, or measure a case in which they do: a difference of"
            f" {scatter(ends.floor)} or more is looked for.",
            now,
        )
    return Refused(
        f"the ends differ by less than {scatter(ends.floor)} ({by})", _takes(evidence, ends), now
    )


def _takes(evidence: Evidence, ends: Ends) -> str:
    ratio = ends.difference / evidence.deviation
    boots = math.ceil(BOOTS_AT_TWO_DEVIATIONS * (2 / max(ratio, 0.05)) ** 2)
    return (
        f"A change of this size takes boots that scatter by {scatter(ends.difference / 2)} or less"
        " (more iterations a boot, a quieter host), or a smaller minimum and about"
        f" {boots} boots."
    )
