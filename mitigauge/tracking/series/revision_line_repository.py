"""SQL of a series' line: what was said of the cases of one revision's experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session, aliased

from mitigauge.analysis.verdicts.tables import StoredVerdict
from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import Run

# Rows of one answer, and verdicts of one revision on their cases.
MOST_ROWS = 200
MOST_OF_TITLES = 4000


def primary_verdicts(session: Session, experiment_id: int, titles: Sequence[str]) -> list[Any]:
    """Current verdicts on primary metrics, the worst and largest first; *total*: how many.

    *titles*: of these cases alone; empty: of all, as many as are shown.
    """
    baseline = aliased(Arm)
    order = case(
        {Verdict.WORSE.value: 0, Verdict.BETTER.value: 1, Verdict.UNDECIDED.value: 2},
        value=StoredVerdict.verdict,
        else_=3,
    )
    declared = func.jsonb_extract_path(Case.metrics, StoredVerdict.metric, type_=JSONB)
    wanted = (
        select(
            Comparison.name.label("comparison"),
            Comparison.experiment_id,
            Host.name.label("host"),
            Host.emulated,
            Host.clock,
            Case.id.label("case_id"),
            Case.title,
            StoredVerdict.metric,
            declared.label("declared"),
            Arm.name.label("arm"),
            Arm.kernel,
            baseline.name.label("baseline"),
            baseline.kernel.label("baseline_kernel"),
            StoredVerdict.state,
            StoredVerdict.n,
            StoredVerdict.effect_percent,
            StoredVerdict.ci_low_percent,
            StoredVerdict.ci_high_percent,
            StoredVerdict.verdict,
            StoredVerdict.bound,
            func.count().over().label("total"),
        )
        .join(Run, StoredVerdict.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .join(Arm, StoredVerdict.arm_id == Arm.id)
        .join(Case, StoredVerdict.case_id == Case.id)
        .join(Comparison, Arm.comparison_id == Comparison.id)
        .join(baseline, (baseline.comparison_id == Comparison.id) & baseline.is_baseline)
        .where(
            Run.experiment_id == experiment_id,
            StoredVerdict.superseded_at.is_(None),
            ~Arm.is_baseline,
            ~Arm.is_aa,
            declared["primary"].as_boolean(),
        )
        .order_by(order, func.abs(func.coalesce(StoredVerdict.effect_percent, 0)).desc(),
                  Case.id, Arm.position)
    )  # fmt: skip
    if titles:
        wanted = wanted.where(Case.title.in_(titles)).limit(MOST_OF_TITLES)
    else:
        wanted = wanted.limit(MOST_ROWS)
    return list(session.execute(wanted))
