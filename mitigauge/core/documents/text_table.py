"""A report's table in plain text, within a mail's width.

Three layouts are tried: every cell on one line; cells of two lines; and, where
the arms still do not fit beside one another, several tables below one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mitigauge.core.documents.parts import Cell, Line, Table
from mitigauge.core.documents.plain_text import neutralise, pad, unstructured, width, wrap

GAP = "  "
_LABEL_AT_LEAST = 18
_NAME_AT_MOST = 20

# The lines of one cell.
Lines = list[str]


@dataclass(frozen=True)
class _Column:
    head: Lines
    cells: list[Lines]
    right: bool = False

    # Asked for once for each cell of its table.
    @cached_property
    def columns(self) -> int:
        return max(width(line) for lines in (self.head, *self.cells) for line in lines)


def table_lines(table: Table, columns: int) -> Iterator[str]:
    """*table* without caption and notes, in lines of at most *columns*."""
    baseline = _baseline_column(table.lines, table.baseline)
    arms = [
        _one_line_column(name, [line.cells[place] for line in table.lines])
        for place, name in enumerate(table.arms)
    ]
    label = _label_width(table.lines)
    if label + _total([baseline, *arms]) <= columns:
        yield from _grid(table.lines, label, [_flat(baseline), *arms])
        return
    stacked = [
        _stacked_column(name, [line.cells[place] for line in table.lines])
        for place, name in enumerate(table.arms)
    ]
    for index, part in enumerate(_parts(stacked, columns - _LABEL_AT_LEAST - _total([baseline]))):
        if index:
            yield ""
        shown = [baseline, *part]
        yield from _grid(table.lines, min(label, columns - _total(shown)), shown)


def _parts(columns: Sequence[_Column], room: int) -> Iterator[list[_Column]]:
    part: list[_Column] = []
    for column in columns:
        if part and _total([*part, column]) > room:
            yield part
            part = []
        part.append(column)
    yield part


def _total(columns: Sequence[_Column]) -> int:
    return sum(len(GAP) + column.columns for column in columns)


def _label_width(lines: Sequence[Line]) -> int:
    return max(width(neutralise(line.label)) for line in lines)


def _baseline_column(lines: Sequence[Line], name: str) -> _Column:
    head = [*wrap(neutralise(name), _NAME_AT_MOST), "baseline"]
    return _Column(head, [_filled([line.baseline, line.baseline_n]) for line in lines], right=True)


def _flat(column: _Column) -> _Column:
    """The baseline's column where the other cells have one line: n stands beside the value."""
    return _Column(column.head, [[cell[0]] for cell in column.cells], right=True)


def _one_line_column(name: str, cells: Sequence[Cell]) -> _Column:
    wide = [_parts_of(cell) for cell in cells]
    widths = [max(width(row[place]) for row in wide) for place in range(3)]
    texts = []
    for row in wide:
        start = [pad(row[0], widths[0], right=True), pad(row[1], widths[1]), pad(row[2], widths[2])]
        shown = [text for text, columns in zip(start, widths, strict=True) if columns]
        texts.append(" ".join([*shown, *row[3:]]).rstrip())
    return _Column(wrap(neutralise(name), _NAME_AT_MOST), [[text] for text in texts])


def _parts_of(cell: Cell) -> list[str]:
    tail = [cell.verdict, cell.mde, _mark(cell)]
    return [cell.effect, cell.interval, cell.n, *(text for text in tail if text)]


def _stacked_column(name: str, cells: Sequence[Cell]) -> _Column:
    return _Column(wrap(neutralise(name), _NAME_AT_MOST), [_stack(cell) for cell in cells])


def _stack(cell: Cell) -> Lines:
    rows = [
        [cell.effect, cell.verdict, _mark(cell)],
        [cell.interval, cell.n],
        [cell.mde],
    ]
    return _filled([" ".join(text for text in row if text) for row in rows])


def _filled(lines: Lines) -> Lines:
    return [line for line in lines if line]


def _mark(cell: Cell) -> str:
    return f"({cell.note})" if cell.note else ""


def _grid(lines: Sequence[Line], label: int, columns: Sequence[_Column]) -> Iterator[str]:
    yield from _row([""], label, columns, [column.head for column in columns])
    rule = ["-" * column.columns for column in columns]
    yield from _row(["-" * label], label, columns, [[dashes] for dashes in rule])
    for index, line in enumerate(lines):
        yield from _row(
            _name(line.label, label), label, columns, [column.cells[index] for column in columns]
        )


def _name(text: str, columns: int) -> Lines:
    """A row's name within *columns*, the space before what looks like a mail's structure too."""
    lines = [unstructured(part) for part in wrap(neutralise(text), columns)]
    if max(map(width, lines)) <= columns:
        return lines
    return [unstructured(part) for part in wrap(neutralise(text), columns - 1)]


def _row(
    name: Lines, label: int, columns: Sequence[_Column], cells: Sequence[Lines]
) -> Iterator[str]:
    for place in range(max(len(name), *(len(cell) for cell in cells))):
        parts = [pad(_at(name, place), label)]
        for column, cell in zip(columns, cells, strict=True):
            parts.append(pad(_at(cell, place), column.columns, right=column.right))
        yield GAP.join(parts).rstrip()


def _at(lines: Lines, place: int) -> str:
    return lines[place] if place < len(lines) else ""
