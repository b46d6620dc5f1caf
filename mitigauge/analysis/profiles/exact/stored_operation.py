"""An operation in the form in which it is stored: totals in one part, instructions in another.

The second part is made of frames of some thousand instructions each, one after the other: the
instructions of one function are read without the others, and similar ones are packed together. A
row for each function takes a quarter more room, one frame for all of them a hundred times as long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import accumulate, starmap
from typing import Any

import orjson
import zstandard
from pydantic import TypeAdapter

from mitigauge.analysis.profiles.exact.operation import (
    FunctionRuns,
    FunctionTotals,
    Instruction,
    Key,
    LineRuns,
    Operation,
    OperationTotals,
)
from mitigauge.analysis.profiles.store.pack import inflated
from mitigauge.measurement.modes.families import HardwareEvent

LEVEL = 12
# Instructions of a frame: fewer pack worse, more take longer to read for one function.
FRAME_LINES = 1000
# Counted up where what the fields mean changes and their names do not.
VERSION = 3

_FIELDS = tuple(field.name for field in fields(OperationTotals) if field.name != "functions")
_TOTALS = tuple(field.name for field in fields(FunctionTotals))


@dataclass(frozen=True, slots=True)
class Span:
    """Where a frame lies among the packed instructions, in bytes."""

    start: int
    length: int


@dataclass(frozen=True, slots=True)
class _Summary:
    """What the first part holds."""

    # Its functions stand beside it: JSON has no pairs as keys.
    operation: OperationTotals
    functions: list[list[Any]]
    """Of each field all values: to check thousands one by one takes longer than all the rest."""
    frames: tuple[int, ...]
    """How many functions each frame has."""
    lengths: tuple[int, ...]
    """Of each frame, packed."""


_SUMMARY: TypeAdapter[_Summary] = TypeAdapter(_Summary)
_FUNCTION: TypeAdapter[FunctionTotals] = TypeAdapter(FunctionTotals)
_LINE: TypeAdapter[LineRuns] = TypeAdapter(LineRuns)

Columns = Sequence[Sequence[Any]]
"""Instructions of a function: of each field all values. These pack better than whole rows."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An operation as two columns."""

    summary: bytes
    lines: bytes


@cache
def form() -> str:
    """What tells this form from others: rows that were stored in another one are made anew.

    It is of the names and types of all fields, so that a new one needs nothing here.
    """
    schemas = [each.json_schema() for each in (_SUMMARY, _FUNCTION, _LINE)]
    told = orjson.dumps([VERSION, _TOTALS, schemas], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(told).hexdigest()


def events_digest(events: Mapping[str, HardwareEvent]) -> str:
    """What tells these events from others: a bill is of the events that were looked for."""
    told = {name: event.model_dump(mode="json") for name, event in events.items()}
    return hashlib.sha256(orjson.dumps(told)).hexdigest()


def packed(operation: Operation) -> Packed:
    """*operation* as it is stored."""
    frames = list(_frames(list(operation.functions.values())))
    parts = [_packed(orjson.dumps([_columns(each.lines) for each in frame])) for frame in frames]
    totals = {name: getattr(operation, name) for name in _FIELDS}
    summary = _Summary(
        OperationTotals(**totals, functions={}),
        _function_columns([function for frame in frames for function in frame]),
        tuple(len(frame) for frame in frames),
        tuple(len(part) for part in parts),
    )
    return Packed(_packed(_SUMMARY.dump_json(summary)), b"".join(parts))


def _packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def _function_columns(functions: Sequence[FunctionTotals]) -> list[list[Any]]:
    return [[getattr(function, name) for function in functions] for name in _TOTALS]


def _functions(columns: Columns) -> Iterator[FunctionTotals]:
    named = dict(zip(_TOTALS, columns, strict=True))
    named["values"] = [tuple(values) for values in named["values"]]
    return starmap(FunctionTotals, zip(*named.values(), strict=True))


def _columns(lines: Sequence[LineRuns]) -> Columns:
    return list(
        zip(
            *(
                (*each.line, each.values, each.steady, each.taken, each.taken_steady)
                for each in lines
            ),
            strict=True,
        )
    )


def _lines(columns: Columns) -> tuple[LineRuns, ...]:
    return tuple(
        LineRuns(Instruction(*instruction), tuple(values), steady, taken, taken_steady)
        for *instruction, values, steady, taken, taken_steady in zip(*columns, strict=True)
    )


def _frames(functions: Sequence[FunctionRuns]) -> Iterator[list[FunctionRuns]]:
    """Functions in their order, as many as have the instructions of a frame."""
    frame: list[FunctionRuns] = []
    for function in functions:
        frame.append(function)
        if sum(each.line_count for each in frame) >= FRAME_LINES:
            yield frame
            frame = []
    if frame:
        yield frame


class StoredOperation:
    """The totals of a stored operation, and where the instructions of its functions are."""

    def __init__(self, summary: bytes) -> None:
        """Raises ``ValueError`` for what :func:`packed` did not make."""
        found = _SUMMARY.validate_json(inflated(summary))
        self._functions = {(each.module, each.name): each for each in _functions(found.functions)}
        self._frames = found.frames
        self._lengths = found.lengths
        totals = {name: getattr(found.operation, name) for name in _FIELDS}
        self.totals = OperationTotals(**totals, functions=self._functions)

    def span_of(self, key: Key) -> Span | None:
        """The frame with the instructions of a function; None where it has none."""
        function = self._functions.get(key)
        if function is None or not function.line_count:
            return None
        number, _ = self._place_of(key)
        return Span(sum(self._lengths[:number]), self._lengths[number])

    def lines_in(self, frame: bytes, key: Key) -> tuple[LineRuns, ...]:
        """The instructions of a function in its frame."""
        return _lines(orjson.loads(inflated(frame))[self._place_of(key)[1]])

    def whole(self, lines: bytes) -> Operation:
        """The operation with the instructions of all functions."""
        ends = accumulate(self._lengths)
        parts = [lines[end - size : end] for end, size in zip(ends, self._lengths, strict=True)]
        every = [_lines(each) for part in parts for each in orjson.loads(inflated(part))]
        functions = {
            key: FunctionRuns(**{name: getattr(of, name) for name in _TOTALS}, lines=own)
            for (key, of), own in zip(self._functions.items(), every, strict=True)
        }
        return Operation(
            **{name: getattr(self.totals, name) for name in _FIELDS}, functions=functions
        )

    def _place_of(self, key: Key) -> tuple[int, int]:
        """The number of a function's frame, and its own number there."""
        place = list(self._functions).index(key)
        for number, count in enumerate(self._frames):
            if place < count:
                return number, place
            place -= count
        raise ValueError(f"{key[1]} of {key[0]} is in no frame of the stored operation")
