"""A case's functions over all its arms as a table."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    Answer,
    ArmHead,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.pages.function_schemas import FunctionCost, FunctionsView
from mitigauge.reporting.pages.profile_functions import FunctionQuery, functions_view
from mitigauge.reporting.pages.profiles import find_case
from mitigauge.reporting.tables.arm_cells import marks
from mitigauge.reporting.tables.kind import Kind, TableQuery

MEANING = (
    "Cost of each function itself, in {unit}, and its difference from the baseline with its 95 % "
    "interval over boots; `*`: q is at most 0.05 over all functions and arms."
)


def function_table(view: FunctionsView, _: TableQuery) -> TableView:
    """The functions that differ most, a column for each arm."""
    marked = marks(emulated=view.emulated, counted=view.counted)
    left = view.found - len(view.functions)
    section = TableSection(
        title=", ".join([f"Functions of {view.case}", f"host {view.host}", view.event, *marked]),
        meaning=MEANING.format(unit=view.unit),
        href=case_path(view.experiment_id, view.case_id, view.host),
        emulated=view.emulated,
        counted=view.counted,
        tables=[
            DataTable(
                columns=[
                    TableColumn(key="function", title="function"),
                    *(
                        TableColumn(
                            key=f"arm-{arm.arm_id}",
                            title=arm.arm,
                            kind="answer",
                            arm=ArmHead(id=arm.arm_id, name=arm.arm, is_baseline=arm.is_baseline),
                            parts=("change", "interval"),
                        )
                        for arm in view.arms
                    ),
                ],
                rows=[
                    [
                        TextCell(text=row.function),
                        *(_answer(cell, view, place) for place, cell in enumerate(row.cells)),
                    ]
                    for row in view.functions
                ],
            )
        ],
    )
    return TableView(
        table="functions",
        title=f"{view.experiment}: functions of {view.case} on {view.host}",
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state="",
        emulated=view.emulated,
        counted=view.counted,
        notes=[] if view.functions else ["No profile of this case is stored: set `profile: true`."],
        sections=[section] if view.functions else [],
        more=f"{counted(left, 'more function')} not shown." if left > 0 else "",
    )


def _answer(cell: FunctionCost | None, view: FunctionsView, place: int) -> Cell:
    if cell is None:
        return Answer(state=CellState.NO_DATA)
    effect = None
    if cell.difference is not None:
        effect = Effect(value=cell.difference, low=cell.low, high=cell.high, q=cell.q, unit="")
    return Answer(
        state=CellState.MEASURED if place else CellState.BASELINE,
        n=view.arms[place].profiles,
        value=Quantity(value=cell.own),
        effect=effect,
    )


def _read(session: Session, experiment_id: int, query: TableQuery) -> FunctionsView:
    if query.case is None:
        raise InvalidInput(
            "functions are of one case",
            hint="Name it: `--case NUMBER`, which the case's page and the matrix as JSON have.",
        )
    case_id, host = find_case(session, experiment_id, str(query.case), query.host or "")
    asked = FunctionQuery(search=query.function or "", arm=query.arm or "")
    return functions_view(
        session,
        experiment_id=experiment_id,
        case_id=case_id,
        host=host,
        system="host",
        asked=asked,
    )


KIND = Kind(
    "functions",
    "Functions of a profiled case over all arms, those that differ most first.",
    ("case", "host", "function", "arm"),
    _read,
    function_table,
)
