"""What a comparison of exact counts answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.profiles.diff.sides import Selection

Mark = Literal["", "new", "gone", "renamed"]
FootprintFigure = Literal[
    "lines",
    "pages",
    "taken",
    "indirect",
    "returns",
]


class _Answer(BaseModel):
    """Closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExactSide(_Answer):
    """One side: the mean of its boots, of one operation."""

    label: str
    of: Selection
    boots: int
    instructions: float = Field(description="all that ran, whatever it was for")
    steady: int = Field(description="of them, those that each operation ran, each time as often")
    counted_ns: float = Field(description="what the instructions take in counted time")
    measured_ns: float = Field(description="what the workload measured of the same operations")
    lines: float = Field(description="of 64 bytes of code that each operation runs through")
    pages: float = Field(description="of 4 KiB of code that each operation runs through")
    missing: list[str] = Field(description="why boots of this side have no counts")


class ExactFunctionRow(_Answer):
    """Instructions of a function an operation; + is more in B."""

    function: str = Field(description="empty: what no symbol covers")
    module: str = Field(description="kernel, a module of it, or a program's file")
    was: str = Field("", description="its name in A's kernel, where B's has another one")
    a: float
    b: float
    difference: float
    exact: int | None = Field(
        description="the difference as a whole number, where both sides ran the same each time"
    )
    low: float | None = Field(None, description="of the difference, 95 %; where boots differ")
    high: float | None = None
    mark: Mark = ""


class ExactLineRow(_Answer):
    """An instruction on both sides; a side that lacks it has no place and no text."""

    place_a: int | None
    place_b: int | None
    text_a: str
    text_b: str
    a: float = Field(description="how often an operation runs it")
    b: float
    repeats_a: float = Field(
        0.0, description="of them, those of one string instruction that repeats itself"
    )
    repeats_b: float = 0.0
    mark: Mark = ""


class FootprintRow(_Answer):
    """What each operation asks of caches and branch predictors, counted in pieces, not in time."""

    figure: FootprintFigure
    title: str
    a: float
    b: float
    difference: float
    exact: int | None = Field(
        description="the difference as a whole number, where all boots of each side agree"
    )


class BillRow(_Answer):
    """How often an operation does what costs on real processors; counted, not priced."""

    event: str
    title: str
    a: float
    b: float
    difference: float
    exact: int | None = Field(
        description="the difference as a whole number, where both sides did it the same each time"
    )


class PredictedPart(_Answer):
    """What one event adds to a prediction."""

    event: str
    times: float = Field(description="more of it an operation in B, or fewer")
    ns: float
    source: str = Field(description="who says what it costs")


class PredictedCost(_Answer):
    """What the difference costs an operation on a processor: predicted, never measured."""

    processor: str
    title: str
    ns: float
    low: float = Field(description="95 %, of the errors of the prices")
    high: float
    parts: list[PredictedPart]
    missing: list[str] = Field(description="events that differ and have no price there")


class ExactTable(_Answer):
    """Two arms of a case by exact counts, the largest difference first."""

    title: str
    host: str
    a: ExactSide
    b: ExactSide
    why_none: str = Field(description="why there is nothing to compare; empty otherwise")
    difference: float = Field(description="instructions an operation, B - A")
    exact: int | None = Field(
        description="of those that each operation runs, the same number each time, B - A; none "
        "where a function has others beside them"
    )
    low: float | None = Field(None, description="of the difference, 95 %; where boots differ")
    high: float | None = None
    functions: list[ExactFunctionRow]
    left_out: int = Field(description="functions beyond the longest list, of the least difference")
    footprint: list[FootprintRow]
    bill: list[BillRow] = Field(description="events that either side has")
    predictions: list[PredictedCost] = Field(description="one for each processor with prices")
    function: str = Field(description="whose instructions are listed; empty: of none")
    instructions: list[ExactLineRow]
