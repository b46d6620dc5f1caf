"""Anyone's measurements as CSV: one line an iteration, read whole or not at all.

Columns, in any order: ``case, metric, unit, direction, host, block, arm, boot,
iteration, value``. ``arm`` and ``value`` must be there, and ``block`` or ``boot``:
without either nothing says which values belong to one boot. What else is missing
or empty is filled in as ``DEFAULTS`` says. Labels are ordered as people count.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mitigauge.analysis.verdicts.csv_rows import BOM, SEPARATORS, Numbers, read_rows, without_names
from mitigauge.core.errors import InvalidInput
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.domain import Domain, domain_of, why_impossible

COLUMNS = (
    "case", "metric", "unit", "direction", "host", "block", "arm", "boot", "iteration", "value",
)  # fmt: skip
DEFAULTS = {"case": "all", "metric": "value", "direction": "lower"}
DIRECTIONS = ("lower", "higher")
SHOWN_AT_MOST = 20
# What the last row of a spreadsheet may say of those above it.
TOTALS = frozenset(
    {"total", "totals", "grand total", "sum", "mean", "average", "avg", "median", "count",
     "summe", "gesamt", "mittelwert"}
)  # fmt: skip
# How much alike the name of a column and one that is known are where one was meant.
MEANT = 0.75

_Key = str
_Place = tuple[_Key, _Key]  # block and host


@dataclass(frozen=True, slots=True)
class CaseBoots:
    """One case and metric: ``boots[arm][block]`` are a boot's values, blocks count from 1."""

    case: str
    metric: str
    unit: str
    direction: str
    boots: Mapping[str, Mapping[int, Sequence[float]]]


