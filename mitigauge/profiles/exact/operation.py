"""What each operation runs, out of the ledgers of some boots. Pure.

An instruction is *steady* where each window of each boot ran it the same whole number of times an
operation. What is left (timer interrupts, a page of tables now and then, other programs) comes
*beside*: it costs as well, and is told apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mitigauge.profiles.exact.footprint import TOLERANCE, branch_of, whole_of
from mitigauge.profiles.exact.ledger import Branches, Ledger, LedgerFunction, Line
from mitigauge.wire.exact import INSTRUCTION_NS

Key = tuple[str, str]
"""A function's module and name."""


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
    """The same whole number in all of them; None where it differs, or is none."""
    taken: float
    """How often it led elsewhere, an operation."""

    @property
    def mean(self) -> float:
        """Runs an operation."""
        return sum(self.values) / len(self.values)


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

    @property
    def mean(self) -> float:
        """Instructions an operation."""
        return sum(self.values) / len(self.values)

    def is_steady_at(self, mean: float) -> bool:
        """Whether nothing of note is beside them, so that their number is all of its cost.

        *mean*: its own, which who asks has.
        """
        return self.steady > 0 and abs(mean - self.steady) <= TOLERANCE * self.line_count


@dataclass(frozen=True, slots=True)
class FunctionRuns(FunctionTotals):
    """The same with its instructions."""

    lines: tuple[LineRuns, ...]


@dataclass(frozen=True, slots=True)
class OperationFootprint:
    """What each operation asks of caches and branch predictors: the mean of boots.

    Code that it runs through, branches that it does, memory that it reads and writes.
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
    data_lines: float | None = None
    """Of 64 bytes that each operation reads or writes; None where nobody counted them."""
    data_written: float | None = None
    """Of them, those that are written."""
    data_pages: float | None = None
    data_seldom: float | None = None
    """Further lines an operation, which not each one reads or writes."""
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
    in_no_function: float
    """Instructions an operation of blocks that found no room in the emulator."""

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
        in_no_function=sum(map(_in_no_function, ledgers)) / count,
    )


def _in_no_function(ledger: Ledger) -> float:
    every = sum(window.instructions for window in ledger.windows)
    placed = sum(sum(function.runs) for function in ledger.functions)
    return max(0, every - placed) / (ledger.operations * len(ledger.windows))


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
        **_data(ledgers),
    }
    return OperationFootprint(
        **{name: sum(values) / len(values) for name, values in figures.items()},
        uneven=tuple(name for name, values in figures.items() if len(set(values)) > 1),
    )


def _data(ledgers: Sequence[Ledger]) -> dict[str, list[float]]:
    """The figures of data by window; none where nobody counted them, or not all of them."""
    windows = [
        (ledger.operations, window)
        for ledger in ledgers
        for window in ledger.footprint.data
        if not window.left_out
    ]
    if not windows:
        return {}
    return {
        "data_lines": [window.lines for _, window in windows],
        "data_written": [window.written for _, window in windows],
        "data_pages": [window.pages for _, window in windows],
        "data_seldom": [window.seldom / operations for operations, window in windows],
    }


def _branches(functions: Iterable[FunctionRuns]) -> Branches:
    """What the kept lines tell of each operation's branches."""
    lines = [line for function in functions for line in function.lines]
    kinds = [(branch_of(bytes.fromhex(line.line.code)), line) for line in lines]
    return Branches(
        taken=sum(whole_of([line.taken]) or 0 for kind, line in kinds if kind),
        indirect=sum(line.steady or 0 for kind, line in kinds if kind == "indirect"),
        returns=sum(line.steady or 0 for kind, line in kinds if kind == "return"),
    )


def _functions(ledgers: Sequence[Ledger]) -> dict[Key, FunctionRuns]:
    of: dict[Key, list[list[LedgerFunction]]] = defaultdict(lambda: [[] for _ in ledgers])
    for boot, ledger in enumerate(ledgers):
        for function in ledger.functions:
            # Several static functions may have one name.
            of[function.module, function.name][boot].append(function)
    return {key: _function(key, boots, ledgers) for key, boots in of.items()}


def _function(
    key: Key, boots: Sequence[Sequence[LedgerFunction]], ledgers: Sequence[Ledger]
) -> FunctionRuns:
    module, name = key
    values = tuple(
        sum(sum(each.runs) / len(each.runs) for each in parts) / ledger.operations
        for parts, ledger in zip(boots, ledgers, strict=True)
    )
    lines = tuple(_lines(boots, ledgers))
    return FunctionRuns(
        name=name,
        module=module,
        is_kernel=any(each.is_kernel for parts in boots for each in parts),
        values=values,
        steady=sum(line.steady or 0 for line in lines),
        line_count=len(lines),
        lines=lines,
    )


def _lines(
    boots: Sequence[Sequence[LedgerFunction]], ledgers: Sequence[Ledger]
) -> Iterable[LineRuns]:
    """Lines by part, place and bytes: code that was patched in a window stands there twice."""
    found: dict[tuple[int, int, str], tuple[Line, list[list[float]]]] = {}
    taken: dict[tuple[int, int, str], float] = defaultdict(float)
    windows = len(ledgers[0].windows)
    for boot, (parts, ledger) in enumerate(zip(boots, ledgers, strict=True)):
        for part, function in enumerate(parts):
            for line in function.lines:
                key = (part, line.place, line.code)
                if key not in found:
                    found[key] = line, [[0.0] * windows for _ in ledgers]
                found[key][1][boot] = [runs / ledger.operations for runs in line.runs]
                taken[key] += line.taken / (ledger.operations * windows * len(ledgers))
    for key in sorted(found):
        line, by_boot = found[key]
        values = tuple(value for values in by_boot for value in values)
        instruction = Instruction(line.place, line.code, line.text, line.normal)
        yield LineRuns(instruction, values, whole_of(values), taken[key])
