"""The matrix, cases × arms, as a table. Pure but for its read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mitigauge.core.clock import Clock
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    DECIDED,
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.pages.schemas import (
    CellView,
    ComparisonView,
    ExperimentView,
    HostFacts,
    RowView,
)
from mitigauge.reporting.tables.arm_cells import arm_columns, marks
from mitigauge.reporting.tables.counter_schemas import CounterArm
from mitigauge.reporting.tables.downloads import MATRIX_COLUMNS, matrix_rows
from mitigauge.reporting.tables.kind import Kind, TableQuery

MEANING = (
    "Change against the baseline in percent of it, with its 95 % interval and n boots that count."
)


def matrix_table(view: ExperimentView, query: TableQuery) -> TableView:
    """Every primary and secondary metric, a section for each host and comparison."""
    sections = [
        _section(view, comparison, list(rows))
        for comparison in view.comparisons
        for _, rows in groupby(
            (row for row in comparison.rows if not row.counter and is_asked(row, query)),
            key=lambda row: row.host,
        )
    ]
    return TableView(
        table="matrix",
        title=f"{view.name} ({view.state.value}): matrix",
        experiment_id=view.id,
        experiment=view.name,
        state=view.state.value,
        emulated=view.emulated,
        counted=view.counted,
        notes=[] if sections else ["No case has a value yet: `mitigauge worker` measures them."],
        sections=sections,
    )


def is_asked(row: RowView, query: TableQuery) -> bool:
    """Whether a row of the matrix is of the case, host and metric that are asked for."""
    return (
        query.case in (None, row.case_id)
        and query.host in (None, row.host)
        and query.metric in (None, row.metric)
    )


def _section(
    view: ExperimentView, comparison: ComparisonView, rows: Sequence[RowView]
) -> TableSection:
    host = rows[0].host
    facts = view.host_facts.get(host) or HostFacts(name=host)
    emulated, counted = facts.emulated, facts.clock is Clock.COUNTED
    arms = sorted(comparison.arms, key=lambda arm: not arm.is_baseline)
    described = [facts.host_class, facts.processor, f"host {host}"]
    return TableSection(
        title=", ".join(
            [
                f"{comparison.name}, {comparison.family_title}",
                *filter(None, described),
                *marks(emulated=emulated, counted=counted),
            ]
        ),
        meaning=MEANING,
        emulated=emulated,
        counted=counted,
        tables=[
            DataTable(
                columns=[
                    TableColumn(key="case", title="case"),
                    TableColumn(key="metric", title="metric"),
                    *arm_columns(map(CounterArm.of, arms), DECIDED),
                ],
                rows=[list(_cells(view, row, [arm.id for arm in arms])) for row in rows],
            )
        ],
    )


def _cells(view: ExperimentView, row: RowView, arms: Sequence[int]) -> Iterator[Cell]:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    yield TextCell(text=row.case, href=case_path(view.id, row.case_id, row.host))
    yield TextCell(text=row.metric, title=row.metric_title, mark="" if row.primary else "secondary")
    for arm in arms:
        yield answer_of(by_arm.get(arm), row.unit)


def answer_of(cell: CellView | None, unit: str) -> Answer:
    """A cell of the matrix as a table holds it."""
    if cell is None:
        return Answer(state=CellState.NO_DATA)
    return Answer(
        state=cell.state,
        n=cell.n,
        value=None if cell.mean is None else Quantity(value=cell.mean, unit=unit),
        effect=cell.effect,
        note=cell.note,
    )


KIND = Kind(
    "matrix",
    "Every case and metric over all arms.",
    ("case", "host", "metric"),
    lambda session, experiment_id, _: show_experiment(session, experiment_id),
    matrix_table,
    lambda view, _: (MATRIX_COLUMNS, matrix_rows(view)),
)
