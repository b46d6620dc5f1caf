"""What a diff answers as a list of functions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.wire.profile import System


class _Answer(BaseModel):
    """Closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FunctionRow(_Answer):
    """What a function costs itself on both sides, in the table's unit; + is costlier in B."""

    function: str
    a: float
    b: float
    difference: float
    low: float | None = Field(None, description="of the difference, 95 %; none without replicates")
    high: float | None = None
    q: float | None = None
    mark: str = Field("", description="new or gone, where one side has none of it")
    was: str = Field("", description="its name in A's kernel, where B's has another one")


class FunctionTable(_Answer):
    """Functions of a diff, the largest difference first."""

    title: str
    a: str
    b: str
    boots_a: int
    boots_b: int
    host: str
    system: System
    emulated: bool
    counted: bool
    event: str
    basis: str
    unit: str
    functions: list[FunctionRow]


Mark = Literal["", "new", "gone"]


class _Figures(_Answer):
    """What instructions cost on both sides, in the table's unit; + is costlier in B."""

    a: float | None = Field(description="none where no boot of A counts")
    b: float | None
    difference: float | None
    low: float | None = Field(None, description="of the difference, 95 %; none without replicates")
    high: float | None = None
    q: float | None = Field(None, description="over the instructions of this function")


class InstructionRow(_Figures):
    """An instruction on both sides, or on the one that has it."""

    place_a: int | None = Field(description="bytes after the function's start; none: A lacks it")
    text_a: str
    place_b: int | None
    text_b: str
    samples_a: int = Field(description="of all boots together")
    samples_b: int
    mark: Mark


class InstructionSum(_Figures):
    """All instructions that both sides have, or that one of them has."""

    kind: Literal["both", "new", "gone"]
    instructions: int


class InstructionPart(_Answer):
    """A run of code: a function, or a part that the compiler put elsewhere (`f.cold`)."""

    name_a: str = Field(description="empty where A lacks it")
    name_b: str
    rows: list[InstructionRow]


class InstructionTable(_Answer):
    """A function's instructions on both sides, as the kernel patched them in memory."""

    title: str
    function: str
    a: str
    b: str
    boots_a: int
    boots_b: int
    missing_a: int = Field(description="boots whose code of this function was not kept")
    missing_b: int
    other_code_a: int = Field(description="boots left out: their code is not that of most")
    other_code_b: int
    host: str
    system: System
    emulated: bool
    counted: bool
    event: str
    basis: str
    unit: str
    skid: str = Field(description="how far a sample may stand from what took the time")
    why_none: str = Field("", description="why there is no instruction to show")
    functions: list[str] = Field(description="those with instructions, the hottest first")
    sums: list[InstructionSum]
    parts: list[InstructionPart]
