"""What an operation asks of a processor's front end: code it runs through, branches it takes. Pure.

Standard library alone: the confined reader imports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor
from typing import Any, Literal, NamedTuple

from mitigauge.wire.exact import WINDOWS

# How far from a whole number an operation's runs may lie: what interrupts runs the same code.
TOLERANCE = 0.02
# So many executions an operation may lack, since a window begins and ends within one, and so many
# more may interrupts have: with both, no value could be two whole numbers.
MOST_LACKING, MOST_BESIDE = 0.25, 0.74
# Executions an operation from which an instruction is part of each.
EACH_TIME = 0.5
LINE_BITS, PAGE_BITS = 6, 12

Key = tuple[int, bytes, bool]
"""Address, bytes, and whether a guest of the host ran it."""
Branch = Literal["direct", "indirect", "return"]

# Intel SDM volume 2, appendix A: legacy prefixes and REX, then the opcode.
_PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3") | frozenset(
    range(0x40, 0x50)
)
_RETURNS = frozenset(b"\xc2\xc3\xca\xcb")
# Jcc, LOOPcc and JRCXZ, CALL and JMP; and, behind 0x0f, Jcc with a long displacement.
_DIRECT = frozenset(b"\xe8\xe9\xeb") | frozenset(range(0xE0, 0xE4)) | frozenset(range(0x70, 0x80))
_DIRECT_LONG = range(0x80, 0x90)
# Of 0xff by the middle field of the byte behind it: CALL and JMP, near and far.
_INDIRECT = range(2, 6)


@dataclass(slots=True)
class Counts:
    """Executions of one instruction, and how often it led elsewhere, by window."""

    runs: list[int] = field(default_factory=lambda: [0] * WINDOWS)
    taken: list[int] = field(default_factory=lambda: [0] * WINDOWS)

    @classmethod
    def of(cls, windows: int) -> Counts:
        """None yet, of so many windows."""
        return cls([0] * windows, [0] * windows)

    def take_steps(self) -> None:
        """Leave what each window has more than the one before; none of what it has less."""
        self.runs, self.taken = _steps(self.runs), _steps(self.taken)


class DataLine(NamedTuple):
    """64 bytes of memory by their number, and accesses to them."""

    number: int
    reads: int
    writes: int


def _steps(values: Sequence[int]) -> list[int]:
    return [max(0, after - before) for before, after in pairwise(values)]


def branch_of(code: bytes) -> Branch | None:
    """What kind of a jump, call or return an instruction is; None for any other.

    System calls, interrupts and their returns change privilege as well, and are none.
    """
    at = 0
    while at < len(code) and code[at] in _PREFIXES:
        at += 1
    opcode, *behind = code[at:] or b"\0"
    if opcode in _RETURNS:
        return "return"
    if opcode in _DIRECT:
        return "direct"
    if not behind:
        return None
    if opcode == 0x0F and behind[0] in _DIRECT_LONG:
        return "direct"
    return "indirect" if opcode == 0xFF and behind[0] >> 3 & 7 in _INDIRECT else None


def whole_of(values: Sequence[float]) -> int | None:
    """The whole number above 0 that all *values* are, but for what interrupts; None for no such.

    What interrupts only adds. To round would make 67 of 66 returns by a thunk that interrupts run
    as well every second time, and 66 of them where they come a little less often.
    """
    whole = floor(min(values) + MOST_LACKING)
    reach = TOLERANCE * max(1, whole)
    least, most = whole - min(reach, MOST_LACKING), whole + min(reach, MOST_BESIDE)
    return whole if whole > 0 and least <= min(values) and max(values) <= most else None


def footprint(counts: Mapping[Key, Counts], operations: int) -> dict[str, Any]:
    """Lines of 64 bytes and pages of code that each operation runs through, and what branches
    each takes, over all instructions of the windows."""
    touched = [
        (address, address + len(code) - 1)
        for (address, code, _), count in counts.items()
        if min(count.runs) / operations >= EACH_TIME
    ]
    return {
        "lines": len({at >> LINE_BITS for both in touched for at in both}),
        "pages": len({at >> PAGE_BITS for both in touched for at in both}),
        "branches": _branches(counts, operations),
    }


def data_footprint(lines: Sequence[DataLine], operations: int, left_out: int) -> dict[str, int]:
    """Lines and pages of memory that each operation of a window reads or writes.

    *left_out*: accesses to lines that nobody counted. `seldom`: lines of the whole window that are
    read or written less often than that.
    """
    least = operations * EACH_TIME
    each_time = [line for line in lines if line.reads + line.writes >= least]
    return {
        "lines": len(each_time),
        "written": sum(line.writes >= least for line in each_time),
        "pages": len({line.number - 1 >> PAGE_BITS - LINE_BITS for line in each_time}),
        "seldom": len(lines) - len(each_time),
        "left_out": left_out,
    }


def _branches(counts: Mapping[Key, Counts], operations: int) -> dict[str, int]:
    told = {"taken": 0, "indirect": 0, "returns": 0}
    for kind, count in _kinds(counts):
        told["taken"] += _each(count.taken, operations)
        if kind == "indirect":
            told["indirect"] += _each(count.runs, operations)
        elif kind == "return":
            told["returns"] += _each(count.runs, operations)
    return told


def _kinds(counts: Mapping[Key, Counts]) -> Iterator[tuple[Branch, Counts]]:
    for (_, code, _), count in counts.items():
        kind = branch_of(code)
        if kind is not None:
            yield kind, count


def _each(windows: Sequence[int], operations: int) -> int:
    """How often each operation does it, the same number of times; 0 where that differs."""
    return whole_of([times / operations for times in windows]) or 0
