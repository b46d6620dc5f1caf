"""What a diff answers as a list of functions."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.profiles.store.tables import System


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
