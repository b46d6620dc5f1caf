"""What each operation runs, out of the ledgers of some boots. Pure.

An instruction is *steady* where each window of each boot ran it the same whole number of times an
operation (`steady.py`). What is left (timer interrupts, a page of tables now and then, other
programs) comes *beside*: it costs as well, and is told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mitigauge.analysis.profiles.exact.footprint import branch_of
from mitigauge.analysis.profiles.exact.ledger import Branches, Ledger, LedgerFunction, Line
from mitigauge.analysis.profiles.exact.steady import (
    WindowOf,
    is_run_of_each,
    runs_of_each,
    windows_of,
)
from mitigauge.core.wire.exact import INSTRUCTION_NS

Key = tuple[str, str]
"""A function's module and name."""

_JUMPS = frozenset(("jmp", "jmpq", "call", "callq"))
# Where a jump goes to the start of the function that holds it.
_OWN_START = "+0x0"


class Instruction(NamedTuple):
    """An instruction of a function, as :class:`Line` has it, whatever ran it."""

    place: int
    code: str
    text: str
    normal: str


@dataclass(frozen=True, slots=True)
class LineRuns:
    """An instruction, and how often an operation ran it in each boot and window."""

    line: Instruction
    values: tuple[float, ...]
    steady: int | None
    """The same whole number in all of them, 0 of what runs beside; None where it differs."""
    taken: float
    """How often it led elsewhere, an operation."""
    taken_steady: int | None
    """The same of it."""

    @property
    def mean(self) -> float:
        """Runs an operation."""
        return sum(self.values) / len(self.values)


@dataclass(slots=True)
class _CountedLine:
    """An instruction, and how often it ran in each window and led elsewhere in each boot."""

    line: Instruction
    runs: Sequence[int]
    taken: Sequence[int]
    steady: int | None
    taken_steady: int | None


@dataclass(frozen=True, slots=True)
class FunctionTotals:
    """What an operation runs of a function, without its instructions one by one."""

    name: str
    module: str
    is_kernel: bool
    values: tuple[float, ...]
    """Instructions an operation in each boot."""
    steady: int
    """Those that each operation runs."""
    line_count: int
    """How many different instructions are known of it."""
    is_whole: bool
    """Whether each instruction of it is known and steady, so that `steady` is all of its cost."""

    @property
    def mean(self) -> float:
        """Instructions an operation."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, slots=True)
class FunctionRuns(FunctionTotals):
    """The same with its instructions."""

    lines: tuple[LineRuns, ...]


@dataclass(frozen=True, slots=True)
class OperationFootprint:
    """What each operation asks of caches and branch predictors: the mean of boots.

    Code that it runs through, and branches that it does.
    """

    lines: float
    """Of 64 bytes."""
    pages: float
    """Of 4 KiB."""
    taken: float
    """Jumps, calls and returns that led elsewhere."""
    indirect: float
    """Of jumps and calls, those whose target is read from a register or memory."""
    returns: float
    uneven: tuple[str, ...] = ()
    """Figures above that boots or windows differ in."""


@dataclass(frozen=True, slots=True)
class OperationTotals:
    """An operation on one side of a comparison: the mean of its boots."""

    boots: int
    functions: Mapping[Key, FunctionTotals]
    instructions: float
    seconds: float
    """As the workload measured it."""
    footprint: OperationFootprint
    values: tuple[float, ...]
    """Instructions an operation in each boot."""

    @property
    def steady(self) -> int:
        """Instructions that each operation runs, the same number each time."""
        return sum(function.steady for function in self.functions.values())

    @property
    def counted_ns(self) -> float:
        """What all instructions take in counted time."""
        return self.instructions * INSTRUCTION_NS


@dataclass(frozen=True, slots=True)
class Operation(OperationTotals):
    """The same with the instructions of its functions."""

    functions: Mapping[Key, FunctionRuns]


def operation_of(ledgers: Sequence[Ledger]) -> Operation:
    """The operation that *ledgers*, one a boot and at least one, tell of."""
    count = len(ledgers)
    functions = _functions(ledgers)
    return Operation(
        boots=count,
        functions=functions,
        instructions=sum(ledger.instructions for ledger in ledgers) / count,
        seconds=sum(ledger.seconds for ledger in ledgers) / count,
        footprint=_footprint(ledgers, functions.values()),
        values=tuple(ledger.instructions for ledger in ledgers),
    )


def _footprint(ledgers: Sequence[Ledger], functions: Iterable[FunctionRuns]) -> OperationFootprint:
    told = [ledger.footprint for ledger in ledgers]
    branches = [each.branches for each in told if each.branches is not None]
    # A ledger without them has the lines of what runs often enough, which tell the same.
    if len(branches) < len(told):
        branches = [_branches(functions)]
    figures: dict[str, list[float]] = {
        "lines": [each.lines for each in told],
        "pages": [each.pages for each in told],
        "taken": [each.taken for each in branches],
        "indirect": [each.indirect for each in branches],
        "returns": [each.returns for each in branches],
    }
    return OperationFootprint(
        **{name: sum(values) / len(values) for name, values in figures.items()},
        uneven=tuple(name for name, values in figures.items() if len(set(values)) > 1),
    )


def _branches(functions: Iterable[FunctionRuns]) -> Branches:
    """What the kept lines tell of each operation's branches."""
    lines = [line for function in functions for line in function.lines]
    kinds = [(branch_of(bytes.fromhex(line.line.code)), line) for line in lines]
    return Branches(
        taken=sum(line.taken_steady or 0 for kind, line in kinds if kind),
        indirect=sum(line.steady or 0 for kind, line in kinds if kind == "indirect"),
        returns=sum(line.steady or 0 for kind, line in kinds if kind == "return"),
    )


