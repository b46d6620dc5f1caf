"""Series of one collector beside one case: read from what a host left, packed, and unpacked. Pure.

A host may be hostile. Its files are bounded before they are read, hold whole numbers only, and
whatever is no such file is refused by name.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire import collectors as wire
from mitigauge.core.wire.collectors import COUNT, Kind

Longs = NDArray[np.int64]

# Twice what the kit writes at most, and some columns more.
MOST_SAMPLES: Final = 2 * wire.MOST_SAMPLES
MOST_COLUMNS: Final = wire.MOST_COLUMNS + 4
LONGEST_HEAD: Final = 8 << 10
LARGEST_FILE: Final = 3 << 20
LARGEST_SUMMARY: Final = 64 << 10
LONGEST_REASON: Final = 300
# Digits of a number below 2**63.
_NUMBERS = re.compile(rb"(?:[0-9]{1,18}[ \n])*")
_HEADER = struct.Struct("<4sII")
_MAGIC = b"MGC1"
LEVEL: Final = 12

Column = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]{1,40}$")]


class _Head(BaseModel):
    """First line of a series' file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    collector: str = Field(max_length=40)
    columns: list[Annotated[tuple[Column, Kind], Field(strict=False)]] = Field(
        min_length=1, max_length=MOST_COLUMNS
    )


class Summary(BaseModel):
    """What collecting cost, and what the host has not."""

    model_config = ConfigDict(extra="forbid", strict=True)

    absent: dict[
        Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=4 * LONGEST_REASON)]
    ] = Field(max_length=50)
    processors: int = Field(ge=1, le=1 << 16)
    spent_ns: int = Field(ge=0, lt=1 << 62)
    lasted_ns: int = Field(ge=1, lt=1 << 62)
    samples: int = Field(ge=0, le=MOST_SAMPLES)

    @property
    def cost_percent(self) -> float:
        """Part of the time of all processors that collecting took."""
        return 100.0 * self.spent_ns / (self.lasted_ns * self.processors)


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of one collector."""

    collector: str
    columns: dict[str, Kind]
    times_ns: Longs
    """[samples], of the host's monotonic clock, ascending."""
    values: Longs
    """[columns, samples]; a count has no gap where its source began again at nothing."""

    def column(self, name: str) -> Longs | None:
        """The samples of one column; None where it is not there."""
        names = list(self.columns)
        return self.values[names.index(name)] if name in self.columns else None


def read_summary(path: Path) -> Summary:
    """collected.json. Raises :class:`InvalidInput`."""
    try:
        return Summary.model_validate(orjson.loads(_bounded(path, LARGEST_SUMMARY)))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise _refused(path, f"no summary of collectors: {_first(error)}") from None


def read_series(path: Path, collector: str) -> Samples:
    """The series in *path*, which must be of *collector*. Raises :class:`InvalidInput`."""
    head_line, _, body = _bounded(path, LARGEST_FILE).partition(b"\n")
    if len(head_line) > LONGEST_HEAD:
        raise _refused(path, f"a first line of {len(head_line)} bytes")
    try:
        head = _Head.model_validate(orjson.loads(head_line))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise _refused(path, f"its first line: {_first(error)}") from None
    names = dict(head.columns)
    if head.collector != collector or len(names) != len(head.columns):
        raise _refused(path, "its first line is of another collector, or names a column twice")
    return Samples(collector, names, *_samples(path, body, list(names.values())))


def _samples(path: Path, body: bytes, kinds: list[Kind]) -> tuple[Longs, Longs]:
    if not _NUMBERS.fullmatch(body):
        raise _refused(path, "there is something else in it than whole numbers")
    lines, width = body.count(b"\n"), len(kinds) + 1
    numbers = body.split()
    if not 2 <= lines <= MOST_SAMPLES or len(numbers) != lines * width:
        raise _refused(path, f"{len(numbers)} numbers in {lines} lines, of {width} each")
    if any(line.count(b" ") != len(kinds) for line in body.splitlines()):
        raise _refused(path, f"a line has not {width} numbers")
    table = np.array(numbers, dtype=np.bytes_).astype(np.int64).reshape(lines, width).T
    times, values = table[0], table[1:].copy()
    if (np.diff(times) <= 0).any():
        raise _refused(path, "its times do not ascend")
    for row, kind in zip(values, kinds, strict=True):
        if kind == COUNT:
            row[:] = _without_restarts(row)
    return times, values


def _without_restarts(counts: Longs) -> Longs:
    """*counts* made to ascend: where they fall, their source began again at nothing.

    KVM's counts fall when a guest ends.
    """
    steps = np.diff(counts)
    steps = np.where(steps < 0, counts[1:], steps)
    # Of a hostile host the sum of all restarts could be too large for a number.
    if float(np.sum(steps, dtype=np.float64)) + float(counts[0]) >= 2.0**63:
        return np.zeros_like(counts)
    return np.concatenate([counts[:1], counts[0] + np.cumsum(steps)])


def packed(series: Samples) -> bytes:
    """*series* in a few bytes a sample: differences, byte by byte, compressed."""
    table = np.vstack([series.times_ns, series.values])
    steps = np.diff(table, axis=1, prepend=0).astype("<i8")
    # The upper bytes of most differences are alike: they stand together.
    planes = steps.reshape(-1).view(np.uint8).reshape(-1, 8).T.tobytes()
    head = orjson.dumps({"collector": series.collector, "columns": list(series.columns.items())})
    body = zstandard.ZstdCompressor(level=LEVEL).compress(planes)
    return _HEADER.pack(_MAGIC, len(head), table.shape[1]) + head + body


def unpacked(data: bytes) -> Samples:
    """What :func:`packed` was given. Raises ``ValueError`` for what is not ours, or damaged."""
    try:
        magic, length, samples = _HEADER.unpack_from(data)
        if magic != _MAGIC or length > LONGEST_HEAD or not 2 <= samples <= MOST_SAMPLES:
            raise ValueError("no packed series")
        head = _Head.model_validate(orjson.loads(data[_HEADER.size : _HEADER.size + length]))
        size = 8 * samples * (len(head.columns) + 1)
        body = data[_HEADER.size + length :]
        if zstandard.frame_content_size(body) != size:
            raise ValueError("damaged series: another size than its head says")
        planes = zstandard.ZstdDecompressor().decompress(body, max_output_size=size)
    except (struct.error, zstandard.ZstdError, orjson.JSONDecodeError) as error:
        raise ValueError(f"damaged series: {error}") from error
    steps = np.frombuffer(planes, np.uint8).reshape(8, -1).T.copy().view("<i8").reshape(-1, samples)
    table = np.cumsum(steps, axis=1).astype(np.int64)
    return Samples(head.collector, dict(head.columns), table[0], table[1:])


def _bounded(path: Path, most: int) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise _refused(path, "it is missing")
    size = path.stat().st_size
    if size > most:
        raise _refused(path, f"{size} bytes, at most {most}")
    return path.read_bytes()


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))[:100]}: {first['msg'][:200]}"
    return str(error)[:200]


def _refused(path: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"collected/{path.name}: {why}", hint="The case's figures stand; its series do not."
    )
