"""Lines of a CSV file as programs and spreadsheets write them, whatever divides their fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from mitigauge.core.errors import InvalidInput

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# How a spreadsheet is told the separator in a line before the first.
_SAID = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


@dataclass(slots=True)
class CsvRows:
    """The fields of a file's first line, and of those below it with the numbers of their lines."""

    name: str
    separator: str
    header: list[str]
    header_line: int
    below: Iterator[tuple[int, list[str]]] = field(repr=False)


def read_rows(lines: Iterable[str], *, name: str, wanted: Collection[str]) -> CsvRows:
    """The rows of *lines*, without those that are empty.

    The separator is the one that a line ``sep=`` says, else the one by which the first line has
    most of the columns *wanted*. Raises InvalidInput for what is no CSV, also while rows are read.
    """
    given = iter(lines)
    number, said, first = 0, "", ""
    for line in given:
        number += 1
        first = line.removeprefix(BOM) if number == 1 else line
        found = _SAID.fullmatch(first)
        if found:
            said = found[1]
        elif first.strip(" \t\r\n,;|"):
            break
    else:
        first = ""
    separator = said or _separator(first, wanted)
    if separator not in SEPARATORS:
        raise InvalidInput(
            f"{name}:1: its fields are divided by {separator!r}",
            hint=f"Divide them by {', '.join(SEPARATORS.values())}.",
        )
    rows = _rows(chain([first] if first else [], given), number - 1, name, separator)
    header_line, header = next(rows, (1, []))
    return CsvRows(name, separator, header, header_line, rows)


def _separator(line: str, wanted: Collection[str]) -> str:
    def known(separator: str) -> int:
        try:
            fields = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:
            return 0
        return len({each.strip().lower() for each in fields} & set(wanted))

    return max(SEPARATORS, key=known)


def _rows(
    lines: Iterable[str], before: int, name: str, separator: str
) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, strict=True, delimiter=separator)
    try:
        for row in reader:
            if any(each.strip() for each in row):
                yield before + reader.line_num, row
    except csv.Error as error:
        raise InvalidInput(
            f"{name}:{before + reader.line_num}: this is no CSV: {error}",
            hint=f"Divide fields by {SEPARATORS[separator]}, and put double quotes around text "
            "that has some.",
        ) from error


_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(slots=True)
class Numbers:
    """Numbers of one file, all with a decimal point, or all with a decimal comma."""

    separator: str
    mark: str = ""
    line: int = 0

    def read(self, text: str, line: int) -> float:
        """The number in a field. Raises ValueError that says why it is none."""
        if text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise ValueError(f"{text} is not finite")
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{text!r} is not a number")
        mark = "".join(set(text) & {".", ","})
        if mark == "," and self.separator == ",":
            raise ValueError(f"{text!r} is not a number: where commas divide fields, use a point")
        if mark and self.mark not in ("", mark):
            raise ValueError(
                f"{text!r} has a {_MARKS[mark]}, and line {self.line} a {_MARKS[self.mark]}"
            )
        if mark and not self.mark:
            self.mark, self.line = mark, line
        value = float(text.replace(",", "."))
        if value in (float("inf"), float("-inf")):
            raise ValueError(f"{text} is not finite")
        return value


_MARKS = {".": "decimal point", ",": "decimal comma"}


def without_names(header: Sequence[str]) -> set[int]:
    """Columns of which the first line has no name."""
    return {place for place, each in enumerate(header) if not each.strip()}
