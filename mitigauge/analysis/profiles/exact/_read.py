"""Reads what an emulator counted of a case: the program that `reading.py` confines.

Argument: a case's directory `exact/` as a host left it. Prints JSON (see `ledger.py`), or a line
`refused …` for what is none.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

# Isolated, so this checkout is not looked into by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from mitigauge.analysis.profiles.capture._disassemble import (
    BASE,
    LONGEST_INSTRUCTION,
    Refused,
    counted,
    disassembler,
    spelled,
)
from mitigauge.analysis.profiles.exact.footprint import (
    Counts,
    Key,
    footprint,
)
from mitigauge.analysis.profiles.exact.nowhere import GUEST, NOWHERE, UNKNOWN_KERNEL, UNKNOWN_USER
from mitigauge.analysis.profiles.exact.steady import windows_of
from mitigauge.core.wire.exact import (
    DATA_LINE_BYTES,
    DATA_LINES,
    FILE,
    FORM,
    FORM_WITH_DATA,
    LETTERS,
    MOST_SYMBOLS,
    START,
    STEPS,
    WINDOW,
    WINDOW_BYTES,
    WINDOWS,
)
from mitigauge.core.wire.instructions import LONGEST_NAME
from mitigauge.core.wire.limits import LARGEST_WHOLE, LONGEST_DETAIL

MOST_BLOCKS = 1_000_000
MOST_LINES = 100_000
LONGEST_HEADER = 4096
# Instructions an operation, and part of all of them, below which a function's lines are not kept,
# only its sum: an execve runs through two thousand functions.
LEAST_KEPT, LEAST_SHARE = 0.25, 1e-5
KERNEL = 1 << 63
BLOCK = struct.Struct("<QQQQQIHHHH")
STOP = struct.Struct("<HQ")


@dataclass(frozen=True)
class Block:
    """One block of a window: its instructions' bytes, and how often each of them ran."""

    address: int
    guest: bool
    code: Sequence[bytes]
    runs: Sequence[int]
    taken: int


def main(directory: str) -> None:
    """Print what *directory* holds, or why it is none."""
    try:
        print(json.dumps(answer(Path(directory))))
    except RecursionError:
        print(f"refused {FILE} is nested too deeply")
    except (Refused, ValueError, KeyError, TypeError, struct.error, zlib.error) as error:
        print("refused", " ".join(f"{error}".split())[:LONGEST_DETAIL] or repr(error)[:80])


def answer(directory: Path) -> dict[str, Any]:
    """The ledger of all windows. Raises :class:`Refused`."""
    said = json.loads((directory / FILE).read_bytes())
    windows = said["windows"]
    are_steps = len(windows) == STEPS
    if [each["number"] for each in windows] != list(
        range(1, (STEPS if are_steps else WINDOWS) + 1)
    ):
        raise Refused(f"{FILE} tells of other windows than 1 to {WINDOWS}")
    per = operations_in(windows, are_steps=are_steps)
    counts: dict[Key, Counts] = defaultdict(lambda: Counts.of(len(windows)))
    symbols = symbols_in(said["symbols"])
    told = []
    for place, each in enumerate(windows):
        header, sums = read_window(directory, place, counts)
        require_own_marks(header, symbols)
        told.append({**sums, "seconds": seconds(each["seconds"])})
    if are_steps:
        # In place: a compiler runs half a million instructions.
        for count in counts.values():
            count.take_steps()
        told = window_steps(told, counts)
    found = functions(counts, symbols, per)
    of_windows = windows_of(per, WINDOWS, ((each["name"], each["runs"]) for each in found))
    return {
        "operations": per,
        "windows": told,
        "functions": found,
        "footprint": footprint(counts, of_windows),
    }


def operations_in(windows: Sequence[Mapping[str, Any]], *, are_steps: bool) -> int:
    """Operations of each window, or of what each step has more. Raises :class:`Refused`."""
    told = [counted(each["operations"], "operations") for each in windows]
    wanted = [told[0] * (each + 1 if are_steps else 1) for each in range(len(told))]
    if told != wanted or not told[0]:
        raise Refused("its windows are of no, or of other numbers of operations than they may be")
    return told[0]


def window_steps(
    told: Sequence[Mapping[str, Any]], counts: Mapping[Key, Counts]
) -> list[dict[str, Any]]:
    """What each window has more than the one before, whose start-up both have."""
    found = []
    for place, (before, after) in enumerate(pairwise(told)):
        more = {name: max(0, after[name] - before[name]) for name in after}
        # What other programs ran less of is no part of the sum over functions either.
        more["instructions"] = more["left_out"] + sum(
            count.runs[place] for count in counts.values()
        )
        found.append(more)
    return found


