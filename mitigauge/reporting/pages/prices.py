"""Boots of a host of one's own beside exact counts of the same arms on a lab host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product

from sqlalchemy.orm import Session

from mitigauge.analysis.prices.definitions import INSTRUCTION
from mitigauge.analysis.prices.levels import ArmLevel, CaseLevels
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.analysis.profiles.exact.repository import CaseInArm, counts_of_runs
from mitigauge.analysis.profiles.exact.stored_counts import Bill, bills_of
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run

NS_OF = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}

Place = tuple[str, str]
"""A case by its workload and title: loops and seconds may differ between hosts."""


def levels_of(
    session: Session, measured: int, counted: int, *, host: str | None = None
) -> list[CaseLevels]:
    """The cases and arms that experiment *measured* timed and experiment *counted* counted.

    Arms belong together where their modes have one name. *host*: of the first; None: its only one.
    Raises :class:`InvalidInput` where nothing is in both, and NotFound.
    """
    bills = dict(_bills(session, counted))
    found = [
        levels for run in _runs(session, measured, host) for levels in _of_run(session, run, bills)
    ]
    if not found:
        raise InvalidInput(
            f"no case of experiment {measured} in two arms that experiment {counted} counted",
            hint="Both need cases of one name in modes of one name; the second one a lab host "
            "with exact counts (docs/exact.md), the first one primary metrics in ns to s.",
        )
    return found


def _runs(session: Session, experiment_id: int, host: str | None) -> list[Run]:
    experiment_rows.experiment(session, experiment_id)
    runs = run_rows.runs_of(session, experiment_id)
    names = list(dict.fromkeys(run.host.name for run in runs))
    if host is None and len(names) > 1:
        raise InvalidInput(
            f"experiment {experiment_id} ran on {', '.join(names)}", hint="Say which: --host."
        )
    return [run for run in runs if host in (None, run.host.name)]


def _of_run(
    session: Session,
    run: Run,
    bills: Mapping[tuple[Place, str], Mapping[str, float]],
) -> Iterator[CaseLevels]:
    boots = {line.id: line.arm_id for line in run_rows.effective_lines(session, [run.id])}
    values: dict[tuple[int, str, int], list[float]] = defaultdict(list)
    for mean in result_rows.means_of(session, boots):
        values[mean.case_id, mean.metric, boots[mean.boot_id]].append(mean.mean)
    arms = sorted(run.comparison.arms, key=lambda arm: not arm.is_baseline)
    for case in run.comparison.cases:
        metric, scale = _time_of(case)
        levels = [
            ArmLevel(
                arm.name,
                bills[_place(case), arm.full_mode],
                [value * scale for value in values[case.id, metric, arm.id]],
            )
            for arm in arms
            if (case.id, metric, arm.id) in values and (_place(case), arm.full_mode) in bills
        ]
        if len(levels) > 1:
            yield CaseLevels(case.title, levels)


def _time_of(case: Case) -> tuple[str, float]:
    """The case's first primary time, and how many ns its unit is; no name where it has none."""
    for name, declared in case.metrics.items():
        if declared.primary and declared.unit in NS_OF and declared.direction == "lower":
            return name, NS_OF[declared.unit]
    return "", 0.0


def _place(case: Case) -> Place:
    return case.workload, case.title


def _bills(
    session: Session, experiment_id: int
) -> Iterator[tuple[tuple[Place, str], Mapping[str, float]]]:
    """Events and instructions an operation of each case and mode that was counted."""
    experiment_rows.experiment(session, experiment_id)
    runs = run_rows.runs_of(session, experiment_id)
    counts = counts_of_runs(session, [run.id for run in runs])
    bills = bills_of(session, counts, price_list().events)
    for run in runs:
        for case, arm in product(run.comparison.cases, run.comparison.arms):
            bill = bills.get(CaseInArm(run.id, case.id, arm.id))
            if bill is not None:
                yield (_place(case), arm.full_mode), _times(bill)


def _times(bill: Bill) -> dict[str, float]:
    return {
        INSTRUCTION: float(bill.steady),
        **{name: entry.times for name, entry in bill.entries.items() if entry.times},
    }
