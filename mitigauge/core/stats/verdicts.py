"""Better, worse, same or undecided: every arm of a case against the baseline.

The rules, in the order they are applied at each look (docs/statistics.md has the
formulas and sources):

1. *worse* or *better*: the arm's Dunnett p is at or below the look's level; the
   levels are set so that all looks and arms together raise a false alarm with
   probability α at most. The sign and the metric's direction say which.
2. *same*: the 95 % interval lies inside ±δ.
3. Otherwise the next look decides; after the last one the arm is *undecided*.

The first look that decides an arm is final, and its figures are those of that look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.boot_means import Arm, Boots, boot_means
from mitigauge.core.stats.group import Rules, judge_group
from mitigauge.core.stats.question import ArmVerdict, Question, Verdict
from mitigauge.core.stats.terms import DELTA_PERCENT, Direction

__all__ = ["ArmVerdict", "Direction", "Question", "Verdict", "judge", "judge_many"]


def judge(
    boots: Boots[Arm],
    *,
    baseline: Arm,
    direction: Direction,
    alpha: float = 0.01,
    delta_percent: float = DELTA_PERCENT,
    planned_blocks: int | None = None,
    ended: bool = False,
    unit: str = "",
    looks: Sequence[int] | None = None,
    layouts: int = 1,
) -> dict[Arm, ArmVerdict]:
    """Judge every arm of one case against *baseline*.

    ``boots[arm][block]`` holds a boot's values after warm-up, or their mean. Leave
    out boots that do not count, and, while an experiment runs, the block that is
    not finished. *planned_blocks* is the budget; without it the blocks that are
    there are taken as all there will be. *ended*: it was not used up, and no further
    block will come. *looks* are the blocks after which a
    verdict may fall besides the last one: none given means the standard ones,
    ``()`` the last one only (for experiments that never stop early). *unit* picks
    the scale: counts and proportions are compared linearly. *layouts*: as
    :class:`Question` has it.

    Raises :class:`InvalidInput` for values that are not finite, a boot without
    values, or options out of range.
    """
    case = Question(boots, direction, unit, delta_percent, planned_blocks, ended, layouts)
    return judge_many([case], baseline=baseline, alpha=alpha, looks=looks)[0]


def judge_many(
    cases: Sequence[Question[Arm]],
    *,
    baseline: Arm,
    alpha: float = 0.01,
    looks: Sequence[int] | None = None,
) -> list[dict[Arm, ArmVerdict]]:
    """:func:`judge` for many cases at once; those with the same pattern of boots share the work."""
    if not 0.0 < alpha < 0.5:
        raise InvalidInput(f"alpha {alpha} is out of range", hint="Give a value such as 0.01.")
    means = [boot_means(case.boots, baseline=baseline) for case in cases]
    groups: dict[object, list[int]] = {}
    for index, (case, of_case) in enumerate(zip(cases, means, strict=True)):
        key = (of_case.shape_key(), case.planned_blocks, case.ended, case.layouts)
        groups.setdefault(key, []).append(index)
    answers: dict[int, Mapping[Arm, ArmVerdict]] = {}
    for members in groups.values():
        first = cases[members[0]]
        rules = Rules(alpha, first.planned_blocks, first.ended, looks, first.layouts)
        judged = judge_group([cases[i] for i in members], [means[i] for i in members], rules)
        answers.update(zip(members, judged, strict=True))
    return [dict(answers[index]) for index in range(len(cases))]
