"""One case on one host, with every boot as a point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts import repository as verdict_rows
from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.boot_schemas import BootPoint, CaseView
from mitigauge.reporting.pages.matrix import StoredCells, arm_views, row_view
from mitigauge.reporting.pages.noise import ByArm, costs_of, noise_view


def show_case(session: Session, experiment_id: int, case_id: int, host: str | None) -> CaseView:
    """One case on one host with every boot as a point; the first host when none is named.

    Raises :class:`NotFound` for a case, or a host, that the experiment does not have.
    """
    experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
    case, comparison = experiment_rows.case(session, experiment_id, case_id)
    run = run_on(run_rows.runs_of(session, experiment_id), comparison.id, host)
    boots = run_rows.boot_lines(session, [run.id])
    boot_ids = [boot.id for boot in boots]
    measured = {
        (of.boot_id, of.metric): of
        for of in result_rows.measurements_of(session, boot_ids, case.id)
    }
    costs = costs_of(
        boots,
        result_rows.case_seconds(session, boot_ids, case.id),
        cases=experiment_rows.case_count(session, comparison.id),
        passes=case.iterations + case.warmup,
    )
    cells = StoredCells(
        verdict_rows.current_of(session, [run.id], case.id),
        verdict_rows.earlier_of(session, [run.id], case.id),
    )
    names = {arm.id: arm.name for arm in comparison.arms}
    return CaseView(
        experiment_id=experiment.id,
        experiment=experiment.name,
        comparison=comparison.name,
        case_id=case.id,
        case=case.title,
        workload=case.workload,
        parameters=case.parameters,
        host=run.host.name,
        metrics=[row_view(comparison.arms, run, case, metric, cells) for metric in case.metrics],
        points={
            metric: [_point(boot, names, measured.get((boot.id, metric))) for boot in boots]
            for metric in case.metrics
        },
        noise={
            metric: noise_view(
                _by_arm(metric, comparison.arms, boots, measured), comparison.arms, declared, costs
            )
            for metric, declared in case.metrics.items()
        },
        threads=any(declared.threads for declared in case.metrics.values()),
        arms=arm_views(
            comparison,
            run_counts.states_by_arm(session, [run.id]),
            run_counts.observed_by_arm(session, [run.id]),
            emulated=run.host.emulated,
        ),
        emulated=run.host.emulated,
        clock=run.clock,
    )


def run_on(runs: Sequence[Run], comparison_id: int, host: str | None) -> Run:
    """The run of a comparison on a host; the first one when none is named."""
    own = {run.host.name: run for run in runs if run.comparison_id == comparison_id}
    if host is None:
        return next(iter(own.values()))
    if host not in own:
        raise NotFound(
            f"the case was not planned on host {host!r}", hint=f"Its hosts are {', '.join(own)}."
        )
    return own[host]


def _by_arm(
    metric: str,
    arms: Sequence[Arm],
    boots: Sequence[BootLine],
    measured: Mapping[tuple[int, str], Any],
) -> ByArm:
    found: dict[int, dict[int, Sequence[float]]] = defaultdict(dict)
    for boot in boots:
        of = measured.get((boot.id, metric))
        if of is not None and boot.state == BootState.EFFECTIVE:
            found[boot.arm_id][boot.block] = of.counted
    return {arm.id: found[arm.id] for arm in arms}


def _point(boot: BootLine, names: Mapping[int, str], measured: Any | None) -> BootPoint:
    return BootPoint(
        boot_id=boot.id,
        block=boot.block,
        order=boot.place,
        arm_id=boot.arm_id,
        arm=names[boot.arm_id],
        state=boot.state,
        counts=boot.state == BootState.EFFECTIVE and measured is not None,
        mean=measured.mean if measured else None,
        iterations=measured.counted if measured else [],
        warmup=(measured.warmup or []) if measured else [],
        disturbed=(measured.disturbed or []) if measured else [],
        at=boot.started_at,
    )
