"""Disassembles functions' bytes as a host left them: the program that `instructions.py` confines.

Arguments: a host's instructions.json and the most instructions there may be. Prints JSON: `detail`,
`left_out` and `functions`, of each its `name`, its `lines` (place, instruction, the same without
what placing it moves) and its `samples` (line, samples, weight); or a line `refused …` for a file
that is none.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import capstone

# Isolated, so this checkout is not looked into by itself.
sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from mitigauge.core.wire.instructions import (
    FILE,
    LONGEST_NAME,
    MOST_CODE_BYTES,
    MOST_FUNCTIONS,
    MOST_TARGETS,
)
from mitigauge.core.wire.limits import LARGEST_WHOLE, LONGEST_DETAIL

LONGEST_INSTRUCTION = 200
# Where the bytes are taken to lie, so that what is far before or behind them is no negative number.
BASE = 1 << 40
# Fills the room between functions.
_PADDING = frozenset({"int3", "nop", "nopw", "nopl"})
_NUMBER = re.compile(r"-?0x[0-9a-f]+|-?\b[0-9]+\b")
_RELATIVE = re.compile(r"(?:(?<![\w-])(-?0x[0-9a-f]++|-?[0-9]++))?+\(%rip\)")
# A constant of so many digits is an address as a rule.
_ADDRESS = re.compile(r"-?\b(?:0x[0-9a-f]{9,}|[0-9]{12,})")

Line = tuple[int, str, str]


class Refused(Exception):
    """The file is not what a runner of ours leaves; the text says why."""


def main(path: str, most_instructions: int) -> None:
    """Print what *path* holds, or why it is none."""
    try:
        print(json.dumps(answer(json.loads(Path(path).read_bytes()), most_instructions)))
    except RecursionError:
        print(f"refused {FILE} is nested too deeply")
    except (Refused, ValueError) as error:
        print("refused", " ".join(str(error).split())[:LONGEST_DETAIL])


def answer(said: Any, most_instructions: int) -> dict[str, Any]:
    """All functions of the file. Raises :class:`Refused`."""
    if not isinstance(said, dict):
        raise Refused(f"{FILE} holds no object")
    functions, room, lines_left = [], MOST_CODE_BYTES, most_instructions
    listed = of_kind(said, "functions", list)
    if len(listed) > MOST_FUNCTIONS:
        raise Refused(f"{FILE} has {len(listed)} functions, over {MOST_FUNCTIONS}")
    for function in listed:
        if not isinstance(function, dict):
            raise Refused("a function is no object")
        code = code_in(function, room)
        room -= len(code)
        found = described(function, code)
        lines_left -= len(found["lines"])
        if lines_left < 0:
            raise Refused(f"over {most_instructions} instructions")
        functions.append(found)
    detail = of_kind(said, "detail", str)[:LONGEST_DETAIL]
    left_out = said.get("left_out", 0)
    return {
        "detail": detail,
        "left_out": counted(left_out, "left_out"),
        "functions": functions,
    }


def of_kind(holder: Mapping[str, Any], name: str, kind: type) -> Any:
    """A field of that type. Raises :class:`Refused`."""
    value = holder.get(name)
    if not isinstance(value, kind):
        raise Refused(f"{name} is no {kind.__name__}")
    return value


def counted(value: Any, name: str) -> int:
    """A whole number from 0. Raises :class:`Refused`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST_WHOLE:
        raise Refused(f"{name} is no count")
    return value


def code_in(function: Mapping[str, Any], room: int) -> bytes:
    """A function's bytes. Raises :class:`Refused`."""
    text = of_kind(function, "code", str)
    if len(text) > 2 * room + 8:
        raise Refused(f"over {MOST_CODE_BYTES} bytes of code")
    try:
        code = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused(f"code is no base64: {error}") from error
    if not 0 < len(code) <= room:
        raise Refused(f"no code, or over {MOST_CODE_BYTES} bytes of it")
    return code


