"""Functions' instructions as a host left them, disassembled in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.instructions import FILE, LONGEST_NAME, MOST_CODE_BYTES, MOST_FUNCTIONS
from mitigauge.core.wire.limits import LARGEST_WHOLE, LONGEST_DETAIL
from mitigauge.storage.files.confined_answer import read_answer
from mitigauge.storage.files.confinement import Limits, run_confined

PROGRAM = Path(__file__).with_name("_disassemble.py")
LONGEST_FILE = 4 << 20
LIMITS = Limits(seconds=20.0, memory_bytes=400 << 20, output_bytes=16 << 20)
# A byte of code is an instruction at most.
MOST_INSTRUCTIONS = MOST_CODE_BYTES

_Count = Annotated[int, Field(ge=0, lt=LARGEST_WHOLE)]
_Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]


class _Function(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Text
    lines: list[tuple[_Count, _Text, _Text]] = Field(min_length=1)
    samples: list[tuple[_Count, _Count, _Count]]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    detail: str = Field(max_length=LONGEST_DETAIL)
    left_out: _Count
    functions: list[_Function] = Field(max_length=MOST_FUNCTIONS)


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction; *place* in bytes after its function's start."""

    place: int
    text: str
    normal: str
    """Without what placing it moves: by this two instructions are the same."""


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """A function as it ran, and where its own samples fell."""

    name: str
    lines: tuple[Line, ...]
    samples: dict[int, tuple[int, int]]
    """By line: how many, and their weight: cycles or nanoseconds."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What one profiled pass left of its hottest functions; *detail*: why there is none."""

    functions: tuple[FunctionCode, ...] = ()
    left_out: int = 0
    detail: str = ""


def read_instructions(directory: Path, *, period: int = 1) -> Instructions:
    """The instructions beside a capture in *directory*; a sample's weight counts *period* times.

    Raises nothing: a profile without them stands, and `detail` says what is wrong.
    """
    path = directory / FILE
    if not path.is_file():
        return Instructions(detail="the host left none")
    if path.stat().st_size > LONGEST_FILE:
        return Instructions(detail=f"{FILE} has over {LONGEST_FILE} bytes")
    try:
        told = run_confined(PROGRAM, [path, str(MOST_INSTRUCTIONS)], name=FILE, limits=LIMITS)
        return _read(told, period)
    except InvalidInput as error:
        return Instructions(detail=clean_text(error.message)[:LONGEST_DETAIL])


def _read(told: bytes, period: int) -> Instructions:
    answer = read_answer(told, _Answer, name=FILE)
    functions = tuple(_function(function, period) for function in answer.functions)
    return Instructions(functions, answer.left_out, clean_text(answer.detail))


def _function(told: _Function, period: int) -> FunctionCode:
    if any(line >= len(told.lines) for line, _, _ in told.samples):
        raise InvalidInput(
            f"{FILE}: a sample of {clean_text(told.name)!r} lies in none of its lines"
        )
    return FunctionCode(
        clean_text(told.name),
        tuple(
            Line(place, clean_text(text), clean_text(normal)) for place, text, normal in told.lines
        ),
        {line: (number, weight * period) for line, number, weight in told.samples},
    )