def _functions(ledgers: Sequence[Ledger]) -> dict[Key, FunctionRuns]:
    of: dict[Key, list[list[LedgerFunction]]] = defaultdict(lambda: [[] for _ in ledgers])
    for boot, ledger in enumerate(ledgers):
        for function in ledger.functions:
            # Several static functions may have one name.
            of[function.module, function.name][boot].append(function)
    windows = _windows(ledgers)
    lines = {key: list(_lines(boots, ledgers, windows)) for key, boots in of.items()}
    _settle_by_jumps(lines, windows)
    return {key: _function(key, boots, ledgers, lines[key]) for key, boots in of.items()}


def _windows(ledgers: Sequence[Ledger]) -> list[WindowOf]:
    """All windows of all boots."""
    return [
        window
        for ledger in ledgers
        for window in windows_of(
            ledger.operations,
            len(ledger.windows),
            ((function.name, function.runs) for function in ledger.functions),
        )
    ]


def _function(
    key: Key,
    boots: Sequence[Sequence[LedgerFunction]],
    ledgers: Sequence[Ledger],
    counted: Sequence[_CountedLine],
) -> FunctionRuns:
    module, name = key
    every = [sum(sum(each.runs) for each in parts) for parts in boots]
    known = sum(sum(line.runs) for line in counted)
    values = tuple(
        runs / (len(ledger.windows) * ledger.operations)
        for runs, ledger in zip(every, ledgers, strict=True)
    )
    lines = tuple(_line_runs(line, ledgers) for line in counted)
    return FunctionRuns(
        name=name,
        module=module,
        is_kernel=any(each.is_kernel for parts in boots for each in parts),
        values=values,
        steady=sum(line.steady or 0 for line in lines),
        line_count=len(lines),
        is_whole=known == sum(every) and all(line.steady is not None for line in lines),
        lines=lines,
    )


def _line_runs(of: _CountedLine, ledgers: Sequence[Ledger]) -> LineRuns:
    operations = [each.operations for each in ledgers for _ in each.windows]
    return LineRuns(
        of.line,
        tuple(runs / each for runs, each in zip(of.runs, operations, strict=True)),
        of.steady,
        sum(of.taken) / sum(operations),
        of.taken_steady,
    )


def _lines(
    boots: Sequence[Sequence[LedgerFunction]],
    ledgers: Sequence[Ledger],
    windows: Sequence[WindowOf],
) -> Iterable[_CountedLine]:
    """Lines by part, place and bytes: code that was patched in a window stands there twice."""
    found: dict[tuple[int, int, str], tuple[Line, list[int], list[int]]] = {}
    count = len(ledgers[0].windows)
    for boot, parts in enumerate(boots):
        for part, function in enumerate(parts):
            for line in function.lines:
                key = (part, line.place, line.code)
                if key not in found:
                    found[key] = line, [0] * len(windows), [0] * len(ledgers)
                found[key][1][boot * count : (boot + 1) * count] = line.runs
                found[key][2][boot] = line.taken
    together = [
        WindowOf(sum(each.operations for each in of), sum(each.interrupts for each in of))
        for of in (windows[boot * count : (boot + 1) * count] for boot in range(len(ledgers)))
    ]
    for key in sorted(found):
        line, runs, taken = found[key]
        instruction = Instruction(line.place, line.code, line.text, line.normal)
        steady, led = runs_of_each(runs, windows), runs_of_each(taken, together)
        yield _CountedLine(instruction, runs, taken, steady, led)


def _settle_by_jumps(
    functions: Mapping[Key, Sequence[_CountedLine]], windows: Sequence[WindowOf]
) -> None:
    """Tell of code that interrupts run often how often each operation runs it, by what jumps there.

    A return thunk is run hundreds of times by an interrupt. How often each operation runs it is the
    number of its jumps and calls there, where that leaves less than one further run an operation.
    """
    open_ = {
        _plain(name): lines
        for (_, name), lines in functions.items()
        if lines and lines[0].line.place == 0 and lines[0].steady is None
    }
    # A thunk may be entered by another one.
    while open_:
        jumps = _jumps(functions, open_)
        settled = [
            name
            for name, lines in open_.items()
            if jumps[name] and is_run_of_each(jumps[name], lines[0].runs, windows)
        ]
        if not settled:
            return
        for name in settled:
            entry, *_ = lines = open_.pop(name)
            for line in lines:
                if list(line.runs) == list(entry.runs):
                    line.steady = jumps[name]
                    line.taken_steady = jumps[name] if any(line.taken) else line.taken_steady


def _jumps(
    functions: Mapping[Key, Sequence[_CountedLine]], wanted: Container[str]
) -> dict[str, int]:
    """How often each operation jumps to those functions or calls them, by their names."""
    found: dict[str, int] = defaultdict(int)
    for (_, name), lines in functions.items():
        for line in lines:
            mnemonic, _, said = line.line.text.partition(" ")
            target = _plain(name if said == _OWN_START else said)
            if line.steady and mnemonic in _JUMPS and target in wanted:
                found[target] += line.steady
    return found


def _plain(name: str) -> str:
    """A name without what the kernel puts before its aliases of early code."""
    return name.removeprefix("__pi_")
