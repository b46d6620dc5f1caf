"""The code of the hottest kernel functions as it runs, and where in it the samples fell.

The bytes come from /proc/kcore: alternatives, static calls, static keys and return thunks stand
there as the kernel patched them, which no file shows. They are disassembled elsewhere. Calls and
jumps are named here, where the symbols are. No address leaves the host: all is relative to the
start of a function. Standard library only; staged beside the runner.
"""

from __future__ import annotations

import base64
import bisect
import os
import re
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from _cases import c_locale, end_group, write_json
from _kit.wire import instructions as wire
from _kit.wire.instructions import (
    FILE,
    LONGEST_NAME,
    MOST_CODE_BYTES,
    MOST_FUNCTIONS,
    MOST_TARGETS,
    Instructions,
)
from _kit.wire.limits import LONGEST_DETAIL
from _kit.wire.profile import NMI_ENTRIES, NMI_HANDLER

KALLSYMS, KCORE = Path("/proc/kallsyms"), Path("/proc/kcore")
LIMIT_S = 60.0
LONGEST_FUNCTION = 16 << 10
# The upper half of the addresses, which is the kernel's.
KERNEL = 1 << 63
LOOK_AT_CLOCK_EVERY = 1 << 14

_HEAD = re.compile(rb":\s+(\d+)\s+\S+:\s*$")
_FRAME = re.compile(rb"\s+([0-9a-f]{1,16}) (.+)")
_OFFSET = re.compile(rb"\+0x[0-9a-f]+$")
# Where the program headers of an ELF file are, how large each is and how many there are.
_ELF = struct.Struct("<32xQ14xHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_LOADED = 1


class NoCode(Exception):
    """There is no code to keep; the text says why."""


@dataclass
class Function:
    """One function's samples, by address: how many, and the sum of their periods."""

    name: bytes
    hits: dict[int, list[int]] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """What it cost itself."""
        return sum(weight for _, weight in self.hits.values())

    def add(self, address: int, weight: int, samples: int = 1) -> None:
        """Count samples at an address."""
        hit = self.hits.setdefault(address, [0, 0])
        hit[0] += samples
        hit[1] += weight


def keep(capture: Path, unpack: Sequence[str], *, by_nmi: bool) -> None:
    """Write instructions.json beside *capture*, which the command *unpack* makes text.

    Where there is no code it says why; the profile stays as it is.
    """
    try:
        deadline = time.monotonic() + LIMIT_S
        with unpacked(capture, unpack) as lines:
            functions = own_samples(before(deadline, lines), by_nmi=by_nmi)
        with KALLSYMS.open("rb") as listed, KCORE.open("rb") as core:
            said = code_of(functions, Symbols.read(before(deadline, listed)), Core(core.fileno()))
    except (NoCode, OSError, ValueError, struct.error) as error:
        said = Instructions(detail=f"no instructions: {error}"[:LONGEST_DETAIL], functions=[])
    write_json(capture.with_name(FILE), said)


class unpacked:  # noqa: N801 (used as a context manager's function is)
    """The lines of a compressed capture."""

    def __init__(self, capture: Path, command: Sequence[str]) -> None:
        self._command = [*command, str(capture)]

    def __enter__(self) -> Iterable[bytes]:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True, env=c_locale(),
        )  # fmt: skip
        assert self._process.stdout
        return self._process.stdout

    def __exit__(self, *_: object) -> None:
        assert self._process.stdout
        self._process.stdout.close()
        end_group(self._process)


