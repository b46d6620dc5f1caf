"""The parts of a report, before anybody decides how they look.

Names here are still as hostile as they came, the renderers neutralise them; values,
units and effects are harmless already.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm's answer, in parts that a renderer may put on one line or on two."""

    effect: str = ""
    interval: str = ""
    n: str = ""
    verdict: str = ""
    mde: str = ""
    note: int = 0  # number of the footnote; 0: none


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a table: a case, the baseline's value, a cell for every other arm."""

    label: str
    baseline: str
    baseline_n: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """The cases of one metric on one host against the arms of one comparison."""

    caption: str
    emulated: bool
    counted_time: bool
    baseline: str
    arms: list[str]
    lines: list[Line]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading with facts below it, as in 'Not effective'."""

    heading: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Content:
    """A whole report in the order it is read."""

    title: str
    question: str
    emulated: str  # names of emulated hosts; empty: none is
    counted_time: str  # names of hosts whose time counts instructions
    caveats: list[str]
    """What holds of every figure, as emulation does: said before the first."""
    warnings: list[str]
    facts: list[tuple[str, str]]
    tables: list[Table]
    not_effective: list[Entry]
    not_measured: list[Entry] = field(default_factory=list)
    claims: list[Entry] = field(default_factory=list)
    explained: list[Entry] = field(default_factory=list)


def counted(number: int, noun: str) -> str:
    """``1 boot``, ``3 boots``, ``2 patches``."""
    ending = "es" if noun.endswith(("ch", "sh", "s", "x")) else "s"
    return f"{number} {noun}{'' if number == 1 else ending}"
