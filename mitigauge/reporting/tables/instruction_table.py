"""A function's instructions in the baseline and in another arm as a table."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.instruction_table import instruction_table
from mitigauge.analysis.profiles.diff.schemas import InstructionRow, InstructionTable
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.core.documents.table import (
    Answer,
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
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.pages.profiles import case_sides, find_case
from mitigauge.reporting.tables.arm_cells import marks
from mitigauge.reporting.tables.kind import Kind, TableQuery

MOST_FUNCTIONS = 20


class ArmInstructions(BaseModel):
    """A function's instructions with the experiment that they are of."""

    experiment_id: int
    experiment: str
    state: str
    diff: InstructionTable


def arm_instruction_table(view: ArmInstructions, _: TableQuery) -> TableView:
    """One section a part of the function's code."""
    diff = view.diff
    where = [f"host {diff.host}", *marks(emulated=diff.emulated, counted=diff.counted)]
    return TableView(
        table="instructions",
        title=f"{view.experiment} ({view.state}): instructions of {diff.function or diff.title}",
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state=view.state,
        emulated=diff.emulated,
        counted=diff.counted,
        notes=list(_notes(diff)),
        sections=[
            TableSection(
                title=", ".join([part.name_b or part.name_a, diff.title, *where]),
                meaning=f"{diff.event}, {diff.unit}. {diff.skid}",
                emulated=diff.emulated,
                counted=diff.counted,
                tables=[_table(diff, part.rows)],
            )
            for part in diff.parts
        ],
    )


def _notes(diff: InstructionTable) -> list[str]:
    if not diff.why_none:
        return []
    known = ", ".join(diff.functions[:MOST_FUNCTIONS])
    return [diff.why_none, *([f"With instructions: {known}."] if known else [])]


def _table(diff: InstructionTable, rows: list[InstructionRow]) -> DataTable:
    return DataTable(
        columns=[
            TableColumn(key="a", title=diff.a, kind="quantity"),
            TableColumn(key="b", title=diff.b, kind="quantity"),
            TableColumn(key="difference", title="difference", kind="answer"),
            TableColumn(key="mark", title=""),
            TableColumn(key="text_a", title=f"in {diff.a}"),
            TableColumn(key="text_b", title=f"in {diff.b}"),
        ],
        rows=[_cells(row) for row in rows if row.samples_a or row.samples_b or row.mark],
    )


def _cells(row: InstructionRow) -> list[Cell]:
    effect = None
    if row.difference is not None:
        effect = Effect(value=row.difference, low=row.low, high=row.high, q=row.q, unit="")
    return [
        Quantity(value=row.a),
        Quantity(value=row.b),
        Answer(state=CellState.MEASURED, effect=effect),
        TextCell(text=row.mark),
        TextCell(text="" if row.place_a is None else f"+{row.place_a:x} {row.text_a}"),
        TextCell(text="" if row.place_b is None else f"+{row.place_b:x} {row.text_b}"),
    ]


def _read(session: Session, experiment_id: int, query: TableQuery) -> ArmInstructions:
    if query.case is None or query.arm is None:
        raise InvalidInput(
            "instructions are of one case and arm", hint="Name both: `--case NUMBER --arm NAME`."
        )
    head = show_head(session, experiment_id)
    case_id, host = find_case(session, experiment_id, str(query.case), query.host or "")
    baseline = next(
        (
            arm.name
            for comparison in head.comparisons
            for arm in comparison.arms
            if arm.is_baseline and any(each.name == query.arm for each in comparison.arms)
        ),
        query.arm,
    )
    sides = case_sides(
        session,
        Selection(experiment_id, case_id, host, baseline),
        Selection(experiment_id, case_id, host, query.arm),
        system="host",
    )
    return ArmInstructions(
        experiment_id=head.id,
        experiment=head.name,
        state=head.state.value,
        diff=instruction_table(session, sides, function=query.function or "", basis=None),
    )


KIND = Kind(
    "instructions",
    "A function's instructions in the baseline and in an arm, side by side.",
    ("case", "host", "arm", "function"),
    _read,
    arm_instruction_table,
)
