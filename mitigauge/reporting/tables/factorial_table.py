"""What each knob of a factorial design costs, as tables and as rows for CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableChoice,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.core.errors import NotFound
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.pages.factorial import factorial_cases
from mitigauge.reporting.tables.arm_cells import experiment_tables, marks
from mitigauge.reporting.tables.factorial import table_of
from mitigauge.reporting.tables.factorial_schemas import FactorialRow, FactorialTable, FactorialView
from mitigauge.reporting.tables.kind import Kind, TableQuery

NOTHING_FACTORIAL = (
    "No comparison of this experiment turns several knobs together. Give one `factorial: {knobs: "
    "{pti: [pti/off, pti/on], …}}`; experiments/mitigation-prices.yml is an example."
)
MEANING = (
    "Cost: change for the worse from low to high, on the average over the other knobs. The 95 % "
    "intervals hold jointly: all of one case with that probability."
)
# A page shows so many at a time; the others are asked for by case and host.
MOST_TABLES = 12
FACTORIAL_COLUMNS = (
    *("comparison", "host", "emulated", "case", "metric", "unit", "kind", "name", "modes"),
    *(
        "cost",
        "low",
        "high",
        "cost_percent",
        "low_percent",
        "high_percent",
        "bound",
        "base",
        "boots",
    ),
    *("planned", "df", "not_told_from"),
)


def read_factorial(session: Session, experiment_id: int, query: TableQuery) -> FactorialView:
    """The experiment's factorial designs. Raises :class:`NotFound`."""
    head = show_head(session, experiment_id)
    every = list(factorial_cases(session, experiment_id))
    asked = [
        each
        for each in every
        if query.case in (None, each.case.id) and query.host in (None, each.run.host.name)
    ]
    catalog = Catalog()
    tables = [table_of(each, catalog) for each in asked[:MOST_TABLES]]
    if not tables and (query.case, query.host) != (None, None):
        raise NotFound(
            f"experiment {experiment_id} has no factorial design of case {query.case or 'any'} on "
            f"host {query.host or 'any'}",
            hint="Leave both out to see which there are.",
        )
    return FactorialView(
        experiment_id=head.id,
        experiment=head.name,
        state=head.state.value,
        emulated=head.emulated,
        counted=head.counted,
        tables=tables,
        choices={each.case.id: each.case.title for each in every},
        left_out=len(every) - len(tables),
    )


def factorial_table(view: FactorialView) -> TableView:
    """A section for each comparison and host: all cases in percent, then each in its unit."""
    places = groupby(view.tables, key=lambda table: (table.comparison, table.host))
    sections = [_section(view, list(tables)) for _, tables in places]
    notes = [] if view.tables else [NOTHING_FACTORIAL]
    more = counted(view.left_out, "more table")
    return experiment_tables(
        "factorial",
        "what each knob costs",
        view,
        sections,
        notes=notes,
        choices=[
            TableChoice(title=title, query={"case": str(case)})
            for case, title in view.choices.items()
        ],
        more=f"{more} not shown: name a case (`--case NUMBER`)." if view.left_out else "",
    )


def _section(view: FactorialView, tables: list[FactorialTable]) -> TableSection:
    first = tables[0]
    where = [f"host {first.host}", *marks(emulated=first.emulated, counted=first.counted)]
    return TableSection(
        title=", ".join([f"What each knob of {first.comparison} costs", *where]),
        meaning=MEANING,
        emulated=first.emulated,
        counted=first.counted,
        tables=[
            *([_in_percent(view, tables)] if len(tables) > 1 else []),
            *(_in_units(view, table) for table in tables),
        ],
        notes=[TableNote(text=note) for note in _notes(first)],
    )


def _in_percent(view: FactorialView, tables: list[FactorialTable]) -> DataTable:
    """Every case beside the others; a knob's modes and pairs stand in the tables below."""
    alone = len({table.case_id for table in tables}) == len(tables)
    columns = [TableColumn(key="what", title="knob")]
    columns += [
        TableColumn(
            key=f"case-{table.case_id}-{table.metric}",
            title=table.case if alone else _of_case(table),
            kind="answer",
            parts=("change", "interval"),
        )
        for table in tables
    ]
    rows: list[list[Cell]] = [
        [
            TextCell(text=row.name, title=f"{row.name}: {row.help}"),
            *(_percent(view, table, table.rows[i]) for table in tables),
        ]
        for i, row in enumerate(tables[0].rows)
    ]
    return DataTable(caption="All cases, in percent of none", columns=columns, rows=rows)