def seconds(value: Any) -> float:
    """A time. Raises :class:`Refused`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise Refused(f"{str(value)[:40]!r} is no time")
    return float(value)


def read_window(
    directory: Path, place: int, counts: dict[Key, Counts]
) -> tuple[Mapping[str, Any], dict[str, int]]:
    """Add one window's blocks to *counts*; its header, and sums."""
    path = directory / WINDOW.format(place + 1)
    unpacker = zlib.decompressobj()
    body = unpacker.decompress(path.read_bytes(), WINDOW_BYTES)
    if not unpacker.eof:
        raise Refused(f"window {place + 1} has more than {WINDOW_BYTES} bytes, or is torn")
    header, at = header_of(body, place + 1)
    require_whole(header)
    total = 0
    for block in blocks(body, at, counted(header["blocks"], "blocks")):
        total += add_block(block, place, counts)
    # What found no room among the blocks is in no function, and in the sum.
    sums = {
        "instructions": total + counted(header["left_out"], "left_out"),
        "left_out": counted(header["left_out"], "left_out"),
        "unresolved": counted(header["unresolved"], "unresolved"),
    }
    return header, sums


def header_of(body: bytes, number: int) -> tuple[Mapping[str, Any], int]:
    """The header of a window's file, and where its blocks begin. Raises :class:`Refused`."""
    form, size = struct.unpack_from(START, body, len(LETTERS))
    if body[:4] != LETTERS or form not in (FORM, FORM_WITH_DATA) or size > LONGEST_HEADER:
        raise Refused(f"window {number} is no file of the emulator's plugin")
    begin = len(LETTERS) + struct.calcsize(START)
    skipped = 0
    if form == FORM_WITH_DATA:
        skipped = DATA_LINE_BYTES * struct.unpack_from(DATA_LINES, body, begin)[0]
        begin += struct.calcsize(DATA_LINES)
    header = json.loads(body[begin : begin + size])
    if header["number"] != number:
        raise Refused(f"window {number} says that it is {str(header['number'])[:20]}")
    return header, begin + size + skipped


def require_whole(header: Mapping[str, Any]) -> None:
    """Raise :class:`Refused` for a window that other marks ran in."""
    number = header["number"]
    if header["whole"] is not True:
        raise Refused(f"window {number} was not ended before another one began")
    if header["nested"] or header["unmatched"]:
        raise Refused(f"window {number}: marks ran within it, or without their counterpart")


def require_own_marks(header: Mapping[str, Any], symbols: Sequence[Symbol]) -> None:
    """Raise :class:`Refused` for a window in which others than its program ran marks."""
    count = counted(header.get("foreign", 0), "foreign")
    if count:
        at = header["foreign_at"]
        if not isinstance(at, int) or not 0 <= at < 1 << 64:
            raise Refused("foreign_at is no address")
        of = function_of((at, b"", False), symbols, [symbol.start for symbol in symbols])
        raise Refused(
            f"window {header['number']}: marks of others ran in it, {count} times, first in "
            f"{of.name or of.module} at {at:#x}"
        )


def blocks(body: bytes, at: int, most: int) -> Iterator[Block]:
    """The blocks of a window's file, those of host and guest apart. Raises :class:`Refused`."""
    seen = 0
    while at < len(body):
        seen += 1
        if seen > min(most, MOST_BLOCKS):
            raise Refused(f"more than {min(most, MOST_BLOCKS)} blocks")
        address, *numbers, _, count, size, of_host, of_guest = BLOCK.unpack_from(body, at)
        at += BLOCK.size
        lengths, code = body[at : at + count], body[at + count : at + count + size]
        at += count + size
        if sum(lengths) != size or len(code) != size or not count or 0 in lengths:
            raise Refused("a block's instructions are not as long as the block")
        stops = of_host + of_guest
        stopped = [STOP.unpack_from(body, at + each * STOP.size) for each in range(stops)]
        at += stops * STOP.size
        ends, pieces = 0, []
        for length in lengths:
            pieces.append(code[ends : ends + length])
            ends += length
        both = (stopped[:of_host], stopped[of_host:])
        for guest, (runs, stops_there) in enumerate(zip(numbers[:2], both, strict=True)):
            if runs:
                ran = executions(runs, count, stops_there)
                yield Block(address, bool(guest), pieces, ran, numbers[2 + guest])
    if seen != most:
        raise Refused(f"{seen} of {most} blocks are there")


def executions(runs: int, count: int, stopped: Sequence[tuple[int, int]]) -> list[int]:
    """How often each instruction ran of a block that was begun *runs* times.

    *stopped*: (instruction, times) where it ended before that instruction.
    """
    left = [0] * count
    for place, times in stopped:
        if place >= count:
            raise Refused("a block stopped behind its end")
        left[place] += times
    found, now = [], runs
    for each in left:
        now -= each
        if not 0 <= now < LARGEST_WHOLE:
            raise Refused("a block stopped more often than it ran, or counts overflowed")
        found.append(now)
    return found


def add_block(block: Block, place: int, counts: dict[Key, Counts]) -> int:
    """Add a block to *counts*; the instructions that it ran."""
    address = block.address
    for code, runs in zip(block.code, block.runs, strict=True):
        of = counts[address, code, block.guest]
        of.runs[place] += runs
        address += len(code)
    of.taken[place] += block.taken
    return sum(block.runs)


