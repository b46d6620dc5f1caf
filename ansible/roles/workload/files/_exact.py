"""A case once more while the emulator counts every block: what runner.py does after the profiles.

The pass leaves in the case's `exact/` what the emulator counted of each window, as it came, and
exact.json: how it went, and which functions lie where. Standard library only; staged beside the
runner.
"""

from __future__ import annotations

import bisect
import os
import re
import socket
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from _cases import run_logged, workload_command, write_json
from _elf import functions_of
from _instructions import KALLSYMS, KERNEL
from _kit.program_maps import mappings
from _kit.wire import exact as wire
from _kit.wire.case import Case
from _kit.wire.exact import (
    FORM,
    LETTERS,
    MAPS,
    MARKS_VARIABLE,
    MOST_SYMBOLS,
    PACKED_BYTES,
    START,
    WINDOW,
    WINDOW_BYTES,
    Exact,
    Symbol,
    Window,
)
from _kit.wire.limits import LONGEST_DETAIL
from _kit.wire.profile import FAILED, OK
from _profiling import repeated_case, run_facts

CONNECT_LIMIT_S, ANSWER_LIMIT_S = 20, 120
LONGEST_LINE = 400
LARGEST_LIBRARY = 1 << 20
# address, runs and taken branches of the host and of its guest, page, instructions, bytes, stops of
# the host and of its guest
HEAD = struct.Struct(START)
BLOCK = struct.Struct("<QQQQQIHHHH")
STOP = struct.Struct("<HQ")


class ExactError(Exception):
    """There are no exact counts of this case; the text says why."""


def asked(source: str, line: str, most: int) -> bytes:
    """What the emulator at *source* answers to *line*, still compressed."""
    host, _, port = source.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), CONNECT_LIMIT_S) as connection:
            connection.settimeout(ANSWER_LIMIT_S)
            connection.sendall(f"{line}\n".encode())
            with connection.makefile("rb") as told:
                return answered(told, most)
    except (OSError, ValueError) as error:
        raise ExactError(f"{source}: {line}: {error}") from None


def answered(told: BinaryIO, most: int) -> bytes:
    """The bytes of an answer; ValueError for one that is none, or longer than *most*."""
    said = told.readline(LONGEST_LINE).decode("ascii", "replace").strip()
    size = re.fullmatch(r"ok ([0-9]{1,12})", said)
    if not size:
        raise ValueError(said or "no answer")
    if int(size[1]) > most:
        raise ValueError(f"{size[1]} bytes, over {most}")
    body = told.read(int(size[1]))
    if len(body) != int(size[1]):
        raise ValueError(f"{len(body)} of {size[1]} bytes came")
    return body


def inflated(packed: bytes, most: int) -> bytes:
    """What was compressed; ExactError for what is not, or is longer than *most*."""
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, most)
    except zlib.error as error:
        raise ExactError(f"what the emulator counted is torn: {error}") from None
    if not unpacker.eof:
        raise ExactError(f"what the emulator counted is longer than {most} bytes, or torn")
    return body


def blocks_begin(body: bytes) -> int:
    """Where the blocks of a window begin; ExactError for what is no window."""
    if body[:4] != LETTERS or len(body) < len(LETTERS) + HEAD.size:
        raise ExactError("what the emulator counted is no window")
    form: int
    size: int
    form, size = HEAD.unpack_from(body, len(LETTERS))
    if form != FORM:
        raise ExactError(f"the emulator writes windows in form {form}, not {FORM}")
    return len(LETTERS) + HEAD.size + size


def addresses(body: bytes) -> Iterator[int]:
    """Where each instruction of a window lies; ExactError for what is no window."""
    at = blocks_begin(body)
    while at < len(body):
        try:
            address, *_, instructions, length, of_host, of_guest = BLOCK.unpack_from(body, at)
        except struct.error:
            raise ExactError("what the emulator counted is torn") from None
        at += BLOCK.size
        for size in body[at : at + instructions]:
            yield address
            address += size
        at += instructions + length + (of_host + of_guest) * STOP.size


def kernel_symbols(lines: Iterable[bytes], of: Collection[int]) -> Iterator[Symbol]:
    """The kernel's functions that one of the addresses lies in, from what /proc/kallsyms says."""
    names: dict[int, tuple[str, str]] = {}
    for line in lines:
        address, kind, name, *module = line.decode("ascii", "replace").split()
        at = int(address, 16)
        if at >= KERNEL and kind in "tTwW":
            names.setdefault(at, (name, module[0].strip("[]") if module else "kernel"))
    yield from among(names, max(names, default=0) + 1, of)


