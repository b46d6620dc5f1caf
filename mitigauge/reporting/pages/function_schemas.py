"""Functions of a case's profiles over all its arms: what the API, command and page show."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mitigauge.core.view import View
from mitigauge.core.wire.profile import System

FunctionSort = Literal["difference", "cost", "q", "name"]
Measure = Literal["self", "total"]


class FunctionCost(View):
    """What a function costs in one arm, in the view's unit."""

    own: float = Field(description="by itself")
    total: float = Field(description="with all that it calls; recursion counted once")
    difference: float | None = Field(
        None, description="of the asked measure, from the baseline; + is costlier"
    )
    low: float | None = None
    high: float | None = None
    q: float | None = Field(None, description="over the functions of all arms together")
    name: str = Field("", description="what the arm's kernel calls it, where that differs")


class FunctionOverArms(View):
    """One function; a cell for each arm, null where the arm has no profile."""

    function: str
    cells: list[FunctionCost | None]


class ArmTotal(View):
    """A column: an arm and what everything costs in it."""

    arm_id: int
    arm: str
    is_baseline: bool
    profiles: int
    total: float | None = Field(None, description="mean cost of everything, in the unit")


class FunctionsView(View):
    """Some functions of a case on a host over all arms."""

    experiment_id: int
    experiment: str
    case_id: int
    case: str
    host: str
    emulated: bool
    counted: bool
    system: System
    systems: list[System] = Field(description="those of which the case has profiles")
    event: str = Field(description="empty where there is no profile yet")
    unit: str
    basis: str
    bases: list[str]
    measure: Measure
    arms: list[ArmTotal] = Field(description="the baseline first")
    functions: list[FunctionOverArms]
    offset: int
    found: int = Field(description="functions that fit the search")
    most: float = Field(description="largest cost of the asked measure of any arm: a common scale")
