"""The same statistics over anyone's boots: every case and metric judged against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import numpy as np
from pydantic import BaseModel, Field

from mitigauge.errors import InvalidInput
from mitigauge.reports.boots_csv import Measured
from mitigauge.stats.boot_means import boot_means
from mitigauge.stats.case import ArmVerdict, Case, Direction
from mitigauge.stats.modality import two_groups
from mitigauge.stats.multiplicity import benjamini_hochberg
from mitigauge.stats.verdicts import judge_many

FALSE_DISCOVERY_RATE = 0.05


class Compared(BaseModel):
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
    measured: Sequence[Measured],
    *,
    baseline: str,
    alpha: float = 0.01,
    delta_percent: float = 1.0,
    planned_blocks: int | None = None,
    exploratory: bool = False,
) -> list[Compared]:
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
        Case(m.boots, cast("Direction", m.direction), m.unit, delta_percent, planned_blocks)
        for m in measured
    ]
    judged = judge_many(cases, baseline=baseline, alpha=alpha, looks=() if exploratory else None)
    answers = [
        _compared(m, baseline, arm, verdicts[arm])
        for m, verdicts in zip(measured, judged, strict=True)
        for arm in m.boots
        if arm != baseline
    ]
    return _discoveries(answers) if exploratory else answers


def _compared(measured: Measured, baseline: str, arm: str, verdict: ArmVerdict) -> Compared:
    notes = [note for note in (verdict.note, _two_groups(measured.boots, arm)) if note]
    return Compared(
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
        blocks_used=verdict.blocks,
        mde_percent=verdict.mde_percent,
        decided_at_look=verdict.decided_at_look,
        note="; ".join(notes),
    )


def _discoveries(answers: Sequence[Compared]) -> list[Compared]:
    """The answers with q, and with verdicts by q where there is one."""
    tested = [index for index, answer in enumerate(answers) if answer.p is not None]
    q_values = benjamini_hochberg([answers[index].p or 0.0 for index in tested])
    q_of = dict(zip(tested, (float(q) for q in q_values), strict=True))
    return [_by_q(answer, q_of.get(index)) for index, answer in enumerate(answers)]


def _by_q(answer: Compared, q: float | None) -> Compared:
    if q is None or answer.effect_percent is None:
        return answer
    verdict = answer.verdict
    if q <= FALSE_DISCOVERY_RATE:
        larger_is_better = answer.direction == "higher"
        verdict = "better" if (answer.effect_percent > 0) == larger_is_better else "worse"
    elif verdict in ("better", "worse"):
        verdict = "undecided"
    return answer.model_copy(update={"q": q, "verdict": verdict})


def _two_groups(boots: Mapping[str, Mapping[int, Sequence[float]]], arm: str) -> str:
    """A warning when the arm's boot means, block effects taken out, fall into two groups."""
    means = boot_means(boots, baseline=arm)
    positive = bool((means.values[~np.isnan(means.values)] > 0).all())
    values = np.log(means.values) if positive else means.values
    own = values[0] - np.nanmean(values, axis=0)
    groups = two_groups(own[~np.isnan(own)].tolist())
    if groups is None:
        return ""
    return f"boots fall into two groups ({groups.upper_share:.0%} in the upper one)"