@dataclass(frozen=True)
class Symbol:
    """A function's place and name."""

    start: int
    end: int
    name: str
    module: str


def symbols_in(listed: Any) -> list[Symbol]:
    """The host's symbols in order. Raises :class:`Refused`."""
    if not isinstance(listed, list) or len(listed) > MOST_SYMBOLS:
        raise Refused(f"no list of at most {MOST_SYMBOLS} symbols")
    found = []
    for start, end, name, module in listed:
        if not isinstance(name, str) or not isinstance(module, str):
            raise Refused("a symbol has no name")
        if not 0 <= start < end <= 1 << 64:
            raise Refused(f"symbol {name[:80]!r} lies nowhere")
        found.append(Symbol(start, end, name[:LONGEST_NAME], module[:LONGEST_NAME]))
    # What covers all of a file comes before its functions, which are looked for from behind.
    return sorted(found, key=lambda each: (each.start, -each.end))


def functions(
    counts: Mapping[Key, Counts], symbols: Sequence[Symbol], operations: int
) -> list[dict[str, Any]]:
    """All functions that ran, with the lines of those that an operation runs."""
    starts = [symbol.start for symbol in symbols]
    of: dict[Symbol, list[tuple[Key, Counts]]] = defaultdict(list)
    for key, count in counts.items():
        of[function_of(key, symbols, starts)].append((key, count))
    names = {symbol.start: symbol.name for symbol in symbols if symbol.name}
    whole = sum(sum(count.runs) for count in counts.values()) / WINDOWS / operations
    least = operations * max(LEAST_KEPT, LEAST_SHARE * whole)
    kept = with_lines(of, least)
    told = [described(symbol, lines, names, is_kept=symbol in kept) for symbol, lines in of.items()]
    return sorted(told, key=lambda each: (-sum(each["runs"]), each["module"], each["name"]))


def function_of(key: Key, symbols: Sequence[Symbol], starts: Sequence[int]) -> Symbol:
    """The smallest symbol that covers an address, or one that says there is none."""
    address, _, guest = key
    if guest:
        return Symbol(0, 1 << 64, "", GUEST)
    place = bisect_right(starts, address) - 1
    for at in range(place, max(place - 8, -1), -1):
        if address < symbols[at].end:
            return symbols[at]
    kernel = address >= KERNEL
    return Symbol(KERNEL if kernel else 0, 1 << 64, "", UNKNOWN_KERNEL if kernel else UNKNOWN_USER)


Lines = Sequence[tuple[Key, Counts]]


def with_lines(of: Mapping[Symbol, Lines], least: float) -> set[Symbol]:
    """The functions whose lines are kept: that run *least* of them, as many as there is room for.

    The kernel's come first, and of each kind those that run most: a compiler has more than there
    is room for.
    """
    runs = {symbol: max(runs_of(lines)) for symbol, lines in of.items()}
    wanted = [symbol for symbol in of if symbol.module not in NOWHERE and runs[symbol] >= least]
    kept, room = set(), MOST_LINES
    for symbol in sorted(wanted, key=lambda each: (each.start < KERNEL, -runs[each])):
        room -= len(of[symbol])
        if room < 0:
            break
        kept.add(symbol)
    return kept


def runs_of(lines: Lines) -> list[int]:
    """Instructions in each window."""
    return [sum(count.runs[place] for _, count in lines) for place in range(WINDOWS)]


def described(
    symbol: Symbol, lines: Lines, names: Mapping[int, str], *, is_kept: bool
) -> dict[str, Any]:
    """A function as JSON, if it *is_kept* its lines in the order of their places."""
    near = {start - symbol.start: name for start, name in names.items()} if is_kept else {}
    return {
        "name": symbol.name,
        "module": symbol.module,
        "is_kernel": symbol.start >= KERNEL,
        "runs": runs_of(lines),
        "lines": [line(symbol, key, count, near) for key, count in sorted(lines, key=place_of)]
        if is_kept
        else [],
    }


def place_of(entry: tuple[Key, Counts]) -> tuple[int, bytes]:
    """By what the lines of a function are ordered."""
    return entry[0][0], entry[0][1]


_engine = disassembler()


def line(symbol: Symbol, key: Key, count: Counts, near: Mapping[int, str]) -> list[Any]:
    """Place, bytes, instruction, normal form, runs by window, branches of one line."""
    address, code, _ = key
    at = address - symbol.start
    text = normal = f".byte {code.hex()}"
    for _, size, mnemonic, operands in _engine.disasm_lite(code, BASE + at):
        end = at + size
        text, normal = spelled(mnemonic, operands, end, symbol.end - symbol.start, near)
        break
    return [
        at,
        code.hex(),
        text[:LONGEST_INSTRUCTION],
        normal[:LONGEST_INSTRUCTION],
        count.runs,
        sum(count.taken),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
