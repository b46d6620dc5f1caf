"""Boots of factorial designs, as the statistics take them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.core.stats.factorial import BootPoint
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Case, Comparison, FactorialPlan
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run


@dataclass(frozen=True, slots=True)
class FactorialCase:
    """One primary metric of one case on one host of a factorial comparison."""

    comparison: Comparison
    plan: FactorialPlan
    run: Run
    case: Case
    metric: str
    declared: CaseMetric
    boots: Sequence[BootPoint]
    planned: int
    """Boots that the design wants."""
    not_effective: Mapping[str, str]
    """Arms of which no boot counts, and why."""


def factorial_cases(session: Session, experiment_id: int) -> Iterator[FactorialCase]:
    """Every primary metric of the experiment's factorial comparisons, in the order of the spec.

    Raises :class:`mitigauge.core.errors.NotFound`.
    """
    experiment_rows.experiment(session, experiment_id)
    for run in run_rows.runs_of(session, experiment_id):
        if run.comparison.factorial is not None:
            yield from _of_run(session, run, run.comparison.factorial)


def _of_run(session: Session, run: Run, plan: FactorialPlan) -> Iterator[FactorialCase]:
    comparison = run.comparison
    lines = run_rows.boot_lines(session, [run.id])
    counted = {line.id: line for line in lines if line.state == BootState.EFFECTIVE}
    high = {arm.id: plan.high(arm.full_mode) for arm in comparison.arms}
    found: dict[tuple[int, str], list[BootPoint]] = defaultdict(list)
    for mean in result_rows.means_of(session, counted):
        line = counted[mean.boot_id]
        point = BootPoint(high[line.arm_id], line.block, mean.mean)
        found[mean.case_id, mean.metric].append(point)
    proven = {line.arm_id for line in counted.values()}
    reasons = {line.arm_id: line.reason for line in lines if line.reason}
    missing = {arm.name: reasons.get(arm.id, "") for arm in comparison.arms if arm.id not in proven}
    for case in comparison.cases:
        for metric, declared in case.metrics.items():
            if declared.primary:
                yield FactorialCase(
                    comparison=comparison,
                    plan=plan,
                    run=run,
                    case=case,
                    metric=metric,
                    declared=declared,
                    boots=found[case.id, metric],
                    planned=comparison.blocks * len(comparison.arms),
                    not_effective=missing,
                )
