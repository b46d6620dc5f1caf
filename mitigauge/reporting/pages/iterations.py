"""Raw iterations with all that says where they come from, boot by boot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run

PHASES = (("warmup", None), ("counted", "slowdowns"), ("disturbed", "disturbed_slowdowns"))


class IterationLine(NamedTuple):
    """One value; *position* is its place among those of its phase, from 1."""

    comparison: str
    host: str
    workload: str
    case: str
    arm: str
    block: int
    order: int
    boot_id: int
    boot_state: str
    counts: bool
    metric: str
    unit: str
    phase: str
    position: int
    value: float
    slowdown: float | None


def iterations(
    session: Session, experiment_id: int, *, case_id: int | None = None, host: str | None = None
) -> Iterator[IterationLine]:
    """Every value of an experiment, of one case, or on one host, in the order of the boots.

    Raises :class:`NotFound` before the first value for an experiment, case or host that is not
    there. Values are read boot by boot, so that any number of them takes little memory.
    """
    experiment = experiment_rows.experiment(session, experiment_id)
    if case_id is not None:
        experiment_rows.case(session, experiment_id, case_id)
    runs = run_rows.runs_of(session, experiment_id)
    chosen = [run for run in runs if host is None or run.host.name == host]
    if not chosen:
        raise NotFound(
            f"experiment {experiment_id} has no host {host!r}",
            hint=f"Its hosts are {', '.join(dict.fromkeys(run.host.name for run in runs))}.",
        )
    cases = {case.id: case for of in experiment.comparisons for case in of.cases}
    arms = {arm.id: arm.name for of in experiment.comparisons for arm in of.arms}
    return (
        line
        for run in chosen
        for boot in run_rows.boot_lines(session, [run.id])
        for of in result_rows.measurements_of(session, [boot.id], case_id)
        for line in _lines(run, boot, arms[boot.arm_id], cases[of.case_id], of)
    )


def _lines(run: Run, boot: BootLine, arm: str, case: Case, of: Any) -> Iterator[IterationLine]:
    for phase, beside in PHASES:
        values = getattr(of, phase) or []
        slowdowns = (getattr(of, beside) if beside else None) or [None] * len(values)
        for position, (value, slowdown) in enumerate(zip(values, slowdowns, strict=True), start=1):
            yield IterationLine(
                comparison=run.comparison.name,
                host=run.host.name,
                workload=case.workload,
                case=case.title,
                arm=arm,
                block=boot.block,
                order=boot.place,
                boot_id=boot.id,
                boot_state=boot.state,
                counts=boot.state == BootState.EFFECTIVE and phase == "counted",
                metric=of.metric,
                unit=case.metrics[of.metric].unit,
                phase=phase,
                position=position,
                value=value,
                slowdown=slowdown,
            )
