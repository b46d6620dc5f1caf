"""The counter table: counters of one operation over the arms of a comparison. Pure.

A counter is a metric that its workload marks as one: the processor or the kernel counts it beside
the work, on hosts that have it. Its change and interval are those of the matrix, exploratory, and
so is its verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
from mitigauge.reporting.pages.schemas import (
    CellView,
    ComparisonView,
    ExperimentView,
    HostFacts,
    RowView,
)
from mitigauge.reporting.tables.claims_by_place import ClaimsByPlace, by_place
from mitigauge.reporting.tables.counter_schemas import (
    CounterArm,
    CounterCell,
    CounterClaim,
    CounterRow,
    CountersView,
    CounterTable,
)

# A page shows so many at a time; the others are asked for by case and host.
MOST_TABLES = 24


def has_counters(comparisons: Sequence[ComparisonView]) -> bool:
    """Whether any case was to be counted."""
    return any(row.counter for comparison in comparisons for row in comparison.rows)


def counters_of(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    *,
    case_id: int | None = None,
    host: str | None = None,
    most: int = MOST_TABLES,
) -> CountersView:
    """The experiment's counter tables, of *case_id* and *host* alone if they are given."""
    every = _questions(view.comparisons)
    asked = [
        (comparison, rows)
        for comparison, rows in every
        if case_id in (None, rows[0].case_id) and host in (None, rows[0].host)
    ]
    beside = by_place(claims)
    tables = [_table(view, *entry, beside) for entry in islice(asked, most)]
    return CountersView(
        experiment_id=view.id,
        experiment=view.name,
        state=view.state.value,
        emulated=view.emulated,
        counted=view.counted,
        tables=tables,
        left_out=len(every) - len(tables),
    )


def _questions(
    comparisons: Sequence[ComparisonView],
) -> list[tuple[ComparisonView, list[RowView]]]:
    """The rows of each case and host that was to be counted."""
    found: list[tuple[ComparisonView, list[RowView]]] = []
    for comparison in comparisons:
        grouped: dict[tuple[int, str], list[RowView]] = {}
        for row in comparison.rows:
            grouped.setdefault((row.case_id, row.host), []).append(row)
        found += [(comparison, of) for of in grouped.values() if any(r.counter for r in of)]
    return found


def _table(
    view: ExperimentView, comparison: ComparisonView, rows: Sequence[RowView], beside: ClaimsByPlace
) -> CounterTable:
    first = rows[0]
    facts = view.host_facts.get(first.host) or HostFacts(name=first.host)
    arms = sorted(comparison.arms, key=lambda arm: not arm.is_baseline)
    order = [arm.id for arm in arms]
    shown = [row for row in rows if (row.counter or row.primary) and _has_values(row)]
    return CounterTable(
        comparison=comparison.name,
        case_id=first.case_id,
        case=first.case,
        host=first.host,
        host_class=facts.host_class,
        processor=facts.processor,
        emulated=facts.emulated or (comparison.emulated and len(comparison.hosts) == 1),
        counted=facts.clock is Clock.COUNTED,
        arms=[CounterArm.of(arm) for arm in arms],
        rows=[_row(row, order, beside) for row in sorted(shown, key=lambda row: row.counter)],
        absent=[row.metric_title for row in rows if row.counter and not _has_values(row)],
    )


def _has_values(row: RowView) -> bool:
    return any(cell.mean is not None for cell in row.cells)


def _row(row: RowView, order: Sequence[int], beside: ClaimsByPlace) -> CounterRow:
    cells = sorted(row.cells, key=lambda cell: order.index(cell.arm_id))
    return CounterRow(
        metric=row.metric,
        title=row.metric_title,
        unit=row.unit,
        direction=row.direction,
        is_counter=row.counter,
        cells=[_cell(row, cell, beside) for cell in cells],
    )


def _cell(row: RowView, cell: CellView, beside: ClaimsByPlace) -> CounterCell:
    is_baseline = cell.state == CellState.BASELINE
    claims = beside.get((row.case_id, row.metric, row.host, cell.arm_id), [])
    return CounterCell(
        arm_id=cell.arm_id,
        state=cell.state,
        n=cell.n,
        mean=cell.mean,
        change_percent=None if is_baseline else cell.effect_percent,
        low_percent=None if is_baseline else cell.ci_low_percent,
        high_percent=None if is_baseline else cell.ci_high_percent,
        bound=cell.bound,
        verdict=cell.verdict,
        note=cell.note,
        claims=[
            CounterClaim(
                source=source.name,
                low_percent=claim.low_percent,
                high_percent=claim.high_percent,
                outcome=claim.outcome,
                reason=claim.reason,
            )
            for source, claim in claims
            # Of a processor that this one is not, it says nothing of the figure.
            if claim.outcome is not ClaimOutcome.OTHER_PROCESSOR
        ],
    )
