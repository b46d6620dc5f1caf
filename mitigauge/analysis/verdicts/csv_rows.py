"""Lines of a CSV file as programs and spreadsheets write them, whatever divides their fields."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
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


# Numbers as spreadsheets write them where a column shows thousands, and those that are smaller.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
_BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}", re.ASCII)


# Of one quantity; between boots of one case hardly anything differs as much.
_THOUSAND_LIKE = 100


@dataclass(slots=True)
class _Kind:
    """Numbers of a column that are written alike: the first one, and how large they are."""

    line: int = 0
    text: str = ""
    count: int = 0
    logs: float = 0.0

    def add(self, value: float, line: int, text: str) -> None:
        if not self.text:
            self.line, self.text = line, text
        if value:
            self.count += 1
            self.logs += math.log(abs(value))

    def mean_log(self) -> float:
        """Of the geometric mean; NaN where there is no number but 0."""
        return self.logs / self.count if self.count else math.nan


@dataclass(slots=True)
class _Column:
    marked: _Kind = field(default_factory=_Kind)
    other: _Kind = field(default_factory=_Kind)


@dataclass(slots=True)
class Numbers:
    """Numbers of one file, all with a decimal point, or all with a decimal comma.

    Where commas do not divide fields, either mark may stand for thousands: 1.003 and 997. Whatever
    divides them, it may where values so written are ``_THOUSAND_LIKE`` times smaller than the
    others of the column.
    """

    separator: str
    mark: str = ""
    line: int = 0
    is_decimal: bool = False
    """Whether some number cannot have a mark of thousands: 0.5, 1.25."""
    _marked: dict[object, tuple[int, str]] = field(default_factory=dict)
    _whole: dict[object, tuple[int, str]] = field(default_factory=dict)
    _columns: dict[object, _Column] = field(default_factory=lambda: defaultdict(_Column))

    def read(self, text: str, line: int, column: object = "") -> float:
        """The number in a field of *column*: numbers that are one quantity, written alike.

        Raises ValueError that says why it is none.
        """
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
        self._look_for_thousands(text, mark, line, column)
        of = self._columns[column]
        (of.marked if _THOUSANDS.fullmatch(text) else of.other).add(value, line, text)
        return value

    def why_in_doubt(self) -> str:
        """Which numbers may be thousands as well, with their lines; empty: none is in doubt."""
        for column in () if self.is_decimal else self._marked:
            if column in self._whole:
                (line, marked), (other, whole) = self._marked[column], self._whole[column]
                return (
                    f"line {line} has {marked} and line {other} has {whole}: three digits behind "
                    f"each {_MARKS[self.mark].split()[1]}, or none, as thousands are written: "
                    f"{_either(marked)}"
                )
        for of in self._columns.values():
            small, large = of.marked, of.other
            if large.mean_log() - small.mean_log() >= math.log(_THOUSAND_LIKE):
                return (
                    f"line {small.line} has {small.text} and line {large.line} has "
                    f"{large.text}: values with three digits behind the "
                    f"{_MARKS[self.mark].split()[1]} are over {_THOUSAND_LIKE} times smaller than "
                    f"the others: {_either(small.text)}"
                )
        return ""

    def like_thousands(self) -> str:
        """A number of a column in which each may be one of thousands as well; empty: none is."""
        if self.is_decimal:
            return ""
        return next((of.marked.text for of in self._columns.values() if not of.other.text), "")

    def _look_for_thousands(self, text: str, mark: str, line: int, column: object) -> None:
        if self.separator == ",":
            self.is_decimal = True
        elif _THOUSANDS.fullmatch(text):
            self._marked.setdefault(column, (line, text))
        elif mark or "e" in text.lower():
            self.is_decimal = True
        elif _BELOW_THOUSAND.fullmatch(text):
            self._whole.setdefault(column, (line, text))


def _either(marked: str) -> str:
    return f"is it {re.sub(r'[.,]', '', marked)} or {marked.replace(',', '.')}?"


_MARKS = {".": "decimal point", ",": "decimal comma"}


def without_names(header: Sequence[str]) -> set[int]:
    """Columns of which the first line has no name."""
    return {place for place, each in enumerate(header) if not each.strip()}
