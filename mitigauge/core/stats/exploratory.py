"""Metrics that decide nothing: one look, and all of them under one false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mitigauge.core.stats.boot_means import Arm
from mitigauge.core.stats.multiplicity import q_values
from mitigauge.core.stats.question import ArmVerdict, Question, Verdict
from mitigauge.core.stats.terms import FALSE_DISCOVERY_RATE
from mitigauge.core.stats.verdicts import judge_many


def judge_exploratory(
    cases: Sequence[Question[Arm]], *, baseline: Arm, alpha: float = 0.01
) -> list[dict[Arm, ArmVerdict]]:
    """Judge *cases* at the end of their blocks, with q over all their arms.

    *better* and *worse* go by q alone; *same* by the interval, as ever. While blocks
    are still to come an arm is undecided, and q is the figure so far. *alpha* sets the
    smallest detectable effect. Raises :class:`InvalidInput` as :func:`judge_many` does.
    """
    judged = judge_many(cases, baseline=baseline, alpha=alpha, looks=())
    tested = [
        (index, arm, verdict.p)
        for index, verdicts in enumerate(judged)
        for arm, verdict in verdicts.items()
        if verdict.p is not None and not verdict.has_few_boots
    ]
    of_tested = q_values([p for _, _, p in tested])
    for (index, arm, _), q in zip(tested, of_tested, strict=True):
        judged[index][arm] = _by_q(judged[index][arm], cases[index], float(q))
    return judged


def _by_q(answer: ArmVerdict, case: Question[Arm], q: float) -> ArmVerdict:
    return replace(answer, q=q, verdict=_verdict(answer, case, q))


def _verdict(answer: ArmVerdict, case: Question[Arm], q: float) -> Verdict | None:
    over = case.ended or answer.blocks >= (case.planned_blocks or 0)
    if over and q <= FALSE_DISCOVERY_RATE and answer.effect_percent is not None:
        larger_is_better = case.direction == "higher"
        return "better" if (answer.effect_percent > 0) == larger_is_better else "worse"
    return "undecided" if answer.verdict in ("better", "worse") else answer.verdict
