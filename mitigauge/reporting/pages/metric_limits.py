"""An experiment beside the limits that a team set on metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.metric_limits import (
    Bounds,
    Kept,
    Limits,
    MetricLimit,
    judged_change,
    judged_level,
    level_of,
)
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.pages.schemas import CellView, ExperimentView


class LimitRow(BaseModel):
    """One limit on one arm of one case and host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    line: int = Field(description="of the file, from 1")
    limit: str
    case: str
    host: str
    arm: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    kept: Kept
    why: str


def beside_limits(session: Session, experiment_id: int, limits: Limits) -> list[LimitRow]:
    """Every limit with each figure that it is of. Raises NotFound.

    A limit that is of no figure of the experiment has one row that says so.
    """
    view = show_experiment(session, experiment_id)
    runs = run_rows.runs_of(session, experiment_id)
    boots = _boots(session, runs)
    cells = _cells(view)
    found = []
    for line, limit in enumerate(limits.lines, 1):
        rows = [row for run in runs for row in _of_run(line, limit, run, boots, cells)]
        found += rows or [_none(line, limit)]
    return found


def worst(rows: Sequence[LimitRow]) -> Kept:
    """Broken where one is, else what cannot be told, else kept."""
    said = {row.kept for row in rows}
    return next((each for each in (Kept.BROKEN, Kept.CANNOT_TELL) if each in said), Kept.KEPT)


_Boots = Mapping[tuple[int, int, int, str], Sequence[float]]
"""run, arm, case, metric → the boots' means."""
_Cells = Mapping[tuple[str, int, int, str], CellView]
"""host, arm, case, metric → its cell."""


def _boots(session: Session, runs: Sequence[Run]) -> _Boots:
    found: dict[tuple[int, int, int, str], list[float]] = defaultdict(list)
    for run in runs:
        arms = {line.id: line.arm_id for line in run_rows.effective_lines(session, [run.id])}
        for of in result_rows.means_of(session, arms):
            found[run.id, arms[of.boot_id], of.case_id, of.metric].append(of.mean)
    return found


def _cells(view: ExperimentView) -> _Cells:
    return {
        (row.host, cell.arm_id, row.case_id, row.metric): cell
        for comparison in view.comparisons
        for row in comparison.rows
        for cell in row.cells
    }


def _of_run(
    line: int, limit: MetricLimit, run: Run, boots: _Boots, cells: _Cells
) -> Iterator[LimitRow]:
    if limit.host_class.lower() not in run.host.host_class.lower():
        return
    for case in run.comparison.cases:
        is_meant = case.workload == limit.workload and limit.is_of(dict(case.parameters))
        if not is_meant or limit.metric not in case.metrics:
            continue
        for arm in run.comparison.arms:
            if limit.mode not in ("", arm.full_mode) or arm.is_aa:
                continue
            if limit.worse_by_percent is None:
                yield _level(line, limit, run, case, arm, boots)
            elif not arm.is_baseline:
                yield _change(line, limit, run, case, arm, cells)


def _level(
    line: int, limit: MetricLimit, run: Run, case: Case, arm: Arm, boots: _Boots
) -> LimitRow:
    values = boots.get((run.id, arm.id, case.id, limit.metric), ())
    level = level_of(values)
    why = "" if len(values) > 1 else f"{len(values)} boots that count"
    return _row(line, limit, run, case, arm, level, judged_level(limit, level), why)


def _change(
    line: int, limit: MetricLimit, run: Run, case: Case, arm: Arm, cells: _Cells
) -> LimitRow:
    cell = cells.get((run.host.name, arm.id, case.id, limit.metric))
    change = (
        None
        if cell is None or cell.effect_percent is None
        else Bounds(cell.effect_percent, cell.ci_low_percent, cell.ci_high_percent)
    )
    kept = judged_change(limit, change, case.metrics[limit.metric].direction)
    why = "" if change else "it could not be compared with the baseline"
    return _row(line, limit, run, case, arm, change, kept, why)


def _row(
    line: int, limit: MetricLimit, run: Run, case: Case, arm: Arm, of: Bounds | None, kept: Kept,
    why: str,
) -> LimitRow:  # fmt: skip
    unit = "%" if limit.worse_by_percent is not None else case.metrics[limit.metric].unit
    return LimitRow(
        line=line,
        limit=in_words(limit, unit),
        case=case.title,
        host=run.host.name,
        arm=arm.name,
        value=of.value if of else None,
        low=of.low if of else None,
        high=of.high if of else None,
        unit=unit,
        kept=kept,
        why=why,
    )


def _none(line: int, limit: MetricLimit) -> LimitRow:
    return LimitRow(
        line=line, limit=in_words(limit, ""), case="", host="", arm="", value=None, low=None,
        high=None, unit="", kept=Kept.CANNOT_TELL, why="no figure of the experiment is meant",
    )  # fmt: skip


def in_words(limit: MetricLimit, unit: str) -> str:
    """``syscall/time_per_call at most 120 ns``."""
    name = f"{limit.workload}/{limit.metric}"
    if limit.at_most is not None:
        return f"{name} at most {limit.at_most:g} {unit}".rstrip()
    if limit.at_least is not None:
        return f"{name} at least {limit.at_least:g} {unit}".rstrip()
    return f"{name} worse by at most {limit.worse_by_percent:g} %"
