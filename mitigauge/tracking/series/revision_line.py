"""The line of a series: what was said of each case, mode and revision, v1…vN.

Verdicts stand in the database as they were given; nothing is judged here. Percent of the baseline
that the comparison names, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.tracking.series.revision_line_repository import MOST_ROWS, primary_verdicts
from mitigauge.tracking.series.tables import Series

_METRIC = TypeAdapter(CaseMetric)
# comparison, host, case, metric, arm
Key = tuple[str, str, str, str, str]


class LinePoint(BaseModel):
    """What one revision's experiment says of a row; null where it has no such row."""

    revision: str
    experiment_id: int
    case_id: int
    state: CellState
    n: int
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    verdict: Verdict | None
    bound: Bound = Field(description="what the figures say of the true change")
    baseline: str = Field(description="the arm it is compared with")
    across: bool = Field(description="whether the baseline runs on another kernel")


class LineRow(BaseModel):
    """One case and arm over the revisions, in their order."""

    comparison: str
    host: str
    emulated: bool
    counted: bool = Field(description="whether the host's time counts instructions")
    case: str
    metric: str
    metric_title: str
    unit: str
    direction: Direction
    arm: str
    points: list[LinePoint | None]
    first_worse: str = Field(
        description="the first revision that is worse by more than counts as no difference"
    )


class SeriesLine(BaseModel):
    """The line of a series; *left_out*: rows beyond the first 200."""

    revisions: list[str]
    rows: list[LineRow]
    left_out: int


def line(session: Session, series: Series) -> SeriesLine:
    """Rows of the latest measured revision, the worst first, then those of earlier ones alone.

    Only primary metrics have rows.
    """
    measured = [r for r in series.revisions if r.experiment_id is not None]
    rows: dict[Key, Any] = {}
    left_out = 0
    for revision in reversed(measured):
        found = primary_verdicts(session, int(revision.experiment_id or 0), ())
        for row in found:
            rows.setdefault(_key(row), row)
        if found and found[0].total > MOST_ROWS:
            left_out = found[0].total - MOST_ROWS
            break
    shown = list(rows.values())[:MOST_ROWS]
    left_out = max(left_out, len(rows) - len(shown))
    titles = sorted({row.title for row in shown})
    by_revision = {
        revision.label: {
            _key(row): row
            for row in primary_verdicts(session, int(revision.experiment_id or 0), titles)
        }
        for revision in (measured if titles else ())
    }
    labels = [revision.label for revision in measured]
    return SeriesLine(
        revisions=labels,
        rows=[_row(row, labels, by_revision) for row in shown],
        left_out=left_out,
    )


def _key(row: Any) -> Key:
    return row.comparison, row.host, row.title, row.metric, row.arm


def _row(row: Any, labels: Sequence[str], by_revision: dict[str, dict[Key, Any]]) -> LineRow:
    declared = _METRIC.validate_python(row.declared)
    points = [_point(label, by_revision[label].get(_key(row))) for label in labels]
    worse = [p.revision for p in points if p is not None and _counts(p, declared.delta_percent)]
    return LineRow(
        comparison=row.comparison,
        host=row.host,
        emulated=row.emulated,
        counted=row.clock == Clock.COUNTED,
        case=row.title,
        metric=row.metric,
        metric_title=declared.title,
        unit=declared.unit,
        direction=declared.direction,
        arm=row.arm,
        points=points,
        first_worse=worse[0] if worse else "",
    )


def _counts(point: LinePoint, delta_percent: float) -> bool:
    """Whether it is worse by more than what counts as no difference."""
    ends = [end for end in (point.ci_low_percent, point.ci_high_percent) if end is not None]
    within = len(ends) == 2 and all(abs(end) <= delta_percent for end in ends)
    return point.verdict is Verdict.WORSE and not within


def _point(label: str, row: Any | None) -> LinePoint | None:
    if row is None:
        return None
    return LinePoint(
        revision=label,
        experiment_id=row.experiment_id,
        case_id=row.case_id,
        state=row.state,
        n=row.n,
        effect_percent=row.effect_percent,
        ci_low_percent=row.ci_low_percent,
        ci_high_percent=row.ci_high_percent,
        verdict=row.verdict,
        bound=row.bound,
        baseline=row.baseline,
        across=row.kernel != row.baseline_kernel,
    )
