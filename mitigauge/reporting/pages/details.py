"""What one case on one host tells besides its metrics: one bounded read of stored summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.over_boots import (
    FigureQuestion,
    OverBoots,
    interval_of,
    over_boots,
)
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.results.details import BootDetails
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.measurement.workloads.details import Breakdown, Curve, Figure
from mitigauge.reporting.pages.case import run_on
from mitigauge.reporting.pages.detail_schemas import (
    BreakdownLine,
    BreakdownRow,
    BreakdownView,
    CurveLine,
    CurvePoint,
    CurveView,
    DetailArm,
    DetailCell,
    DetailFigure,
    DetailsView,
    ReachedRow,
)

# A report has room for so many cases; each has a page and a command.
MOST_IN_A_REPORT = 8


@dataclass(frozen=True, slots=True)
class ArmDetails:
    """What an arm's boots told, by block."""

    arm: Arm
    boots: Mapping[int, BootDetails]


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of a comparison, with what their boots told."""

    told: Sequence[ArmDetails]
    baseline: int
    layouts: int

    def answer(self, questions: Sequence[FigureQuestion]) -> list[list[DetailCell]]:
        """Every question, a cell for each arm in order."""
        answers = over_boots(questions, baseline=self.baseline, layouts=self.layouts)
        return [[_cell(of.arm.id, answer[of.arm.id]) for of in self.told] for answer in answers]


def show_details(
    session: Session,
    experiment_id: int,
    case_id: int,
    host: str | None,
    catalog: Catalog | None = None,
) -> DetailsView:
    """What a case tells besides its metrics; on the first host when none is named.

    Raises :class:`mitigauge.core.errors.NotFound` for a case, or a host, that the experiment lacks.
    """
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    case, comparison = experiment_rows.case(session, experiment_id, case_id)
    run = run_on(run_rows.runs_of(session, experiment_id), comparison.id, host)
    boots = run_rows.effective_lines(session, [run.id])
    ids = [boot.id for boot in boots]
    read = _readable(result_rows.details_of(session, ids, case.id))
    measured = result_rows.case_seconds(session, ids, case.id)
    arms = _arms(comparison, boots, read)
    workload = (catalog or Catalog()).workloads.get(case.workload)
    newest = next(reversed(read.values()), None)
    declared = bool(newest) or bool(workload and workload.details)
    return DetailsView(
        experiment_id=experiment.id,
        experiment=experiment.name,
        comparison=comparison.name,
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        host=run.host.name,
        emulated=run.host.emulated,
        clock=run.clock,
        declared=declared,
        arms=[
            DetailArm(
                arm_id=of.arm.id,
                name=of.arm.name,
                mode=of.arm.mode,
                is_baseline=of.arm.is_baseline,
                boots=len(of.boots),
            )
            for of in arms.told
        ],
        untold=len(set(measured) - set(read)) if declared else 0,
        curve=_curve(newest.declared.curve, case, arms)
        if newest and newest.declared.curve
        else None,
        # One that no boot tells was not asked for: a trace, for example.
        breakdowns=[
            breakdown
            for name, declared in (newest.declared.breakdowns if newest else {}).items()
            if (breakdown := _breakdown(name, declared, arms)).lines
        ],
    )


def first_detailed(session: Session, experiment_id: int, host: str | None) -> int | None:
    """Number of the first case that tells details, on *host* if one is named; None: none does."""
    experiment_rows.experiment(session, experiment_id, with_cases=False)
    runs = run_rows.runs_of(session, experiment_id)
    ids = [run.id for run in runs if host in (None, run.host.name)]
    boots = [boot.id for boot in run_rows.effective_lines(session, ids)]
    return next(iter(result_rows.detailed_cases(session, boots)), None)


def detailed(session: Session, experiment_id: int) -> list[DetailsView]:
    """Details of the experiment's cases that tell any, host by host; the first few of them."""
    catalog = Catalog()
    found: list[DetailsView] = []
    for run in run_rows.runs_of(session, experiment_id):
        boots = [boot.id for boot in run_rows.effective_lines(session, [run.id])]
        for case_id in result_rows.detailed_cases(session, boots):
            if len(found) == MOST_IN_A_REPORT:
                return found
            found.append(show_details(session, experiment_id, case_id, run.host.name, catalog))
    return found


def _readable(bodies: Mapping[int, object]) -> dict[int, BootDetails]:
    """boot → its details, in order of boots; what is none (from a foreign file, say) is left out.

    The last one says what is shown, so that boots of two versions of a workload stand together.
    """
    found = {}
    for boot in sorted(bodies):
        with suppress(ValidationError):
            found[boot] = BootDetails.model_validate(bodies[boot])
    return found