def among(names: dict[int, tuple[str, str]], end: int, of: Collection[int]) -> Iterator[Symbol]:
    """Those of the named places that an address lies in; each ends where the next begins."""
    starts = [*sorted(names), end]
    found = {bisect.bisect_right(starts, address) - 1 for address in of}
    for place in sorted(found):
        if 0 <= place < len(starts) - 1:
            yield (starts[place], starts[place + 1], *names[starts[place]])


def user_symbols(maps: str, of: Sequence[int]) -> Iterator[Symbol]:
    """Functions of mapped files that one of the addresses lies in; a file where none is known.

    *of*: in order.
    """
    for start, end, base, path in mappings(maps):
        inside = of[bisect.bisect_left(of, start) : bisect.bisect_left(of, end)]
        if inside:
            yield from file_symbols(Path(path), base, start, end, inside)


def file_symbols(
    path: Path, base: int, start: int, end: int, of: Sequence[int]
) -> Iterator[Symbol]:
    """The same of one file, whose byte 0 lies at *base*."""
    # A compiler has tens of thousands of functions and runs hundreds of thousands of addresses.
    is_told = bytearray(len(of))
    for first, last, name in functions_of(path):
        here = slice(bisect.bisect_left(of, base + first), bisect.bisect_left(of, base + last))
        if not all(is_told[here]):
            is_told[here] = b"\1" * (here.stop - here.start)
            yield base + first, base + last, name, path.name
    if not all(is_told):
        yield start, end, "", path.name


def count_case(case: Case, workloads: Path, timed: Path, source: str) -> Exact:
    """Run the case in its windows; what the emulator counted stands in `timed`/exact."""
    output = timed / wire.DIRECTORY
    output.mkdir()
    library = inflated(asked(source, "marks", LARGEST_LIBRARY), LARGEST_LIBRARY)
    repeated = {**repeated_case(case, timed), "profiled": False, "counted": True}
    # Calls enough that what happens once a window is no part of one.
    repeated["parameters"] = {**case["parameters"], **once(timed)}
    with tempfile.TemporaryDirectory() as directory:
        marks = Path(directory, "marks.so")
        marks.write_bytes(library)
        os.environ[MARKS_VARIABLE] = str(marks)
        try:
            code = run_logged(
                workload_command(repeated, workloads, output), output, case["timeout_s"]
            )
        finally:
            del os.environ[MARKS_VARIABLE]
    if code:
        tail = (output / "stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ExactError(f"the counted pass ended with {code}: {tail}")
    windows = told_windows(output)
    return Exact(
        state=OK, detail="", windows=windows, symbols=list(symbols_of(windows, output, source))
    )


def once(timed: Path) -> dict[str, Any]:
    """The work of one timed iteration, where the workload told it."""
    loops = run_facts(timed).get("loops")
    return {"loops": loops} if isinstance(loops, int) else {}


def told_windows(output: Path) -> list[Window]:
    """What run.json says of its windows."""
    told = run_facts(output).get("exact")
    if not isinstance(told, list) or not told:
        raise ExactError("the workload's `run` told of no window")
    return [
        Window(number=int(each["number"]), operations=int(each["operations"]),
               seconds=float(each["seconds"]))
        for each in told
    ]  # fmt: skip


def symbols_of(windows: Sequence[Window], output: Path, source: str) -> Iterator[Symbol]:
    """Fetch each window into *output*, and say which functions its blocks lie in."""
    places: set[int] = set()
    found: set[Symbol] = set()
    for window in windows:
        number = window["number"]
        packed = asked(source, f"window {number}", PACKED_BYTES)
        (output / WINDOW.format(number)).write_bytes(packed)
        here = set(addresses(inflated(packed, WINDOW_BYTES)))
        places |= here
        maps = output / MAPS.format(number)
        if maps.is_file():
            users = sorted(address for address in here if address < KERNEL)
            found |= set(user_symbols(maps.read_text(errors="replace"), users))
            maps.unlink()
    with KALLSYMS.open("rb") as lines:
        found |= set(kernel_symbols(lines, sorted(at for at in places if at >= KERNEL)))
    if len(found) > MOST_SYMBOLS:
        raise ExactError(f"{len(found)} functions ran, over {MOST_SYMBOLS}")
    yield from sorted(found)


def exact_case(case: Case, workloads: Path, timed: Path, source: str) -> None:
    """The case's counted pass in `timed`/exact, exact.json saying how it went."""
    said = Exact(state=FAILED, detail="")
    try:
        said = count_case(case, workloads, timed, source)
    except ExactError as error:
        said["detail"] = str(error)[:LONGEST_DETAIL]
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        said["detail"] = f"exact counts: {error!r}"[:LONGEST_DETAIL]
    directory = timed / wire.DIRECTORY
    if said["state"] != OK:
        for path in directory.glob(WINDOW.format("*")):
            path.unlink()
    if directory.is_dir():
        write_json(directory / wire.FILE, cast("dict[str, Any]", said))
