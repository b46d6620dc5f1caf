"""What was collected beside one case on one host, arms over one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.core.natural_order import natural_order
from mitigauge.measurement.collectors import reasons, repository
from mitigauge.measurement.collectors.figures import FIGURES, NS, Figure, binned
from mitigauge.measurement.collectors.repository import CollectorSummary
from mitigauge.measurement.collectors.samples import Samples, unpacked
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.pages.case import run_on
from mitigauge.reporting.pages.sample_schemas import (
    Absent,
    CollectedChart,
    CollectedLine,
    CollectedView,
    ReasonRow,
    ReasonTable,
)

Doubles = NDArray[np.float64]
# Points along a chart: as many as can be told apart on a page.
MOST_BINS = 160
MOST_REASONS = 20


@dataclass(frozen=True, slots=True)
class _OfArm:
    """One collector's series of one arm's boots, with their means of each figure."""

    arm: Arm
    series: Sequence[Samples]
    told: Sequence[CollectorSummary]


def show_collected(
    session: Session, experiment_id: int, case_id: int, host: str | None
) -> CollectedView:
    """What was collected beside a case; the first host when none is named.

    Raises :class:`mitigauge.core.errors.NotFound` for a case, or a host, that the experiment lacks.
    """
    case, comparison = experiment_rows.case(session, experiment_id, case_id)
    run = run_on(run_rows.runs_of(session, experiment_id), comparison.id, host)
    arm_of = {boot.id: boot.arm_id for boot in run_rows.effective_lines(session, [run.id])}
    told = repository.told_of(session, arm_of, [case.id])
    by_collector = _series(session, arm_of, case.id)
    return CollectedView(
        experiment_id=experiment_id,
        case_id=case.id,
        host=run.host.name,
        emulated=run.host.emulated,
        clock=run.clock,
        boots=len({one.boot_id for one in told}),
        cost_percent=max((one.cost_percent for one in told if not one.absent), default=None),
        charts=[
            chart
            for collector, found in sorted(by_collector.items(), key=lambda of: _place(of[0]))
            for chart in _charts(
                collector, _of_arms(comparison.arms, arm_of, collector, found, told)
            )
        ],
        reasons=list(_reason_tables(comparison.arms, arm_of, told)),
        absent=_absent(told),
    )


def _place(collector: str) -> int:
    """Charts come in the order in which collectors are declared."""
    return list(FIGURES).index(collector) if collector in FIGURES else len(FIGURES)


def _series(
    session: Session, boots: Mapping[int, int], case_id: int
) -> dict[str, dict[int, Samples]]:
    """Collector → boot → its series; one that is damaged is left out."""
    found: dict[str, dict[int, Samples]] = defaultdict(dict)
    for row in repository.samples_of(session, boots, case_id):
        with suppress(ValueError):
            found[row.collector][row.boot_id] = unpacked(row.data)
    return found


def _of_arms(
    arms: Sequence[Arm],
    arm_of: Mapping[int, int],
    collector: str,
    found: Mapping[int, Samples],
    told: Sequence[CollectorSummary],
) -> list[_OfArm]:
    return [
        _OfArm(
            arm,
            [series for boot, series in found.items() if arm_of[boot] == arm.id],
            [
                one
                for one in told
                if one.collector == collector and arm_of[one.boot_id] == arm.id and not one.absent
            ],
        )
        for arm in arms
    ]


def _charts(collector: str, arms: Sequence[_OfArm]) -> Iterator[CollectedChart]:
    lasted = [(s.times_ns[-1] - s.times_ns[0]) / NS for of in arms for s in of.series]
    if not lasted:
        return
    samples = max(len(s.times_ns) for of in arms for s in of.series)
    edges = np.linspace(0.0, float(np.median(lasted)), min(samples, MOST_BINS + 1))
    for figure in FIGURES.get(collector, ()):
        lines = [line for of in arms if (line := _line(of, figure, edges))]
        if lines and (figure.common or any(v for line in lines for v in line.values)):
            yield CollectedChart(
                collector=collector,
                figure=figure.name,
                title=figure.title,
                unit=figure.unit,
                seconds=[round(float(s), 3) for s in (edges[1:] + edges[:-1]) / 2],
                lines=lines,
            )


def _line(of: _OfArm, figure: Figure, edges: Doubles) -> CollectedLine | None:
    rows = [binned(series, figure, edges + series.times_ns[0] / NS) for series in of.series]
    known = [row for row in rows if row is not None]
    if not known:
        return None
    table = np.array(known)
    sampled = ~np.isnan(table)
    counted = sampled.sum(axis=0)
    total = np.where(sampled, table, 0.0).sum(axis=0)
    means = [one.means[figure.name] for one in of.told if figure.name in one.means]
    return CollectedLine(
        arm_id=of.arm.id,
        arm=of.arm.name,
        boots=len(known),
        mean=float(np.mean(means)) if means else None,
        values=_rounded(
            np.divide(total, counted, out=np.full(total.shape, np.nan), where=counted > 0)
        ),
        low=_rounded(np.where(counted > 0, np.where(sampled, table, np.inf).min(axis=0), np.nan)),
        high=_rounded(np.where(counted > 0, np.where(sampled, table, -np.inf).max(axis=0), np.nan)),
    )


def _rounded(values: Doubles) -> list[float | None]:
    """Six digits of each are more than a chart shows."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]


