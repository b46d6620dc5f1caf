"""What threads did beside cases, boot by boot, as reports compare it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Case, Comparison
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.results.tables import ThreadTable
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.case import run_on


@dataclass(frozen=True, slots=True)
class BootThreads:
    """What the threads did in one boot that counts."""

    arm_id: int
    block: int
    told: ThreadTable


@dataclass(frozen=True, slots=True)
class CaseThreads:
    """One case on one host."""

    comparison: Comparison
    case: Case
    run: Run
    boots: Sequence[BootThreads]


def threads_of(
    session: Session, experiment_id: int, *, case_id: int | None, host: str | None, most: int
) -> tuple[list[CaseThreads], int]:
    """The first *most* cases and hosts whose threads were to be told, and how many more there are.

    Of one case and host if they are given. Raises :class:`mitigauge.core.errors.NotFound`.
    """
    places = list(_places(session, experiment_id, case_id, host))
    found = [_of_place(session, *place) for place in places[:most]]
    return [one for one in found if one.boots], max(0, len(places) - most)


def counts_threads(case: Case) -> bool:
    """Whether results of the case tell of threads."""
    return any(metric.threads for metric in case.metrics.values())


def _places(
    session: Session, experiment_id: int, case_id: int | None, host: str | None
) -> Iterator[tuple[Comparison, Case, Run]]:
    runs = run_rows.runs_of(session, experiment_id)
    if case_id is not None:
        case, comparison = experiment_rows.case(session, experiment_id, case_id)
        if host is not None:
            run_on(runs, comparison.id, host)
        cases = {comparison.id: [case]}
    else:
        experiment = experiment_rows.experiment(session, experiment_id)
        cases = {comparison.id: comparison.cases for comparison in experiment.comparisons}
    for run in runs:
        if host in (None, run.host.name):
            for case in filter(counts_threads, cases.get(run.comparison_id, [])):
                yield run.comparison, case, run


def _of_place(session: Session, comparison: Comparison, case: Case, run: Run) -> CaseThreads:
    boots = {boot.id: boot for boot in run_rows.effective_lines(session, [run.id])}
    told = result_rows.thread_tables_of(session, boots, case.id)
    return CaseThreads(
        comparison, case, run,
        [BootThreads(boots[one.boot_id].arm_id, boots[one.boot_id].block, one) for one in told],
    )  # fmt: skip