@dataclass(slots=True)
class _Gathered:
    unit: str
    direction: str
    line: int
    # arm → (block, host) → boot → values
    arms: dict[str, dict[_Place, dict[_Key, list[float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    )


class BootsFile:
    """A file of boots; reading it either gives everything or raises :class:`InvalidInput`."""

    def __init__(self, lines: Iterable[str], *, name: str) -> None:
        """Read *lines*. Each bad row is named by line number, column and reason."""
        self.name = name
        self.remarks: list[str] = []
        self._bad: list[str] = []
        self._more_bad = 0
        self._gathered: dict[tuple[str, str], _Gathered] = {}
        self._seen: dict[tuple[str, ...], int] = {}
        rows = read_rows(lines, name=name, wanted=COLUMNS)
        self._numbers = Numbers(rows.separator)
        self._nameless = without_names(rows.header)
        self._columns = self._checked_header(rows.header, rows.header_line)
        if rows.separator != ",":
            self.remarks.append(f"fields are divided by {SEPARATORS[rows.separator]}")
        last: tuple[int, list[str]] | None = None
        for line, row in rows.below:
            if last:
                self._take(last[1], last[0], len(rows.header))
            last = line, row
        if last and not self._is_total(*last):
            self._take(last[1], last[0], len(rows.header))
        if self._numbers.mark == ",":
            self.remarks.append("values have a decimal comma")
        self._refuse_bad_rows()
        self._refuse_thousands()
        if not self._gathered:
            raise InvalidInput(f"{name} has no rows", hint="Give one line an iteration.")

    @property
    def arms(self) -> list[str]:
        """Names of all arms, in the order in which they come."""
        return list(dict.fromkeys(arm for g in self._gathered.values() for arm in g.arms))

    def measured(self) -> list[CaseBoots]:
        """Every case and metric, in the order in which they come."""
        return [
            CaseBoots(case, metric, g.unit, g.direction, _numbered(g.arms))
            for (case, metric), g in self._gathered.items()
        ]

    def _checked_header(self, header: Sequence[str], line: int) -> dict[str, int]:
        names = [name.strip().lstrip(BOM).strip().lower() for name in header]
        missing = [name for name in ("arm", "value") if name not in names]
        if missing or not {"block", "boot"} & set(names):
            wanted = missing or ["block or boot"]
            raise InvalidInput(
                f"{self.name}:{line}: no column {' and no '.join(wanted)}",
                hint=f"The first line names the columns, of {', '.join(COLUMNS)}, divided by "
                f"{', '.join(SEPARATORS.values())}.",
            )
        twice = sorted({name for name in names if name and names.count(name) > 1})
        if twice:
            raise InvalidInput(
                f"{self.name}:{line}: column {twice[0]} is there twice", hint="Leave one out."
            )
        self._tell_of_unused([name for name in names if name and name not in COLUMNS], names, line)
        if "block" not in names:
            self.remarks.append(
                "no column block: the boots of each arm are paired in the order of their labels"
            )
        if "direction" not in names:
            self.remarks.append("no column direction: lower is taken as better everywhere")
        return {name: place for place, name in enumerate(names) if name in COLUMNS}

    def _tell_of_unused(self, unused: Sequence[str], names: Sequence[str], line: int) -> None:
        """Raises InvalidInput for one that is a column of ours, misspelt."""
        absent = [name for name in COLUMNS if name not in names]
        for name in unused:
            meant = difflib.get_close_matches(name, absent, 1, MEANT)
            if meant:
                raise InvalidInput(
                    f"{self.name}:{line}: column {name!r} is not known: is it {meant[0]}?",
                    hint=f"Columns are {', '.join(COLUMNS)}. Call it otherwise, or take it out.",
                )
        if unused:
            self.remarks.append(f"columns not used: {', '.join(unused)}")

    def _is_total(self, line: int, row: Sequence[str]) -> bool:
        """Whether the last row is one of totals, which is no boot."""
        place = {name: at for name, at in self._columns.items() if at < len(row)}
        labels = [row[place[name]].strip() for name in ("block", "boot") if name in place]
        first = next(each.strip() for each in row if each.strip())
        if any(labels) or first.rstrip(":").strip().lower() not in TOTALS:
            return False
        self.remarks.append(f"line {line} is left out: {first!r} is of the rows above it")
        return True

    def _take(self, row: Sequence[str], line: int, width: int) -> None:
        if len(row) != width and (len(row) < width or any(each.strip() for each in row[width:])):
            self._complain(line, "row", f"{len(row)} fields where the first line has {width}")
            return
        unnamed = [place for place in self._nameless if row[place].strip()]
        if unnamed:
            shown = f"{row[unnamed[0]].strip()[:40]!r} stands in a column without a name"
            self._complain(line, f"column {unnamed[0] + 1}", shown)
            return
        given = {name: row[place].strip() for name, place in self._columns.items()}
        value = self._value(given, line)
        if value is None:
            return
        case, metric, direction = (given.get(n) or DEFAULTS[n] for n in DEFAULTS)
        unit, arm = given.get("unit", ""), given["arm"]
        gathered = self._gathered.setdefault((case, metric), _Gathered(unit, direction, line))
        for column, new, old in (
            ("unit", unit, gathered.unit),
            ("direction", direction, gathered.direction),
        ):
            if new != old:
                self._complain(line, column, f"{new!r}, but {old!r} in line {gathered.line}")
                return
        if self._is_double(given, (case, metric, arm), line):
            return
        place = (given.get("block", ""), given.get("host", ""))
        gathered.arms[arm][place][given.get("boot", "")].append(value)

    def _value(self, given: Mapping[str, str], line: int) -> float | None:
        """The value of a row; None for a row that cannot be used, which is complained of."""
        problem = _problem(given)
        if problem:
            self._complain(line, *problem)
            return None
        try:
            column = tuple(given.get(name, "") for name in ("case", "metric", "unit"))
            value = self._numbers.read(given["value"], line, column)
        except ValueError as error:
            self._complain(line, "value", str(error))
            return None
        # A change in percent of what may be negative says nothing, whatever its unit.
        unit = given.get("unit", "")
        outside = (domain_of(unit) or Domain.COUNT).refuses(value) or why_impossible(unit, value)
        if outside:
            self._complain(line, "value", f"{given['value']}{' ' if unit else ''}{unit}: {outside}")
            return None
        return value

    def _is_double(self, given: Mapping[str, str], of: tuple[str, ...], line: int) -> bool:
        iteration = given.get("iteration", "")
        if not iteration:
            return False
        where = (*of, *(given.get(name, "") for name in ("host", "block", "boot")), iteration)
        first = self._seen.setdefault(where, line)
        if first != line:
            self._complain(line, "iteration", f"{iteration} of this boot is in line {first} too")
        return first != line

    def _complain(self, line: int, column: str, reason: str) -> None:
        if len(self._bad) < SHOWN_AT_MOST:
            self._bad.append(f"{self.name}:{line}: {column}: {reason}")
        else:
            self._more_bad += 1

    def _refuse_thousands(self) -> None:
        """Raises InvalidInput where a point or a comma may be one of thousands."""
        doubt = self._numbers.why_in_doubt()
        if doubt:
            raise InvalidInput(
                f"{self.name}: {doubt}",
                hint="Nothing was read. Write the values without marks of thousands, or with as "
                "many decimals in each.",
            )
        text = self._numbers.like_thousands()
        if text:
            digits, decimal = text.replace(self._numbers.mark, ""), text.replace(",", ".")
            self.remarks.append(f"{text} is read as {decimal}, not as {digits}: each value is so")

    def _refuse_bad_rows(self) -> None:
        if not self._bad:
            return
        more = [f"and {self._more_bad} more"] if self._more_bad else []
        raise InvalidInput(
            "\n".join([*self._bad, *more]), hint="Nothing was read. Correct or leave out the rows."
        )


def _problem(given: Mapping[str, str]) -> tuple[str, str] | None:
    """Column and reason, if a row cannot be used."""
    if not given["arm"]:
        return "arm", "is empty"
    if given.get("direction") and given["direction"] not in DIRECTIONS:
        return "direction", f"{given['direction']!r} is neither lower nor higher"
    if not given.get("block") and not given.get("boot"):
        return "block", "is empty, and so is boot: which boot gave this value?"
    return None


def _numbered(
    arms: Mapping[str, Mapping[_Place, Mapping[_Key, Sequence[float]]]],
) -> dict[str, dict[int, Sequence[float]]]:
    """Blocks numbered from 1: by block, then host.

    An arm's second boot in a block is paired with the others' second boots there.
    """
    places = {(key, turn) for of_arm in arms.values() for key, turn, _ in _turns(of_arm)}
    ordered = sorted(
        places,
        key=lambda place: (natural_order(place[0][0]), place[1], natural_order(place[0][1])),
    )
    number = {place: index for index, place in enumerate(ordered, start=1)}
    return {
        arm: {number[key, turn]: values for key, turn, values in _turns(of_arm)}
        for arm, of_arm in arms.items()
    }


def _turns(
    of_arm: Mapping[_Place, Mapping[_Key, Sequence[float]]],
) -> Iterator[tuple[_Place, int, Sequence[float]]]:
    for key, boots in of_arm.items():
        for turn, boot in enumerate(sorted(boots, key=natural_order)):
            yield key, turn, boots[boot]
