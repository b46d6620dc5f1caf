"""An export file's lines: one JSON object each, compressed by zstd, a checksum at the end. Pure.

The first line is the header, the last one the end. Between them stand rows of tables, parents
before children; profiles, each followed by its stacks; and raw files in parts. A file may come
from anybody: every limit holds while it is read, and a refusal names the line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Final, Literal

import orjson
import zstandard
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mitigauge.core.errors import InvalidInput, TooLarge
from mitigauge.core.hostile_text import HOSTILE, clean_text

FORMAT: Final = 1
SUFFIX: Final = ".mitigauge.zst"
# Of the file as it is, of all its lines, and of one; what holds more comes in parts.
LARGEST_FILE = 512 << 20
LARGEST = 2 << 30
LONGEST_LINE = 4 << 20
# Of a row: what is read at once stays small, however it was made up.
LONGEST_ROW = 1 << 20
MOST_LINES = 3_000_000
# Memory that the decompressor may be asked for.
LARGEST_WINDOW = 1 << 27
# Bytes of stacks, or of a raw file, in one line; twice as many where they are escaped.
PART_BYTES = 1 << 20
PIECE_BYTES = 1 << 20
LEVEL = 19


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Header(_Closed):
    """What a file holds; its first line."""

    kind: Literal["mitigauge experiment"] = "mitigauge experiment"
    format: int
    revision: str = Field(pattern=r"^[0-9a-z_]{1,40}$", description="of the schema")
    experiment_id: int
    name: str = Field(max_length=1000)
    exported_at: datetime
    recorded_at: datetime = Field(description="when the experiment ended")
    recorded_from: str = Field(max_length=4000, description="hosts and their clocks, for people")


class Row(_Closed):
    """One row of a table, by column."""

    table: str
    row: dict[str, Any]


class ProfileLine(_Closed):
    """A profile's columns, without those that follow from its stacks."""

    profile: dict[str, Any]
    tree: str


class StacksLine(_Closed):
    """Folded stacks, with their counts, of the profile before."""

    stacks: dict[str, int]


class BlobLine(_Closed):
    """A part of a raw file, in base 64; parts of one file follow each other."""

    blob: str = Field(pattern=r"^[0-9a-f]{64}$")
    part: str


class End(_Closed):
    """How many lines stand before it, and the SHA-256 of these."""

    lines: int
    sha256: str


Line = Row | ProfileLine | StacksLine | BlobLine
_LINE: TypeAdapter[Line] = TypeAdapter(Row | ProfileLine | StacksLine | BlobLine)


def refused(name: str, reason: str) -> InvalidInput:
    """The error for a file that is not taken."""
    return InvalidInput(
        f"{clean_text(name)}: {reason}",
        hint="Nothing of it was stored. `mitigauge experiment export` writes such files.",
    )


def json_line(value: BaseModel) -> bytes:
    """One line, without its end."""
    return value.model_dump_json().encode()


@dataclass(slots=True)
class Writer:
    """Writes a file: :meth:`add` each line, then :meth:`close`."""

    stream: BinaryIO
    lines: int = 0
    _digest: Any = field(default_factory=hashlib.sha256)
    _out: Any = None

    def __post_init__(self) -> None:
        compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self._out = compressor.stream_writer(self.stream, closefd=False)

    def add(self, line: bytes) -> None:
        """Write one line, whose end is added. Raises :class:`TooLarge` if no reader took it."""
        if len(line) > LONGEST_LINE or self.lines >= MOST_LINES:
            raise TooLarge(
                f"line {self.lines + 1} of {len(line)} bytes is more than an export can hold",
                hint=f"It holds {MOST_LINES:,} lines of {LONGEST_LINE >> 20} MiB.",
            )
        self._digest.update(line + b"\n")
        self._out.write(line + b"\n")
        self.lines += 1

    def close(self) -> None:
        """Write the last line."""
        end = End(lines=self.lines, sha256=self._digest.hexdigest())
        self._out.write(json_line(end) + b"\n")
        self._out.close()


