"""SQL of how much cases scatter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Row, Table, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.tables import CaseNoise
from mitigauge.measurement.experiments.tables import Case
from mitigauge.storage.database.natural_sql import natural

NOISE_TABLE = cast("Table", CaseNoise.__table__)


def store(session: Session, rows: Sequence[Mapping[str, object]]) -> None:
    """Store what was worked out; what is there already stays."""
    if rows:
        session.connection().execute(insert(NOISE_TABLE).on_conflict_do_nothing(), list(rows))


def medians(session: Session, run_ids: Sequence[int]) -> Sequence[Row[Any]]:
    """(workload, metric, cases, median boot, iteration and boot-mean noise, the noisiest)."""
    middle = func.percentile_cont(0.5)
    return session.execute(
        select(
            Case.workload,
            CaseNoise.metric,
            func.count().label("cases"),
            middle.within_group(CaseNoise.boot_percent).label("boot"),
            middle.within_group(CaseNoise.iteration_percent).label("iteration"),
            middle.within_group(CaseNoise.boot_mean_percent).label("boot_mean"),
            func.max(CaseNoise.boot_mean_percent).label("worst"),
        )
        .join(Case, CaseNoise.case_id == Case.id)
        .where(CaseNoise.run_id.in_(list(run_ids)))
        .group_by(Case.workload, CaseNoise.metric)
        .order_by(natural(Case.workload), natural(CaseNoise.metric))
    ).all()