def _arms(
    comparison: Comparison, boots: Sequence[BootLine], read: Mapping[int, BootDetails]
) -> Arms:
    return Arms(
        [
            ArmDetails(
                arm,
                {b.block: read[b.id] for b in boots if b.arm_id == arm.id and b.id in read},
            )
            for arm in comparison.arms
        ],
        next(arm.id for arm in comparison.arms if arm.is_baseline),
        comparison.layouts,
    )


def _curve(declared: Curve, case: Case, arms: Arms) -> CurveView:
    own = case.parameters.get(declared.threshold) if declared.threshold else None
    thresholds = sorted(
        {one.threshold for of in arms.told for boot in of.boots.values() for one in boot.reached}
    )
    cells = arms.answer([_reached(declared.reached, arms, threshold) for threshold in thresholds])
    return CurveView(
        title=declared.title,
        load=declared.load,
        count=declared.count,
        value=_figure("value", declared.value),
        reached=_figure("reached", declared.reached),
        lines=[
            CurveLine(
                arm_id=of.arm.id,
                boots=len(of.boots),
                points=list(_points(of, declared.value.unit, arms.layouts)),
            )
            for of in arms.told
            if of.boots
        ],
        thresholds=[
            ReachedRow(threshold=threshold, is_own=threshold == own, cells=of_arms)
            for threshold, of_arms in zip(thresholds, cells, strict=True)
        ],
    )


def _points(of: ArmDetails, unit: str, layouts: int) -> Iterator[CurvePoint]:
    values: dict[float, dict[int, float]] = {}
    for block, boot in of.boots.items():
        for point in boot.curve:
            if point.value is not None:
                values.setdefault(point.load, {})[block] = point.value
    for load, told in sorted(values.items()):
        over = interval_of(told, unit, layouts)
        yield CurvePoint(load=load, boots=len(told), value=over.mean, low=over.low, high=over.high)


def _reached(declared: Figure, arms: Arms, threshold: float) -> FigureQuestion:
    boots: dict[int, dict[int, float | None]] = {}
    tried: dict[int, float] = {}
    for of in arms.told:
        boots[of.arm.id] = {
            block: one.load
            for block, boot in of.boots.items()
            for one in boot.reached
            if one.threshold == threshold
        }
        loads = [
            point.load for b in of.boots.values() for point in b.curve if point.value is not None
        ]
        if loads:
            tried[of.arm.id] = max(loads)
    return FigureQuestion(boots, declared.unit, declared.direction, tried)


def _breakdown(name: str, declared: Breakdown, arms: Arms) -> BreakdownView:
    asked = [
        (row, figure, question)
        for row in declared.rows
        for figure, form in declared.figures.items()
        if (question := _of_row(name, row, figure, form, arms))
    ]
    cells = arms.answer([question for _, _, question in asked])
    return BreakdownView(
        name=name,
        title=declared.title,
        of=declared.of,
        help=declared.help,
        choose=declared.choose,
        rows=[BreakdownRow(name=row, title=title) for row, title in declared.rows.items()],
        figures=[_figure(figure, form) for figure, form in declared.figures.items()],
        lines=[
            BreakdownLine(row=row, figure=figure, cells=of_arms)
            for (row, figure, _), of_arms in zip(asked, cells, strict=True)
        ],
    )


def _of_row(name: str, row: str, figure: str, form: Figure, arms: Arms) -> FigureQuestion | None:
    """One figure of one row; None where no boot tells it."""
    boots: dict[int, dict[int, float | None]] = {
        of.arm.id: {
            block: boot.breakdowns.get(name, {}).get(row, {}).get(figure)
            for block, boot in of.boots.items()
        }
        for of in arms.told
    }
    if all(value is None for of_arm in boots.values() for value in of_arm.values()):
        return None
    return FigureQuestion(boots, form.unit, form.direction)


def _figure(name: str, figure: Figure) -> DetailFigure:
    return DetailFigure(name=name, **figure.model_dump())


def _cell(arm_id: int, of: OverBoots) -> DetailCell:
    return DetailCell(
        arm_id=arm_id,
        boots=of.boots,
        of=of.of,
        value=of.value,
        low=of.low,
        high=of.high,
        at_least=of.at_least,
        change_percent=of.change,
        change_low=of.change_low,
        change_high=of.change_high,
        note=of.note,
    )