def _in_units(view: FactorialView, table: FactorialTable) -> DataTable:
    rows: list[list[Cell]] = [
        [
            TextCell(text=row.name, title=f"{row.name}: {row.help}"),
            _cost(table, row),
            _percent(view, table, row),
        ]
        for row in table.rows
    ]
    return DataTable(
        caption=_caption(table),
        columns=[
            TableColumn(key="what", title="knob"),
            TableColumn(key="cost", title="cost", kind="quantity", with_interval=True),
            TableColumn(
                key="percent", title="of none", kind="answer", parts=("change", "interval")
            ),
        ],
        rows=rows,
        notes=[
            *([TableNote(text=_scatter(table))] if table.df else []),
            *(
                TableNote(text=f"{row.name} cannot be told from {', '.join(row.shared)}")
                for row in table.rows
                if row.shared
            ),
        ],
    )


def _cost(table: FactorialTable, row: FactorialRow) -> Quantity:
    """The cost with its interval, or what stands in its place."""
    if row.value is None:
        return Quantity(words="not told apart")
    if row.low is None:
        return Quantity(words=f"{units.humanise(row.value, table.unit)}, no error yet")
    if row.bound is not Bound.EXACT:
        told = [units.humanise(each, table.unit) for each in (row.value, row.low, row.high or 0.0)]
        return Quantity(words=f"{units.BOUND_WORDS[row.bound]}{told[0]} [{told[1]}, {told[2]}]")
    return Quantity(value=row.value, unit=table.unit, low=row.low, high=row.high)


def _scatter(table: FactorialTable) -> str:
    """How well the parts add up, over all arms."""
    rms = units.humanise(table.scatter, table.unit)
    off = units.humanise(abs(table.furthest_by), table.unit)
    side = "above" if table.furthest_by > 0 else "below"
    return (
        f"arms lie within {rms} of the sum of the parts (root mean square); furthest "
        f"{table.furthest}, {off} {side} it"
    )


def _caption(table: FactorialTable) -> str:
    """``getppid, time a call; none: 686 ns; 32 of 32 boots``."""
    base = "unknown" if table.base is None else units.humanise(table.base, table.unit)
    return f"{_of_case(table)}; none: {base}; {table.boots} of {table.planned} boots"


def _of_case(table: FactorialTable) -> str:
    return f"{table.case}, {table.metric_title}"


def _percent(view: FactorialView, table: FactorialTable, row: FactorialRow) -> Answer:
    path = f"{case_path(view.experiment_id, table.case_id, table.host)}&metric={table.metric}"
    if row.percent is None:
        return Answer(state=CellState.NO_DATA, note="not told apart by the boots that count")
    effect = Effect(
        value=row.percent, low=row.low_percent, high=row.high_percent, n=table.boots,
        bound=row.bound,
    )  # fmt: skip
    return Answer(state=CellState.MEASURED, n=table.boots, effect=effect, href=path)


def _notes(table: FactorialTable) -> Iterator[str]:
    for row in table.rows:
        if row.kind == "knob":
            yield f"{row.name}: {row.help}"
    yield (
        "A pair: what both cost beyond each alone. All together: every knob high against every "
        "knob low, as those boots measured it. Left unexplained: that without the knobs' sum; not "
        "told apart where knobs take every column of the design."
    )
    bounded = [row.name for row in table.rows if row.bound is not Bound.EXACT]
    if bounded:
        yield (
            f"Barriers and other events of the hardware are not counted here: {', '.join(bounded)} "
            "carry no more than the instructions."
        )
    for arm in table.not_effective:
        yield f"no boot counts of arm {arm}"


def factorial_rows(view: FactorialView) -> Iterator[Mapping[str, Any]]:
    """A row for each figure, with :data:`FACTORIAL_COLUMNS`."""
    for table in view.tables:
        for row in table.rows:
            yield {
                "comparison": table.comparison,
                "host": table.host,
                "emulated": table.emulated,
                "case": table.case,
                "metric": table.metric,
                "unit": table.unit,
                "kind": row.kind,
                "name": row.name,
                "modes": row.help if row.kind == "knob" else "",
                "cost": row.value,
                "low": row.low,
                "high": row.high,
                "cost_percent": row.percent,
                "low_percent": row.low_percent,
                "high_percent": row.high_percent,
                "bound": row.bound.value,
                "base": table.base,
                "boots": table.boots,
                "planned": table.planned,
                "df": table.df,
                "not_told_from": "; ".join(row.shared),
            }


KIND = Kind(
    "factorial",
    "Knobs that were turned together: what each costs, all of them, and what is left unexplained.",
    ("case", "host"),
    read_factorial,
    lambda view, _: factorial_table(view),
    lambda view, _: (FACTORIAL_COLUMNS, factorial_rows(view)),
    of_runs=True,
)
