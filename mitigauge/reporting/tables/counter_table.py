"""Counters over arms as a table, and as rows for CSV. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.table import (
    DECIDED,
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState
from mitigauge.reporting.tables.arm_cells import (
    arm_columns,
    claim_figure,
    claims_text,
    effect_of,
    experiment_tables,
    place_section,
)
from mitigauge.reporting.tables.counter_schemas import (
    CounterCell,
    CounterRow,
    CountersView,
    CounterTable,
)

NOTHING_COUNTED = (
    'No case of this experiment counts. Give a case of `syscall` the parameter `counters: "yes"`; '
    "experiments/bhb-loop-variants.yml is an example."
)
MEANING = "Change against the baseline in percent of it, with its 95 % interval; exploratory."
COUNTER_COLUMNS = (
    *("case", "host", "host_class", "processor", "emulated", "metric", "unit", "arm", "mode"),
    *("kernel", "baseline", "state", "n", "mean", "change_percent", "low_percent"),
    *("high_percent", "bound", "verdict", "claims"),
)


def counter_table(view: CountersView) -> TableView:
    """The experiment's counters, a section for each case and host."""
    return experiment_tables(
        "counters",
        "counters",
        view,
        [_section(view, table) for table in view.tables],
        notes=_missing(view),
    )


def _missing(view: CountersView) -> Iterator[str]:
    if not view.tables and not view.left_out:
        yield NOTHING_COUNTED
    elif view.left_out:
        more = counted(view.left_out, "more table")
        yield (
            f"{more} not shown: name a case "
            "(`mitigauge experiment table ID counters --case NUMBER`)."
        )


def _section(view: CountersView, table: CounterTable) -> TableSection:
    absent = f"{', '.join(table.absent)}: this host does not count them"
    columns = [TableColumn(key="counter", title="counter"), *arm_columns(table.arms, DECIDED)]
    rows: list[list[Cell]] = [
        [_name(row), *(_answer(cell, row) for cell in _in_order(table, row))] for row in table.rows
    ]
    return place_section(
        "Counters",
        view.experiment_id,
        table,
        MEANING,
        DataTable(columns=columns, rows=rows),
        [TableNote(text=absent, label="Absent")] if table.absent else [],
    )


def _name(row: CounterRow) -> TextCell:
    return TextCell(text=row.metric, title=f"{row.title} ({row.unit})")


def _in_order(table: CounterTable, row: CounterRow) -> Iterator[CounterCell | None]:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    return (by_arm.get(arm.arm_id) for arm in table.arms)


def _answer(cell: CounterCell | None, row: CounterRow) -> Answer:
    if cell is None:
        return Answer(state=CellState.NO_DATA)
    # The unit of a counter is its name; a time needs its own.
    unit = "" if row.is_counter else row.unit
    return Answer(
        state=cell.state,
        n=cell.n,
        value=None if cell.mean is None else Quantity(value=cell.mean, unit=unit),
        effect=effect_of(
            cell.change_percent,
            cell.low_percent,
            cell.high_percent,
            n=cell.n,
            verdict=cell.verdict,
            bound=cell.bound,
            note=cell.note,
        ),
        claims=[claim_figure(claim, claim.source) for claim in cell.claims],
        note=cell.note,
    )


def counter_rows(view: CountersView) -> Iterator[Mapping[str, Any]]:
    """A row for each counter and arm, with :data:`COUNTER_COLUMNS`."""
    for table in view.tables:
        arms = {arm.arm_id: arm for arm in table.arms}
        for row in table.rows:
            for cell in row.cells:
                arm = arms[cell.arm_id]
                yield {
                    "case": table.case,
                    "host": table.host,
                    "host_class": table.host_class,
                    "processor": table.processor,
                    "emulated": table.emulated,
                    "metric": row.metric,
                    "unit": row.unit,
                    "arm": arm.name,
                    "mode": arm.mode,
                    "kernel": arm.kernel,
                    "baseline": arm.is_baseline,
                    "state": cell.state,
                    "n": cell.n,
                    "mean": cell.mean,
                    "change_percent": cell.change_percent,
                    "low_percent": cell.low_percent,
                    "high_percent": cell.high_percent,
                    "bound": cell.bound.value,
                    "verdict": cell.verdict.value if cell.verdict else "",
                    "claims": claims_text(cell.claims),
                }
