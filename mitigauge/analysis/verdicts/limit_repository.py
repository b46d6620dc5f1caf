"""SQL of what limits said of experiments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import case, delete, func, insert, select
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.metric_limits import Kept
from mitigauge.analysis.verdicts.tables import (
    LIMIT_OUTCOME_TABLE,
    LimitJudgement,
    LimitOutcome,
)
from mitigauge.measurement.experiments.tables import Experiment

_WORST_FIRST = case({Kept.BROKEN.value: 0, Kept.CANNOT_TELL.value: 1}, value=LimitOutcome.kept,
                    else_=2)  # fmt: skip


def replace_judgement(
    session: Session,
    experiment_id: int,
    judgement: Mapping[str, object] | None,
    rows: Sequence[Mapping[str, object]],
) -> None:
    """Write what is said of an experiment now in the place of what was; None: nothing is."""
    session.execute(delete(LimitOutcome).where(LimitOutcome.experiment_id == experiment_id))
    session.execute(delete(LimitJudgement).where(LimitJudgement.experiment_id == experiment_id))
    if judgement is not None:
        session.execute(insert_or(LimitJudgement).values(experiment_id=experiment_id, **judgement))
    if rows:
        each = [{"experiment_id": experiment_id, **row} for row in rows]
        session.connection().execute(insert(LIMIT_OUTCOME_TABLE), each)


def judgements(session: Session, experiment_ids: Collection[int]) -> dict[int, LimitJudgement]:
    """What was said of experiments, by their numbers."""
    wanted = select(LimitJudgement).where(LimitJudgement.experiment_id.in_(experiment_ids))
    return {row.experiment_id: row for row in session.scalars(wanted)}


def outcomes(
    session: Session, experiment_ids: Collection[int], kept: Collection[Kept] = tuple(Kept)
) -> list[LimitOutcome]:
    """Rows of experiments, broken ones first."""
    wanted = select(LimitOutcome).where(
        LimitOutcome.experiment_id.in_(experiment_ids), LimitOutcome.kept.in_(kept)
    )
    return list(session.scalars(wanted.order_by(_WORST_FIRST, LimitOutcome.id)))


def not_kept_between(
    session: Session, start: datetime, end: datetime, limit: int
) -> Sequence[tuple[LimitOutcome, str]]:
    """Rows of a time that are broken or cannot be told, each with its experiment's name."""
    wanted = (
        select(LimitOutcome, Experiment.name)
        .join(LimitJudgement, LimitJudgement.experiment_id == LimitOutcome.experiment_id)
        .join(Experiment, Experiment.id == LimitOutcome.experiment_id)
        .where(
            LimitJudgement.judged_at >= start,
            LimitJudgement.judged_at < end,
            LimitOutcome.kept != Kept.KEPT,
        )
        .order_by(_WORST_FIRST, LimitOutcome.experiment_id.desc(), LimitOutcome.id)
        .limit(limit)
    )
    return [(outcome, name) for outcome, name in session.execute(wanted)]


def counts_between(session: Session, start: datetime, end: datetime) -> tuple[int, int, int]:
    """How many rows of a time are broken, cannot be told, and are kept."""
    sums = [
        func.coalesce(func.sum(column), 0)
        for column in (LimitJudgement.broken, LimitJudgement.cannot_tell, LimitJudgement.kept)
    ]
    row = session.execute(
        select(*sums).where(LimitJudgement.judged_at >= start, LimitJudgement.judged_at < end)
    ).one()
    return int(row[0]), int(row[1]), int(row[2])
