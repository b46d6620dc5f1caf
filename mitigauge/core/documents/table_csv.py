"""Tables as rows for CSV: one for each answer, or for each row where there are none. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mitigauge.core.documents.cell_text import claims_words
from mitigauge.core.documents.csv_text import as_csv
from mitigauge.core.documents.table import (
    Answer,
    ArmHead,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableSection,
    TableView,
)


def table_csv(view: TableView) -> str:
    """The whole view; columns that only some tables have are empty in the others."""
    rows = [row for section in view.sections for row in _of_section(section)]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["table"]
    blank = dict.fromkeys(columns, "")
    return "".join(as_csv(columns, ({**blank, **row} for row in rows)))


def _of_section(section: TableSection) -> Iterator[Mapping[str, Any]]:
    for table in section.tables:
        of = {"table": section.title, "part": table.caption, "emulated": section.emulated}
        for row in table.rows:
            cells = list(zip(table.columns, row, strict=True))
            lead = {
                name: value
                for column, cell in cells
                if not isinstance(cell, Answer)
                for name, value in _plain(column, cell)
            }
            answers = [(column, cell) for column, cell in cells if isinstance(cell, Answer)]
            if not answers:
                yield {**of, **lead}
            for column, answer in answers:
                yield {**of, **lead, **_arm(column), **_answer(table, answer)}


def _plain(column: TableColumn, cell: Cell) -> Iterator[tuple[str, Any]]:
    if isinstance(cell, Quantity):
        yield column.key, cell.value
        yield f"{column.key}_unit", cell.unit
    elif not isinstance(cell, Answer):
        yield column.key, cell.text


def _arm(column: TableColumn) -> Mapping[str, Any]:
    arm = column.arm or ArmHead(id=0, name=column.key)
    return {"arm": arm.name, "mode": arm.mode, "kernel": arm.kernel, "baseline": arm.is_baseline}


def _answer(table: DataTable, answer: Answer) -> Mapping[str, Any]:
    effect, value = answer.effect, answer.value
    more = {key: found.value for key in table.more if (found := answer.more.get(key)) is not None}
    return {
        "state": answer.state.value,
        "n": answer.n,
        "value": value.value if value else None,
        "unit": value.unit if value else "",
        "effect": effect.value if effect else None,
        "effect_unit": effect.unit if effect else "",
        "low": effect.low if effect else None,
        "high": effect.high if effect else None,
        "bound": effect.bound.value if effect else "",
        "p": effect.p if effect else None,
        "q": effect.q if effect else None,
        "verdict": effect.verdict.value if effect and effect.verdict else "",
        "mde": effect.mde if effect else None,
        **more,
        "claims": claims_words([answer]),
    }
