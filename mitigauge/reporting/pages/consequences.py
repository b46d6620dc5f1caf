"""Cost models of an experiment's changes, and what costs of single operations did to real work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.cost_model import CostModel, Estimate, Side, cost_model
from mitigauge.core.effect import Verdict
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.collectors import repository as collected
from mitigauge.measurement.collectors.repository import CollectorSummary
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.measurement.workloads.definitions import CostOf
from mitigauge.reporting.pages.consequence_schemas import (
    ConsequencesView,
    ConsequenceView,
    CostModelView,
    EstimateView,
    VerdictSummary,
)
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    RowView,
)

Means = Mapping[tuple[int, int, str], float]
CHANGED = (Verdict.BETTER, Verdict.WORSE)


def show_consequences(session: Session, experiment_id: int) -> ConsequencesView:
    """Both, of one experiment. Raises :class:`mitigauge.core.errors.NotFound`."""
    return consequences_beside(session, show_experiment(session, experiment_id))


def consequences_beside(
    session: Session, view: ExperimentView, catalog: Catalog | None = None
) -> ConsequencesView:
    """Both, of an experiment that is shown."""
    catalog = catalog or Catalog()
    return ConsequencesView(
        experiment_id=view.id,
        cost_models=list(_cost_models(session, view.id, catalog)),
        consequences=list(consequences_of(view, catalog)),
    )


# Costs of single operations beside real work.


def consequences_of(view: ExperimentView, catalog: Catalog) -> Iterator[ConsequenceView]:
    """For each arm that changed the cost of an operation: what it did to real work. Pure."""
    micro = {name for name, workload in catalog.workloads.items() if workload.micro}
    for comparison in view.comparisons:
        baseline = next((arm for arm in comparison.arms if arm.is_baseline), None)
        for host in comparison.hosts:
            for arm in comparison.arms:
                if baseline is None or arm.is_baseline or arm.is_aa:
                    continue
                changed = [
                    figure
                    for figure in _figures(comparison, host, arm, micro, known=True)
                    if figure.verdict in CHANGED
                ]
                if changed:
                    yield ConsequenceView(
                        host=host,
                        arm=arm.name,
                        baseline=baseline.name,
                        mode=arm.mode,
                        micro=changed,
                        macro=list(_macro(view, host, arm, baseline, micro)),
                    )


def _macro(
    view: ExperimentView, host: str, arm: ArmView, baseline: ArmView, micro: set[str]
) -> Iterator[VerdictSummary]:
    """Real work on the host in the same mode and kernel, of whatever comparison."""
    for comparison in view.comparisons:
        if host not in comparison.hosts:
            continue
        base = next((other for other in comparison.arms if other.is_baseline), None)
        if base is None or (base.mode, base.kernel) != (baseline.mode, baseline.kernel):
            continue
        for other in comparison.arms:
            if (other.mode, other.kernel) == (arm.mode, arm.kernel) and not other.is_aa:
                yield from _figures(comparison, host, other, micro, known=False)


def _figures(
    comparison: ComparisonView, host: str, arm: ArmView, names: set[str], *, known: bool
) -> Iterator[VerdictSummary]:
    """Primary figures of the arm, of workloads that are among *names*, or are not."""
    for row in comparison.rows:
        if row.host != host or not row.primary or (row.workload in names) != known:
            continue
        cell = next((cell for cell in row.cells if cell.arm_id == arm.id), None)
        if cell is not None and cell.effect_percent is not None:
            yield _summarise(row, cell)


def _summarise(row: RowView, cell: CellView) -> VerdictSummary:
    return VerdictSummary(
        case_id=row.case_id,
        case=row.case,
        metric_title=row.metric_title,
        effect_percent=cell.effect_percent,
        ci_low_percent=cell.ci_low_percent,
        ci_high_percent=cell.ci_high_percent,
        bound=cell.bound,
        verdict=cell.verdict,
    )


# Rate × cost.


@dataclass(frozen=True, slots=True)
class _PricedRate:
    """One rate and the case that says what each costs."""

    rate: CostOf
    case: Case
    metric: str


def _cost_models(session: Session, experiment_id: int, catalog: Catalog) -> Iterator[CostModelView]:
    for run in run_rows.runs_of(session, experiment_id):
        priced = _priced(run.comparison.cases, catalog)
        if priced:
            yield from _of_run(session, run, priced)


def _priced(cases: Sequence[Case], catalog: Catalog) -> list[_PricedRate]:
    """What is costed by cases of the comparison, the widest rate first."""
    found = []
    for case in cases:
        workload = catalog.workloads.get(case.workload)
        metric = next((name for name, declared in case.metrics.items() if declared.primary), None)
        for cost in workload.cost_of if workload and metric else ():
            if cost.measured_by(case.parameters):
                found.append(_PricedRate(cost, case, str(metric)))
    # A part of a rate whose whole has no cost of its own stands for itself.
    return sorted(found, key=lambda priced: bool(priced.rate.within))


def _of_run(session: Session, run: Run, priced: Sequence[_PricedRate]) -> Iterator[CostModelView]:
    boots = run_rows.effective_lines(session, [run.id])
    told = _summaries_by_boot(session, [boot.id for boot in boots], priced)
    counted = {case_id for _, case_id in told} - {one.case.id for one in priced}
    if not counted:
        return
    means = {
        (of.boot_id, of.case_id, of.metric): of.mean
        for of in result_rows.means_of(session, [boot.id for boot in boots])
    }
    at = {(boot.arm_id, boot.block): boot.id for boot in boots}
    baseline = next(arm for arm in run.comparison.arms if arm.is_baseline)
    others = [arm for arm in run.comparison.arms if arm.id != baseline.id]
    cases = [case for case in run.comparison.cases if case.id in counted]
    for case, arm in product(cases, others):
        for metric, declared in case.metrics.items():
            if declared.primary:
                sides = _sides(case, metric, (baseline, arm), at, told, means, priced)
                if model := cost_model(sides, declared.direction):
                    yield _view(run, case, metric, (baseline, arm), priced, sides, model)


def _summaries_by_boot(
    session: Session, boot_ids: Sequence[int], priced: Sequence[_PricedRate]
) -> dict[tuple[int, int], dict[str, CollectorSummary]]:
    """(boot, case) → collector → what it came to, of the collectors whose rates are costed."""
    found: dict[tuple[int, int], dict[str, CollectorSummary]] = defaultdict(dict)
    for collector in sorted({one.rate.rate.partition("/")[0] for one in priced}):
        for one in collected.told_of(session, boot_ids, collector=collector):
            if not one.absent:
                found[one.boot_id, one.case_id][collector] = one
    return found


def _sides(
    case: Case,
    metric: str,
    arms: tuple[Arm, Arm],
    at: Mapping[tuple[int, int], int],
    told: Mapping[tuple[int, int], Mapping[str, CollectorSummary]],
    means: Means,
    priced: Sequence[_PricedRate],
) -> list[tuple[Side, Side]]:
    """(baseline, arm) of each block in which both have all that the model needs."""
    found = []
    for block in sorted({block for _, block in at}):
        pair = []
        for arm in arms:
            boot = at.get((arm.id, block))
            side = None if boot is None else _side(boot, case, metric, told, means, priced)
            if side is not None:
                pair.append(side)
        if len(pair) == 2:
            found.append((pair[0], pair[1]))
    return found


def _side(
    boot: int,
    case: Case,
    metric: str,
    told: Mapping[tuple[int, int], Mapping[str, CollectorSummary]],
    means: Means,
    priced: Sequence[_PricedRate],
) -> Side | None:
    value = means.get((boot, case.id, metric))
    collectors = told.get((boot, case.id))
    if value is None or collectors is None:
        return None
    rates: dict[str, float] = {}
    costs: dict[str, float] = {}
    vcpus = 1.0
    for one in priced:
        collector, _, column = one.rate.rate.partition("/")
        cost = means.get((boot, one.case.id, one.metric))
        if cost is None or collector not in collectors:
            return None
        rate = collectors[collector].rates.get(column, 0.0)
        vcpus = max(vcpus, collectors[collector].means.get("vcpus", 1.0))
        rates[one.rate.rate], costs[one.rate.rate] = rate, cost
        # What is counted within another rate is taken out of it.
        if one.rate.within in rates:
            rates[one.rate.within] = max(0.0, rates[one.rate.within] - rate)
    return Side(value, [(rates[name], costs[name]) for name in rates], vcpus)


def _view(
    run: Run,
    case: Case,
    metric: str,
    arms: tuple[Arm, Arm],
    priced: Sequence[_PricedRate],
    sides: Sequence[tuple[Side, Side]],
    model: CostModel,
) -> CostModelView:
    baseline, arm = arms
    return CostModelView(
        case_id=case.id,
        case=case.title,
        metric=metric,
        metric_title=case.metrics[metric].title,
        host=run.host.name,
        arm=arm.name,
        baseline=baseline.name,
        cost_cases=[one.case.title for one in priced],
        blocks=model.blocks,
        vcpus=max(side.vcpus for pair in sides for side in pair),
        rate=model.rate,
        base_rate=model.base_rate,
        cost_ns=model.cost_ns,
        base_cost_ns=model.base_cost_ns,
        share_percent=model.share_percent,
        base_share_percent=model.base_share_percent,
        by_rate=_estimate(model.by_rate),
        by_cost=_estimate(model.by_cost),
        predicted=_estimate(model.predicted),
        measured=_estimate(model.measured),
        rest=_estimate(model.rest),
        explained_percent=model.explained,
    )


def _estimate(estimate: Estimate) -> EstimateView:
    return EstimateView(**asdict(estimate))
