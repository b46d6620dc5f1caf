"""Bisections as pages and commands show them: what is stored, put together."""

from __future__ import annotations

import math
from collections.abc import Collection

from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect import repository
from mitigauge.tracking.bisect.knowledge import current_step
from mitigauge.tracking.bisect.schemas import (
    BisectionHead,
    BisectionView,
    CandidateView,
    PointView,
    StepView,
)
from mitigauge.tracking.bisect.states import AnswerKind, BisectionKind, BisectionState
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep
from mitigauge.tracking.series.service import text_at

MOST_SHOWN = 200


def heads(
    session: Session, find: str = "", states: Collection[BisectionState] = ()
) -> list[BisectionHead]:
    """The newest bisections: with the words, in one of the states."""
    rows = repository.listed(session, find=find, states=states)
    counts = repository.counts(session, [row.id for row in rows])
    culprits = {row.id: k for row in rows if (k := _culprit(row)) is not None}
    titles = repository.titles(session, culprits)
    return [
        _head(session, row, counts.get(row.id, 0), titles.get(row.id, "")) for row in rows
    ]  # fmt: skip


def show(session: Session, bisection_id: int) -> BisectionView:
    """One bisection whole. Raises NotFound."""
    row = repository.whole(session, bisection_id)
    culprit = _culprit(row)
    head = _head(
        session, row, len(row.candidates),
        row.candidates[culprit - 1].title if culprit is not None else "",
    )  # fmt: skip
    experiments = repository.experiments_of(session, [step.experiment_id for step in row.steps])
    ranked = sorted(row.candidates, key=lambda each: (-(each.probability or 0.0), each.position))
    kept = sorted(ranked[:MOST_SHOWN], key=lambda each: each.position)
    return BisectionView(
        **head.model_dump(),
        workload=row.workload,
        parameters=row.parameters,
        unit=row.unit,
        higher_is_worse=row.higher_is_worse,
        minimum_effect_percent=100 * math.expm1(row.minimum_effect),
        wanted_confidence=row.confidence,
        source=row.source,
        changes=[CandidateView.model_validate(each, from_attributes=True) for each in kept],
        left_out=len(row.candidates) - len(kept),
        points=[
            PointView(
                position=point.position, mode=point.mode, skipped=point.skipped,
                kernel=(point.kernel.release or "") if point.kernel else point.release,
                without=point.without,
            )
            for point in row.points
            if point.skipped or point.kernel or point.release or row.kind == BisectionKind.ARMS
        ],
        steps=[_step(step, experiments[step.experiment_id]) for step in row.steps],
        none_probability=row.none_probability,
        several_probability=row.several_probability,
        found=row.answer,
    )  # fmt: skip


def _step(step: BisectionStep, experiment: Experiment) -> StepView:
    return StepView(
        number=step.number,
        points=step.points,
        blocks=step.blocks,
        purpose=step.purpose,
        why=step.why,
        verifies=step.verifies,
        profiled=step.profiled,
        experiment_id=step.experiment_id,
        experiment_state=experiment.state,
        case_id=step.case_id,
        over=step.taken_in_at is not None,
        outcome=step.outcome,
        levels=step.levels,
        boots=step.boots,
        measured_s=step.measured_s,
    )


def _culprit(row: Bisection) -> int | None:
    found = row.answer is not None and row.answer.kind == AnswerKind.FOUND
    return row.answer.candidates[0] if row.answer and found else None


def _head(session: Session, row: Bisection, candidates: int, culprit: str) -> BisectionHead:
    state = row.state
    step = current_step(row) if state == BisectionState.RUNNING else None
    in_hand = repository.boots_begun(session, step.experiment_id)[0] if step else 0
    return BisectionHead(
        id=row.id,
        kind=row.kind,
        title=row.title,
        state=state,
        why=row.why,
        environment=row.environment,
        hosts=row.hosts,
        emulated=row.emulated,
        counted=row.counted,
        case=row.case_title,
        metric=row.metric,
        candidates=candidates,
        boots=row.boots + in_hand,
        budget_boots=row.budget_boots,
        seconds=row.seconds,
        budget_s=row.budget_s,
        answer=row.answer.kind if row.answer else None,
        culprit=culprit,
        confidence=row.answer.confidence if row.answer else None,
        submitted_by=row.submitted_by,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def patch_text(session: Session, bisection_id: int, position: int, blobs: BlobStore) -> str:
    """The patch of a candidate, from 1, as it is applied.

    Raises :class:`NotFound` where there is no such candidate, and where candidates are no patches.
    """
    found = repository.whole(session, bisection_id)
    if found.patches_sha256 is None:
        raise NotFound(
            f"bisection {bisection_id} goes over {found.kind}, which have no patches here",
            hint="The candidate's name says where to look.",
        )
    missing = f"bisection {bisection_id} has no candidate"
    return text_at(found.patches_sha256, position, blobs, missing)
