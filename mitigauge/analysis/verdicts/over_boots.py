"""A figure of each arm over its boots, with an interval, and its change against the baseline. Pure.

These figures decide nothing: no verdict comes of them. A boot may have no value for two reasons
that must not be mixed up: it could not tell the figure (then it is left out, and counted), or the
figure lies beyond what was tried (it is *censored*: a density that a curve never reached).

Censored boots are those with the largest figures, so a mean of the others is too small. Where at
least half of an arm's boots reached it, each censored one is taken as the most that was tried: the
mean is then *at least* what is shown, without an interval and without a change. Where fewer did
there is no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mitigauge.core.stats.boot_interval import BootInterval, boot_interval
from mitigauge.core.stats.boot_means import mean_of
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.terms import Direction, layout_of
from mitigauge.core.stats.verdicts import judge_many

ByBlock = Mapping[int, float | None]


@dataclass(frozen=True, slots=True)
class FigureQuestion:
    """One figure: ``boots[arm][block]``, None where a boot has no value."""

    boots: Mapping[int, ByBlock]
    unit: str
    direction: Direction
    tried: Mapping[int, float] | None = None
    """Of a figure that may be censored: the most that any boot of each arm tried."""


@dataclass(frozen=True, slots=True)
class OverBoots:
    """One figure of one arm. Change and its interval are in percent of the baseline."""

    boots: int
    """That have a value."""
    of: int
    """That count."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    at_least: bool = False
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    note: str = ""


def over_boots(
    questions: Sequence[FigureQuestion], *, baseline: int, layouts: int = 1
) -> list[dict[int, OverBoots]]:
    """Every question by arm. *layouts* of each kernel: see :class:`Question`."""
    arms = [
        {arm: _of_arm(question, arm, layouts) for arm in question.boots} for question in questions
    ]
    whole = [
        {arm: _known(question.boots[arm]) for arm, of in found.items() if _is_whole(of)}
        for question, found in zip(questions, arms, strict=True)
    ]
    asked = [index for index, boots in enumerate(whole) if boots.get(baseline) and len(boots) > 1]
    judged = judge_many(
        [
            Question(
                whole[index], questions[index].direction, questions[index].unit, layouts=layouts
            )
            for index in asked
        ],
        baseline=baseline,
        looks=(),
    )
    for index, verdicts in zip(asked, judged, strict=True):
        for arm, verdict in verdicts.items():
            if arm != baseline and arm in whole[index]:
                arms[index][arm] = _changed(arms[index][arm], verdict)
    return arms


def _is_whole(of: OverBoots) -> bool:
    return of.value is not None and not of.at_least


def _changed(of: OverBoots, verdict: ArmVerdict) -> OverBoots:
    note = of.note
    if not note and verdict.effect_percent is None:
        note = verdict.note
    return replace(
        of,
        change=verdict.effect_percent,
        change_low=verdict.ci_low_percent,
        change_high=verdict.ci_high_percent,
        note=note,
    )


def _known(boots: ByBlock) -> dict[int, float]:
    return {block: value for block, value in boots.items() if value is not None}


def _of_arm(question: FigureQuestion, arm: int, layouts: int) -> OverBoots:
    boots = question.boots[arm]
    known = _known(boots)
    if question.tried is not None and len(known) < len(boots):
        return _censored(known, len(boots), question.tried.get(arm))
    if not known:
        return OverBoots(0, len(boots), note="no boot tells it" if boots else "no boot that counts")
    over = interval_of(known, question.unit, layouts)
    return OverBoots(
        len(known), len(boots), over.mean, over.low, over.high, note=_note(over, len(known))
    )


def interval_of(known: Mapping[int, float], unit: str, layouts: int = 1) -> BootInterval:
    """A mean of *known* values by block, of which there is one at least, with its interval.

    Over boots; over layouts where these, not their boots, are the replicates.
    """
    if layouts == 1:
        return boot_interval(list(known.values()), unit)
    groups: dict[int, list[float]] = {}
    for block, value in known.items():
        groups.setdefault(layout_of(block, layouts), []).append(value)
    return boot_interval([mean_of(values) for values in groups.values()], unit)


def _note(over: BootInterval, boots: int) -> str:
    if over.low is not None:
        return ""
    return "one boot: no interval" if boots == 1 else "one layout: no interval"


def _censored(known: Mapping[int, float], boots: int, tried: float | None) -> OverBoots:
    said = f"reached in {len(known)} of {boots} boots"
    if tried is None or 2 * len(known) < boots:
        return OverBoots(len(known), boots, note=said)
    values = [*known.values(), *[max([tried, *known.values()])] * (boots - len(known))]
    return OverBoots(
        len(known),
        boots,
        mean_of(values),
        at_least=True,
        note=f"{said}; the others count as {tried:g}, the most tried",
    )
