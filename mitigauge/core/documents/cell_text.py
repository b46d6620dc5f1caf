"""Words of a table's cells, the same in plain text, Markdown and HTML. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mitigauge.core.documents import units
from mitigauge.core.documents.plain_text import neutralise
from mitigauge.core.documents.table import (
    Answer,
    Cell,
    DataTable,
    Part,
    Quantity,
    TableColumn,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect

SIGNIFICANT = 0.05
LONGEST_UNIT = 16
STATES = {CellState.NOT_EFFECTIVE: "not effective", CellState.NO_DATA: "not measured"}


def quantity_words(quantity: Quantity, *, with_interval: bool = False) -> str:
    """``4.21 ms``, ``4.21 [3.90, 4.53]``, ``≥ 4.5, 4 of 6 boots``, or what stands in its place."""
    if quantity.value is None:
        return quantity.words
    if quantity.whole and 100 <= quantity.value < 1e7:
        return f"{quantity.value:.0f}"
    value = units.humanise(quantity.value, neutralise(quantity.unit, LONGEST_UNIT))
    if quantity.at_least:
        return f"≥ {value}, {quantity.boots} of {quantity.of} boots"
    if not with_interval:
        return value
    if quantity.low is None or quantity.high is None:
        return f"{value} one boot"
    unit = neutralise(quantity.unit, LONGEST_UNIT)
    return units.humanise_interval(quantity.value, quantity.low, quantity.high, unit)


def value_words(cell: Cell) -> str:
    """An answer's value, or why there is none."""
    if not isinstance(cell, Answer) or cell.value is None or cell.value.value is None:
        is_off = isinstance(cell, Answer) and cell.state is CellState.NOT_EFFECTIVE
        return "not effective" if is_off else "absent"
    return quantity_words(cell.value)


def cell_words(column: TableColumn, cell: Cell) -> str:
    """A cell in one column of a text."""
    if isinstance(cell, TextCell):
        return f"{cell.text} ({cell.mark})" if cell.mark else cell.text
    if isinstance(cell, Quantity):
        return quantity_words(cell, with_interval=column.with_interval)
    return "" if cell.effect is None else units.effect(cell.effect)


def effect_words(effect: Effect) -> tuple[str, str]:
    """Change and interval; `*` where an exploratory effect is one, `≥` where it is a bound."""
    change, between = units.effect_parts(effect)
    change = f"{units.BOUND_SIGNS[effect.bound]}{change}"
    is_one = effect.verdict is None and effect.q is not None and effect.q <= SIGNIFICANT
    return f"{change}*" if is_one else change, between


def answer_parts(cell: Cell, parts: Sequence[Part]) -> list[str]:
    """The asked parts of an answer, each for a column of its own."""
    if not isinstance(cell, Answer):
        return [""] * len(parts)
    boots = str(cell.n) if cell.n else ""
    found: dict[Part, str] = {"change": "", "interval": "", "n": boots, "verdict": ""}
    if cell.effect is not None:
        found["change"], found["interval"] = effect_words(cell.effect)
        found["n"] = str(cell.n)
        found["verdict"] = cell.effect.verdict.value if cell.effect.verdict else "undecided"
    return [found[part] for part in parts]


def lone_parts(answer: Answer, parts: Sequence[Part]) -> list[str]:
    """The same where the baseline has a row of its own, and stands in no column."""
    if answer.state is CellState.BASELINE:
        value = "" if answer.value is None else quantity_words(answer.value)
        found = {"change": "baseline", "interval": value, "n": str(answer.n) if answer.n else ""}
        return [found.get(part, "") for part in parts]
    told = answer_parts(answer, parts)
    words = STATES.get(answer.state, "" if answer.effect else "undecided")
    return [
        words if part == "verdict" and words else word
        for part, word in zip(parts, told, strict=True)
    ]


def claims_words(cells: Iterable[Cell], label: str | None = None) -> str:
    """Published figures of these answers, of *label* alone if it is given."""
    return ", ".join(
        units.claimed(claim.low, claim.high)
        for cell in cells
        for claim in (cell.claims if isinstance(cell, Answer) else ())
        if label in (None, claim.label)
    )


def claim_labels(table: DataTable) -> list[str]:
    """What the claims of a table without arms are called, in their order."""
    return list(
        dict.fromkeys(
            claim.label
            for row in table.rows
            for cell in row
            for claim in (cell.claims if isinstance(cell, Answer) else ())
        )
    )