def before(deadline: float, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines, while there is time for them."""
    for number, line in enumerate(lines):
        if number % LOOK_AT_CLOCK_EVERY == 0 and time.monotonic() > deadline:
            raise NoCode(f"the recording took longer than {LIMIT_S:g} s to look through")
        yield line


def own_samples(lines: Iterable[bytes], *, by_nmi: bool) -> list[Function]:
    """Kernel functions by their own samples in perf's text, the hottest first."""
    found: dict[bytes, Function] = {}
    for weight, frames in samples(lines):
        leaf = interrupted(frames) if by_nmi else own_frame(frames)
        if leaf is None:
            continue
        address, name = leaf
        found.setdefault(name, Function(name)).add(address, weight)
    return sorted(found.values(), key=lambda function: (-function.weight, function.name))


def samples(lines: Iterable[bytes]) -> Iterator[tuple[int, list[tuple[int, bytes, bytes]]]]:
    """Each sample's period, and its frames from the leaf: address, name, module."""
    weight = 1
    frames: list[tuple[int, bytes, bytes]] = []
    for line in lines:
        if not line.strip():
            if frames:
                yield weight, frames
            weight, frames = 1, []
        elif not line[:1].isspace():
            head = _HEAD.search(line)
            weight = int(head[1]) if head else 1
        elif (frame := _frame(line)) is not None:
            frames.append(frame)
    if frames:
        yield weight, frames


def _frame(line: bytes) -> tuple[int, bytes, bytes] | None:
    """Address, function and file of a frame's line. By hand: a pattern takes a line's cube."""
    before, bracket, file = line.rstrip().rpartition(b" (")
    found = _FRAME.fullmatch(before) if bracket and file.endswith(b")") else None
    if found is None:
        return None
    return int(found[1], 16), _OFFSET.sub(b"", found[2]), file[:-1]


def own_frame(frames: Sequence[tuple[int, bytes, bytes]]) -> tuple[int, bytes] | None:
    """Address and function of the leaf, if it is the kernel's.

    What was inlined there has the address of the function that holds it.
    """
    if not frames or frames[0][0] < KERNEL:
        return None
    address = frames[0][0]
    for at, name, module in frames:
        if at == address and module != b"inlined" and not name.startswith(b"["):
            return address, name
    return None


def interrupted(frames: Sequence[tuple[int, bytes, bytes]]) -> tuple[int, bytes] | None:
    """The same of what an NMI interrupted, below how it came in."""
    names = [name for _, name, _ in frames]
    if NMI_HANDLER not in names:
        return own_frame(frames)
    first = names.index(NMI_HANDLER) + 1
    while first < len(names) and names[first] in NMI_ENTRIES:
        first += 1
    return own_frame(frames[first:])


@dataclass
class Symbols:
    """The kernel's symbols by address, and addresses by name."""

    names: dict[int, bytes]
    places: dict[bytes, list[int]]
    addresses: list[int]

    @classmethod
    def read(cls, lines: Iterable[bytes]) -> Symbols:
        """From what /proc/kallsyms says."""
        names: dict[int, bytes] = {}
        places: dict[bytes, list[int]] = {}
        for line in lines:
            address, _, name, *_ = line.split()
            at = int(address, 16)
            if at >= KERNEL:
                names.setdefault(at, name)
                places.setdefault(name, []).append(at)
        if not names:
            raise NoCode("/proc/kallsyms shows no addresses")
        return cls(names, places, sorted(names))

    def start(self, name: bytes, address: int) -> int | None:
        """Where the function of that name begins in which *address* lies."""
        starts = [at for at in self.places.get(name, ()) if at <= address < self.end(at)]
        return max(starts, default=None)

    def end(self, start: int) -> int:
        """Where the next symbol begins."""
        place = bisect.bisect_right(self.addresses, start)
        return self.addresses[place] if place < len(self.addresses) else start


class Core:
    """The kernel's memory, as /proc/kcore shows it: an ELF file with a segment a range."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        headers, size, count = _ELF.unpack_from(os.pread(descriptor, _ELF.size, 0))
        if size != _SEGMENT.size:
            raise NoCode(f"/proc/kcore has program headers of {size} bytes")
        listed = _SEGMENT.iter_unpack(os.pread(descriptor, size * count, headers))
        self._segments = [
            (address, address + length, offset)
            for kind, _, offset, address, _, length, _, _ in listed
            if kind == _LOADED
        ]

    def read(self, address: int, size: int) -> bytes:
        """So many bytes at an address; OSError where there are none."""
        for start, end, offset in self._segments:
            if start <= address and address + size <= end:
                found = os.pread(self._descriptor, size, offset + address - start)
                if len(found) == size:
                    return found
        raise OSError(f"/proc/kcore does not have {size} bytes of the kernel's code")


def code_of(functions: Iterable[Function], symbols: Symbols, core: Core) -> Instructions:
    """Code and samples of as many of the hottest functions as there is room for."""
    kept: list[wire.Function] = []
    room, left_out = MOST_CODE_BYTES, 0
    for function in functions:
        if len(kept) >= MOST_FUNCTIONS:
            left_out += 1
            continue
        for start, part in parts_of(function, symbols).items():
            size = symbols.end(start) - start
            if not 0 < size <= min(room, LONGEST_FUNCTION):
                left_out += 1
                continue
            room -= size
            kept.append(described(part, start, core.read(start, size), symbols.names))
    if not kept:
        raise NoCode("no sample fell into a kernel function that /proc/kallsyms knows")
    return Instructions(detail="", functions=kept, left_out=left_out)


def parts_of(function: Function, symbols: Symbols) -> dict[int, Function]:
    """The function's samples by where it begins: several may have one name."""
    parts: dict[int, Function] = {}
    for address, (samples_, weight) in sorted(function.hits.items()):
        start = symbols.start(function.name, address)
        if start is not None:
            part = parts.setdefault(start, Function(function.name))
            part.add(address, weight, samples_)
    return parts


def described(
    function: Function, start: int, code: bytes, names: Mapping[int, bytes]
) -> wire.Function:
    """A function as instructions.json has it; places are bytes after its start."""
    return wire.Function(
        name=as_text(function.name),
        code=base64.b64encode(code).decode(),
        samples=[[at - start, *hit] for at, hit in sorted(function.hits.items())],
        targets={str(to): as_text(name) for to, name in targets(code, start, names)},
    )


def as_text(name: bytes) -> str:
    """A symbol's name, which is ASCII in C and in assembly."""
    return name.decode("ascii", "replace")[:LONGEST_NAME]


def targets(code: bytes, start: int, names: Mapping[int, bytes]) -> list[tuple[int, bytes]]:
    """Symbols that the code may call, jump to or read, by their distance from its start.

    Every place that can hold a distance is tried, since nothing is disassembled here; what is
    found beside the true ones is looked up by nobody.
    """
    found: dict[int, bytes] = {}
    for at in range(1, len(code) - 3):
        opcode, before_it = code[at - 1], code[at - 2] if at > 1 else 0
        branches = opcode in {0xE8, 0xE9} or (before_it == 0x0F and opcode & 0xF0 == 0x80)
        # A ModRM byte of an operand relative to the next instruction, which may begin
        # after a constant.
        reads = opcode & 0xC7 == 0x05
        if not (branches or reads):
            continue
        distance = int.from_bytes(code[at : at + 4], "little", signed=True)
        for after in (4,) if branches else (4, 5, 6, 8):
            to = at + after + distance
            name = names.get(start + to)
            if name is not None and not 0 <= to < len(code):
                found[to] = name
    return sorted(found.items())[:MOST_TARGETS]
