"""The same statistics over anyone's boots: every case and metric judged against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import numpy as np
from pydantic import BaseModel, Field

from mitigauge.analysis.verdicts.boots_csv import CaseBoots
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.boot_means import boot_means
from mitigauge.core.stats.exploratory import judge_exploratory
from mitigauge.core.stats.modality import two_groups
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.terms import DELTA_PERCENT, Direction
from mitigauge.core.stats.verdicts import judge_many


class ArmComparison(BaseModel):
    """One arm of one case and metric against the baseline, as it goes into JSON."""

    case: str
    metric: str
    unit: str
    direction: str
    baseline: str
    arm: str
    verdict: Literal["better", "worse", "same", "undecided"]
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    p: float | None
    q: float | None = Field(None, description="Benjamini-Hochberg, with exploratory only")
    blocks_used: int
    mde_percent: float | None
    decided_at_look: int | None
    note: str


def compare(
    measured: Sequence[CaseBoots],
    *,
    baseline: str,
    alpha: float = 0.01,
    delta_percent: float = DELTA_PERCENT,
    planned_blocks: int | None = None,
    exploratory: bool = False,
) -> list[ArmComparison]:
    """Judge every arm of every case and metric.

    Each is a primary of its own at *alpha*; *exploratory* judges all at the end of
    the data and puts them under Benjamini-Hochberg at 5 % instead. Raises
    :class:`InvalidInput` when no case has the baseline.
    """
    arms = list(dict.fromkeys(arm for m in measured for arm in m.boots))
    if baseline not in arms:
        raise InvalidInput(
            f"no boot is of the baseline {baseline!r}", hint=f"The arms are {', '.join(arms)}."
        )
    cases = [
        Question(m.boots, cast("Direction", m.direction), m.unit, delta_percent, planned_blocks)
        for m in measured
    ]
    judge = judge_exploratory if exploratory else judge_many
    judged = judge(cases, baseline=baseline, alpha=alpha)
    return [
        _compared(m, baseline, arm, verdicts[arm])
        for m, verdicts in zip(measured, judged, strict=True)
        for arm in m.boots
        if arm != baseline
    ]


def _compared(measured: CaseBoots, baseline: str, arm: str, verdict: ArmVerdict) -> ArmComparison:
    notes = [note for note in (verdict.note, _two_groups(measured.boots, arm)) if note]
    return ArmComparison(
        case=measured.case,
        metric=measured.metric,
        unit=measured.unit,
        direction=measured.direction,
        baseline=baseline,
        arm=arm,
        verdict=verdict.verdict or "undecided",
        effect_percent=verdict.effect_percent,
        ci_low_percent=verdict.ci_low_percent,
        ci_high_percent=verdict.ci_high_percent,
        p=verdict.p,
        q=verdict.q,
        blocks_used=verdict.blocks,
        mde_percent=verdict.mde_percent,
        decided_at_look=verdict.decided_at_look,
        note="; ".join(notes),
    )


def _two_groups(boots: Mapping[str, Mapping[int, Sequence[float]]], arm: str) -> str:
    """A warning when the arm's boot means, block effects taken out, fall into two groups."""
    means = boot_means(boots, baseline=arm)
    positive = bool((means.values[~np.isnan(means.values)] > 0).all())
    values = np.log(means.values) if positive else means.values
    own = values[0] - np.nanmean(values, axis=0)
    groups = two_groups(own[~np.isnan(own)].tolist())
    if groups is None:
        return ""
    return f"boots fall into {groups}"
