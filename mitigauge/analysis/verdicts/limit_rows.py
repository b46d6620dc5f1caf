"""Each limit beside the figures of an experiment that it is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.analysis.verdicts.limit_schemas import LimitRow
from mitigauge.analysis.verdicts.metric_limits import (
    Bounds,
    Kept,
    judged_change,
    judged_level,
    level_of,
)
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.metric_limit import MetricLimit
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run


@dataclass(frozen=True, slots=True)
class Figures:
    """What limits are judged by, of one experiment."""

    runs: Sequence[Run]
    boots: Mapping[tuple[int, int, int, str], Sequence[float]]
    """run, arm, case, metric → the boots' means."""
    changes: Mapping[tuple[int, int, int, str], Bounds]
    """The same → the change against the baseline, percent."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One arm of one case of one run, beside one limit."""

    line: int
    limit: MetricLimit
    run: Run
    case: Case
    arm: Arm

    @property
    def key(self) -> tuple[int, int, int, str]:
        return self.run.id, self.arm.id, self.case.id, self.limit.metric

    def row(self, of: Bounds | None, kept: Kept, why: str) -> LimitRow:
        is_change = self.limit.worse_by_percent is not None
        unit = "%" if is_change else self.case.metrics[self.limit.metric].unit
        return LimitRow(
            line=self.line,
            limit=self.limit.in_words(unit),
            because=self.limit.because,
            case=self.case.title,
            case_id=self.case.id,
            host=self.run.host.name,
            emulated=self.run.host.emulated,
            arm=self.arm.name,
            value=of.value if of else None,
            low=of.low if of else None,
            high=of.high if of else None,
            unit=unit,
            kept=kept,
            why=why,
        )


def figures_of(session: Session, experiment_id: int) -> Figures:
    """Read what limits are judged by. Raises NotFound."""
    experiment_rows.experiment(session, experiment_id, with_cases=False)
    runs = run_rows.runs_of(session, experiment_id)
    boots: dict[tuple[int, int, int, str], list[float]] = defaultdict(list)
    for run in runs:
        arms = {line.id: line.arm_id for line in run_rows.effective_lines(session, [run.id])}
        for of in result_rows.means_of(session, arms):
            boots[run.id, arms[of.boot_id], of.case_id, of.metric].append(of.mean)
    changes = {
        (row.run_id, row.arm_id, row.case_id, row.metric): Bounds(
            row.effect_percent, row.ci_low_percent, row.ci_high_percent, Bound(row.bound)
        )
        for row in verdict_rows.current_of(session, [run.id for run in runs])
        if row.effect_percent is not None
    }
    return Figures(runs, boots, changes)


def rows_of(limits: Sequence[MetricLimit], figures: Figures) -> list[LimitRow]:
    """Every limit with each figure that it is of; a limit of no figure has no row."""
    return [row for each in rows_by_line(limits, figures) for row in each]


def rows_by_line(limits: Sequence[MetricLimit], figures: Figures) -> list[list[LimitRow]]:
    """The same, limit by limit."""
    return [
        [_judged(place, figures) for run in figures.runs for place in _places(line, limit, run)]
        for line, limit in enumerate(limits, 1)
    ]


def _places(line: int, limit: MetricLimit, run: Run) -> Iterator[_Place]:
    if limit.host_class.lower() not in run.host.host_class.lower():
        return
    arms = [arm for arm in run.comparison.arms if _is_of(limit, arm)]
    baseline = next((arm.name for arm in run.comparison.arms if arm.is_baseline), "")
    if limit.than not in ("", baseline):
        return
    for case in run.comparison.cases:
        if case.workload != limit.workload or limit.metric not in case.metrics:
            continue
        if limit.is_of(dict(case.parameters)):
            for arm in arms:
                yield _Place(line, limit, run, case, arm)


def _is_of(limit: MetricLimit, arm: Arm) -> bool:
    """Whether a limit is of an arm. A baseline does not change against itself."""
    if limit.mode not in ("", arm.full_mode) or arm.is_aa:
        return False
    return limit.worse_by_percent is None or not arm.is_baseline


def _judged(place: _Place, figures: Figures) -> LimitRow:
    limit = place.limit
    if limit.worse_by_percent is None:
        values = figures.boots.get(place.key, ())
        level = level_of(values)
        why = "" if len(values) > 1 else f"{len(values)} boots that count"
        return place.row(level, judged_level(limit, level), why)
    change = figures.changes.get(place.key)
    direction = place.case.metrics[limit.metric].direction
    kept = judged_change(limit, change, direction)
    return place.row(change, kept, _why_change(change, kept))


def _why_change(change: Bounds | None, kept: Kept) -> str:
    if change is None:
        return "it could not be compared with the baseline"
    if change.bound is not Bound.EXACT and kept is Kept.CANNOT_TELL:
        return "events of the hardware cost nothing on an emulated host"
    return ""