def described(function: Mapping[str, Any], code: bytes) -> dict[str, Any]:
    """A function with its instructions, and its samples by instruction."""
    name = of_kind(function, "name", str)
    targets = of_kind(function, "targets", dict)
    if len(targets) > MOST_TARGETS or not 0 < len(name) <= LONGEST_NAME:
        raise Refused("a name is empty or too long, or a function has too many targets")
    lines = list(disassembled(code, names_in(targets)))
    hits = by_line(of_kind(function, "samples", list), [at for at, _, _ in lines], len(code))
    while len(lines) > 1 and lines[-1][1].split()[0] in _PADDING and len(lines) - 1 not in hits:
        lines.pop()
    return {
        "name": name,
        "lines": lines,
        "samples": [[line, *hits[line]] for line in sorted(hits)],
    }


def names_in(targets: Mapping[str, Any]) -> dict[int, str]:
    """Symbols by their place, in bytes after the function's start."""
    names = {}
    for place, name in targets.items():
        if not re.fullmatch(r"-?[0-9]{1,11}", place) or not isinstance(name, str):
            raise Refused("a target is no place with a name")
        names[int(place)] = name[:LONGEST_NAME]
    return names


def by_line(samples: Sequence[Any], places: Sequence[int], size: int) -> dict[int, list[int]]:
    """Samples and weight by the line in which they lie. Raises :class:`Refused`."""
    if len(samples) > size:
        raise Refused("a function has more sampled places than bytes")
    hits: dict[int, list[int]] = {}
    for sample in samples:
        if not isinstance(sample, list) or len(sample) != 3:
            raise Refused("a sample is no list of three")
        at, number, weight = (counted(value, "a sample") for value in sample)
        if at >= size:
            raise Refused("a sample lies outside of its function")
        hit = hits.setdefault(bisect_right(places, at) - 1, [0, 0])
        hit[0] += number
        hit[1] += weight
    return hits


def disassembler() -> capstone.Cs:
    """Of 64-bit code, in AT&T's syntax; what is no instruction is a `.byte`."""
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.syntax = capstone.CS_OPT_SYNTAX_ATT
    engine.skipdata = True
    return engine


def disassembled(code: bytes, names: Mapping[int, str]) -> Iterator[Line]:
    """Place, instruction and normal form of each instruction; what is none is a `.byte`."""
    for address, size, mnemonic, operands in disassembler().disasm_lite(code, BASE):
        at = address - BASE
        text, normal = spelled(mnemonic, operands, at + size, len(code), names)
        yield at, text[:LONGEST_INSTRUCTION], normal[:LONGEST_INSTRUCTION]


def spelled(
    mnemonic: str, operands: str, end: int, size: int, names: Mapping[int, str]
) -> tuple[str, str]:
    """An instruction as people read it, and in the form by which two are the same.

    A jump within its function is told by how far from the function's start it leads, which is no
    part of the normal form; a symbol's name is.
    """
    if is_branch(mnemonic) and _NUMBER.fullmatch(operands):
        to = int(operands, 0) - BASE
        if 0 <= to < size:
            return f"{mnemonic} +{to:#x}", f"{mnemonic} @"
        name = names.get(to)
        return f"{mnemonic} {name or 'another function'}", f"{mnemonic} {name or '@'}"
    relative = _RELATIVE.search(operands)
    if relative:
        name = names.get(end + int(relative[1] or "0", 0))
        before, after = operands[: relative.start()], operands[relative.end() :]
        shown = f"{name}(%rip)" if name else relative[0]
        same = f"{name or '@'}(%rip)"
        return f"{mnemonic} {before}{shown}{after}", f"{mnemonic} {before}{same}{after}"
    text = f"{mnemonic} {operands}".strip()
    return text, _ADDRESS.sub("@", text)


def is_branch(mnemonic: str) -> bool:
    """Whether its one number is where it leads."""
    last = mnemonic.rpartition(" ")[2]
    return last.startswith(("j", "call", "loop")) or last == "xbegin"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
