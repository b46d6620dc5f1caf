"""What an operation asks of a processor's front end: code it runs through, branches it takes. Pure.

Standard library alone: the confined reader imports it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from mitigauge.analysis.profiles.exact.steady import WindowOf, is_run_of_each, runs_of_each
from mitigauge.core.wire.exact import WINDOWS

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
# INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS.
_STRINGS = (
    frozenset(range(0x6C, 0x70)) | frozenset(b"\xa4\xa5\xa6\xa7") | frozenset(range(0xAA, 0xB0))
)
# Bytes of where they go: CALL and JMP.
_UNCONDITIONAL = {0xE8: 4, 0xE9: 4, 0xEB: 1}
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


def is_repeated(code: bytes) -> bool:
    """Whether an instruction is a string one that is repeated (REP, REPE, REPNE).

    Such a one goes on to itself: what it leads to elsewhere is how often it was repeated.
    """
    at = 0
    while at < len(code) and code[at] in _PREFIXES:
        at += 1
    return bool({0xF2, 0xF3} & set(code[:at])) and at < len(code) and code[at] in _STRINGS


def footprint(counts: Mapping[Key, Counts], windows: Sequence[WindowOf]) -> dict[str, Any]:
    """Lines of 64 bytes and pages of code that each operation runs through, and what branches
    each takes, over all instructions of the *windows*, which have as many operations each."""
    operations = windows[0].operations
    touched = [
        (address, address + len(code) - 1)
        for (address, code, _), count in counts.items()
        if min(count.runs) / operations >= EACH_TIME
    ]
    return {
        "lines": len({at >> LINE_BITS for both in touched for at in both}),
        "pages": len({at >> PAGE_BITS for both in touched for at in both}),
        "branches": _branches(counts, windows),
    }


def _branches(counts: Mapping[Key, Counts], windows: Sequence[WindowOf]) -> dict[str, int]:
    told = {"taken": 0, "indirect": 0, "returns": 0}
    entered = _entered(counts, windows)
    for (address, _, guest), kind, count in _kinds(counts):
        by_jumps = entered.get((address, guest), 0)
        told["taken"] += _each(count.taken, windows, by_jumps)
        if kind == "indirect":
            told["indirect"] += _each(count.runs, windows, by_jumps)
        elif kind == "return":
            told["returns"] += _each(count.runs, windows, by_jumps)
    return told


def _entered(
    counts: Mapping[Key, Counts], windows: Sequence[WindowOf]
) -> dict[tuple[int, bool], int]:
    """By address how often each operation gets there by jumps and calls that name the place."""
    found: dict[tuple[int, bool], int] = defaultdict(int)
    for (address, code, guest), kind, count in _kinds(counts):
        by = _jump(code) if kind == "direct" else None
        if by is not None:
            found[address + len(code) + by, guest] += runs_of_each(count.runs, windows) or 0
    return found


def _jump(code: bytes) -> int | None:
    """How far a jump or call that has no condition goes; None for all others."""
    at = 0
    while code[at] in _PREFIXES:
        at += 1
    size = _UNCONDITIONAL.get(code[at])
    return None if size is None else int.from_bytes(code[at + 1 :][:size], "little", signed=True)


def _kinds(counts: Mapping[Key, Counts]) -> Iterator[tuple[Key, Branch, Counts]]:
    for key, count in counts.items():
        kind = branch_of(key[1])
        if kind is not None:
            yield key, kind, count


def _each(runs: Sequence[int], windows: Sequence[WindowOf], by_jumps: int) -> int:
    """How often each operation does it, the same number of times; 0 where that differs."""
    whole = runs_of_each(runs, windows)
    if whole is None and by_jumps and is_run_of_each(by_jumps, runs, windows):
        return by_jumps
    return whole or 0
