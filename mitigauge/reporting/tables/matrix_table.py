"""The matrix, cases × arms, as a table. Pure but for its read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.cells import MOST_REBASED
from mitigauge.core.clock import Clock
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
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
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.terms import FALSE_DISCOVERY_RATE
from mitigauge.reporting.pages.experiments import show_experiment, show_rebased
from mitigauge.reporting.pages.schemas import (
    ArmView,
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
        notes=list(_notes(view, has_sections=bool(sections))),
        sections=sections,
    )


def _notes(view: ExperimentView, *, has_sections: bool) -> Iterator[str]:
    if not has_sections:
        yield "No case has a value yet: `mitigauge worker` measures them."
    cells = (c for of in view.comparisons if of.is_rebased for row in of.rows for c in row.cells)
    if view.chosen_baseline and not any(cell.state == CellState.MEASURED for cell in cells):
        yield (
            f"Nothing is told against {view.chosen_baseline}. It is told once a run is over in "
            f"which its boots count, never of a factorial design or beyond {MOST_REBASED} cells; "
            f"`mitigauge experiment judge {view.id}` tells it of runs that an older release judged."
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
        meaning=MEANING + _chosen_afterwards(view, comparison),
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
        notes=list(_counts(view, arms, rows)) if comparison.is_rebased else [],
    )


def _chosen_afterwards(view: ExperimentView, comparison: ComparisonView) -> str:
    if not comparison.is_rebased:
        return ""
    return (
        f" {view.chosen_baseline} was chosen as the baseline afterwards, for the same boots: every "
        "change is exploratory. Better and worse go by q over all metrics, cases and arms against "
        f"it on this host: at most {FALSE_DISCOVERY_RATE:.0%} of those are expected to be false."
    )


def _counts(
    view: ExperimentView, arms: Sequence[ArmView], rows: Sequence[RowView]
) -> Iterator[TableNote]:
    """In how many cases each arm is better, worse or the same as a baseline that was chosen."""
    for arm in arms[1:]:
        verdicts = Counter(
            cell.verdict
            for row in rows
            if row.primary
            for cell in row.cells
            if cell.arm_id == arm.id and cell.verdict is not None
        )
        if total := verdicts.total():
            told = ", ".join(f"{verdicts[each]} {each.value}" for each in Verdict)
            yield TableNote(
                text=f"{told}: {counted(total, 'primary figure')}",
                label=f"{arm.name} against {view.chosen_baseline}",
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


def _read(session: Session, experiment_id: int, query: TableQuery) -> ExperimentView:
    if query.baseline is None:
        return show_experiment(session, experiment_id)
    return show_rebased(session, experiment_id, query.baseline)


KIND = Kind(
    "matrix",
    "Every case and metric over all arms.",
    ("case", "host", "metric", "baseline"),
    _read,
    matrix_table,
    lambda view, _: (MATRIX_COLUMNS, matrix_rows(view)),
)