def stacks_lines(stacks: Iterable[tuple[str, int]]) -> Iterator[bytes]:
    """Stacks in lines of a size that readers take."""
    part: dict[str, int] = {}
    size = 0
    for stack, count in stacks:
        if part and size + len(stack) > PART_BYTES:
            yield json_line(StacksLine(stacks=part))
            part, size = {}, 0
        part[stack] = count
        size += len(stack)
    if part:
        yield json_line(StacksLine(stacks=part))


def check(stream: BinaryIO, name: str) -> Header:
    """Read a file to its end, and see that it is whole: limits, checksum, nothing behind.

    Raises :class:`InvalidInput`.
    """
    digest, header, end, count = hashlib.sha256(), None, None, 0
    for line, number in _raw_lines(stream, name):
        if header is None:
            header = _header(line, name)
        if end is not None:
            raise refused(name, f"line {number}: nothing may stand behind the end")
        if line.startswith(b'{"lines":'):
            end = _end(line, name, number)
        else:
            digest.update(line + b"\n")
            count += 1
    if header is None or end is None:
        raise refused(name, "it is cut off: its last line is missing")
    if end.lines != count or end.sha256 != digest.hexdigest():
        raise refused(name, "it is damaged: its lines are not those that its checksum is of")
    return header


def read_lines(stream: BinaryIO, name: str) -> Iterator[tuple[Line, int]]:
    """All lines between header and end, each with its number. Raises :class:`InvalidInput`."""
    for line, number in _raw_lines(stream, name):
        if number == 1 or line.startswith(b'{"lines":'):
            continue
        try:
            found = _LINE.validate_python(orjson.loads(line))
        except (orjson.JSONDecodeError, ValidationError, RecursionError):
            raise refused(name, f"line {number} is neither row, profile nor raw file") from None
        if isinstance(found, Row) and len(line) > LONGEST_ROW:
            raise refused(name, f"line {number}: a row of {len(line)} bytes")
        _require_text(found, name, number)
        yield found, number


def _require_text(line: Line, name: str, number: int) -> None:
    """Refuse what PostgreSQL cannot hold and what a terminal would obey."""
    if isinstance(line, BlobLine):
        return
    if found := HOSTILE.search("\n".join(_texts(line.model_dump()))):
        raise refused(name, f"line {number} has the character U+{ord(found[0]):04X} in a text")


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value, its keys too; without recursion, since others chose its depth."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(value.keys())
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _header(line: bytes, name: str) -> Header:
    try:
        header = Header.model_validate_json(line)
    except ValidationError:
        raise refused(name, "its first line is not the header of an exported experiment") from None
    if header.format != FORMAT:
        raise refused(name, f"its format is {header.format}; this version reads {FORMAT}")
    if HOSTILE.search(header.name + header.recorded_from):
        raise refused(name, "its header has characters that a terminal would obey")
    return header


def _end(line: bytes, name: str, number: int) -> End:
    try:
        return End.model_validate_json(line)
    except ValidationError:
        raise refused(name, f"line {number}: it is damaged: its end cannot be read") from None


def _raw_lines(stream: BinaryIO, name: str) -> Iterator[tuple[bytes, int]]:
    """Lines without their ends, with their numbers from 1 on."""
    rest, number = b"", 0
    for piece in _pieces(stream, name):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            yield line, number
        if len(rest) > LONGEST_LINE or number > MOST_LINES:
            raise refused(name, f"line {number + 1} is over {LONGEST_LINE >> 20} MiB, or too many")
    if rest:
        raise refused(name, f"it is cut off in line {number + 1}")


def _pieces(stream: BinaryIO, name: str) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    total = 0
    try:
        with decompressor.stream_reader(stream, closefd=False, read_across_frames=False) as plain:
            while piece := plain.read(PIECE_BYTES):
                total += len(piece)
                if total > LARGEST:
                    raise refused(name, f"it unpacks to more than {LARGEST >> 30} GiB")
                yield piece
    except zstandard.ZstdError as error:
        raise refused(name, f"it is damaged, or no zstd file: {clean_text(str(error))}") from None
