"""Verdicts of one run: every case and metric of a comparison on one host. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mitigauge.core.stats.bounds import Uncounted
from mitigauge.core.stats.exploratory import judge_exploratory
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.terms import ALPHA
from mitigauge.core.stats.verdicts import judge_many
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.repository import Mean

# Blocks before the first interim analysis: fewer could decide nothing.
FIRST_ANALYSIS = 4


@dataclass(frozen=True, slots=True)
class Design:
    """What is compared: arms by id, the baseline among them, over so many planned blocks."""

    arms: Sequence[int]
    baseline: int
    planned_blocks: int
    doubles: Mapping[int, int] = field(default_factory=dict)
    """Arms that are the baseline once more, each with its known slow-down in percent, mostly 0."""
    layouts: int = 1
    """In how many layouts each arm's kernel is booted, block by block in turn."""
    outdoing: frozenset[int] = frozenset()
    """Arms that do all that the baseline does, and more."""
    factorial: bool = False
    """Whether arms are those of a factorial design, which needs all its boots."""
    uncounted: Mapping[int, Uncounted] = field(default_factory=dict)
    """What arms have of events that cost nothing on this host; none where all cost what they do."""


@dataclass(frozen=True, slots=True)
class CaseQuestion:
    """One case and metric to be judged."""

    case_id: int
    metric: str
    declared: CaseMetric


@dataclass(frozen=True, slots=True)
class CountedBoot:
    """A boot that counts: proven, and measured."""

    id: int
    arm_id: int
    block: int


@dataclass(slots=True)
class ArmValues:
    """What one arm gave for one case and metric."""

    means: dict[int, float] = field(default_factory=dict)
    """Boot means by block."""
    boots: dict[int, int] = field(default_factory=dict)
    """Boot ids by block."""
    disturbed: int = 0
    unsteady: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One case and metric: what each arm gave, and what is said of it, by arm id.

    There are no verdicts where the baseline has no values to compare with.
    """

    asked: CaseQuestion
    values: Mapping[int, ArmValues]
    verdicts: Mapping[int, ArmVerdict]


def judge_run(
    design: Design,
    asked: Sequence[CaseQuestion],
    boots: Iterable[CountedBoot],
    means: Iterable[Mean],
    *,
    ended: bool,
    stopped_early: bool = False,
) -> list[Answer]:
    """Judge every question, in order, from the *means* of the *boots*.

    *ended*: no boot will follow. A run that was *stopped_early*, since all was decided, keeps
    the levels by which it was stopped.
    """
    values = _by_question(design, boots, means)
    empty = {arm: ArmValues() for arm in design.arms}
    found = [values.get((of.case_id, of.metric), empty) for of in asked]
    primary = [of.declared.primary for of in asked]
    decided = iter(
        judge_many(
            _questions(design, asked, found, primary, ended=ended and not stopped_early),
            baseline=design.baseline,
            alpha=ALPHA,
        )
    )
    explored = iter(
        judge_exploratory(
            _questions(design, asked, found, [not p for p in primary], ended=ended),
            baseline=design.baseline,
            alpha=ALPHA,
        )
    )
    judged = []
    for of, arms, is_primary in zip(asked, found, primary, strict=True):
        verdicts = next(decided if is_primary else explored)
        judged.append(Answer(of, arms, verdicts if arms[design.baseline].means else {}))
    return judged


def judge_doubles(
    design: Design,
    asked: Sequence[CaseQuestion],
    boots: Iterable[CountedBoot],
    means: Iterable[Mean],
    *,
    ended: bool,
) -> list[tuple[int, CaseQuestion, ArmVerdict]]:
    """Each doubled baseline alone against the baseline: (slow-down in percent, question, verdict).

    Without the other arms the nominal rate of false alarms is α itself, not a share of it.
    """
    boots, means = list(boots), list(means)
    primary = [of for of in asked if of.declared.primary]
    found = []
    for double, slowed_percent in design.doubles.items():
        pair = (design.baseline, double)
        judged = judge_run(
            Design(pair, design.baseline, design.planned_blocks, layouts=design.layouts),
            primary,
            [boot for boot in boots if boot.arm_id in pair],
            means,
            ended=ended,
        )
        found += [
            (slowed_percent, entry.asked, verdict)
            for entry in judged
            if (verdict := entry.verdicts.get(double)) is not None and verdict.blocks
        ]
    return found


def all_decided(judged: Iterable[Answer], design: Design) -> bool:
    """Whether every primary metric has a verdict for every arm that can be compared.

    An arm that can no longer be compared (never in force, never came up) is not waited for, nor
    are doubled baselines, which answer no question of the experiment's. A factorial design is never
    decided: each of its boots tells of every knob.
    """
    if design.factorial:
        return False
    asked = {arm for arm in design.arms if arm not in (design.baseline, *design.doubles)}
    verdicts = [
        verdict.verdict
        for entry in judged
        if entry.asked.declared.primary
        for arm, verdict in entry.verdicts.items()
        if arm in asked
    ]
    return bool(verdicts) and "undecided" not in verdicts


def _by_question(
    design: Design, boots: Iterable[CountedBoot], means: Iterable[Mean]
) -> Mapping[tuple[int, str], Mapping[int, ArmValues]]:
    counted = {boot.id: boot for boot in boots}
    found: dict[tuple[int, str], dict[int, ArmValues]] = defaultdict(
        lambda: {arm: ArmValues() for arm in design.arms}
    )
    for boot_id, case_id, metric, mean, disturbed, unsteady in means:
        boot = counted.get(boot_id)
        if boot is None:
            continue
        arm = found[case_id, metric][boot.arm_id]
        arm.means[boot.block] = mean
        arm.boots[boot.block] = boot_id
        arm.disturbed += disturbed
        arm.unsteady += unsteady
    return found


def _questions(
    design: Design,
    asked: Sequence[CaseQuestion],
    found: Sequence[Mapping[int, ArmValues]],
    wanted: Sequence[bool],
    *,
    ended: bool,
) -> list[Question[int]]:
    return [
        Question(
            {arm: of.means for arm, of in arms.items() if of.means or arm == design.baseline},
            question.declared.direction,
            question.declared.unit,
            question.declared.delta_percent,
            design.planned_blocks,
            ended,
            design.layouts,
        )
        for question, arms, chosen in zip(asked, found, wanted, strict=True)
        if chosen
    ]