def _reason_tables(
    arms: Sequence[Arm], arm_of: Mapping[int, int], told: Sequence[CollectorSummary]
) -> Iterator[ReasonTable]:
    exits = [one for one in told if one.collector == "exits" and not one.absent]
    every = [one for one in told if one.collector == "exit-reasons" and not one.absent]
    on_amd = any(one.means.get("svm") for one in every)
    names = reasons.SVM if on_amd else reasons.VMX
    for title, source, rows, prefix, titles in (
        ("Exits to user space by reason", "tracepoint kvm:kvm_userspace_exit", exits,
         "userspace.", reasons.TO_USERSPACE),
        ("Exits by the processor's reason", "tracepoint kvm:kvm_exit", every, "exit.", names),
    ):  # fmt: skip
        found = _by_reason(arms, arm_of, rows, prefix)
        yield from _table(
            title, source, arms, {reasons.title(n, titles): v for n, v in found.items()}
        )
    counters = _by_reason(arms, arm_of, exits, "")
    known = {title: counters[name] for name, title in reasons.COUNTERS.items() if name in counters}
    yield from _table("Exits by reason", "KVM's own counters", arms, known)


def _by_reason(
    arms: Sequence[Arm], arm_of: Mapping[int, int], told: Sequence[CollectorSummary], prefix: str
) -> dict[str, list[float | None]]:
    """Reason → increase a second of each arm, the mean of its boots."""
    of_arm = {arm.id: [one for one in told if arm_of[one.boot_id] == arm.id] for arm in arms}
    names = {n for one in told for n in one.rates if n.startswith(prefix)}
    return {
        name.removeprefix(prefix): [
            float(np.mean([one.rates.get(name, 0.0) for one in of_arm[arm.id]]))
            if of_arm[arm.id]
            else None
            for arm in arms
        ]
        for name in sorted(names, key=natural_order)
    }


def _table(
    title: str, source: str, arms: Sequence[Arm], found: Mapping[str, list[float | None]]
) -> Iterator[ReasonTable]:
    rows = [
        ReasonRow(reason=reason, per_second=values)
        for reason, values in found.items()
        if any(value for value in values)
    ]
    rows.sort(key=lambda row: -max(value or 0.0 for value in row.per_second))
    if rows:
        yield ReasonTable(
            title=title, source=source, arms=[arm.name for arm in arms], rows=rows[:MOST_REASONS]
        )


def _absent(told: Sequence[CollectorSummary]) -> list[Absent]:
    """Collectors that have nothing in any boot, each with the reason of the first."""
    there = {one.collector for one in told if not one.absent}
    found = {one.collector: one.absent for one in reversed(told) if one.collector not in there}
    return [
        Absent(collector=name, reason=reason)
        for name, reason in sorted(found.items(), key=lambda of: natural_order(of[0]))
    ]
