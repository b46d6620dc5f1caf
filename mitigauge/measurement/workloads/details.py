"""What a workload tells of a pass besides its metrics, as ``workload.yml`` declares it. Pure.

A curve over a load with the loads at which it reaches thresholds, and breakdowns: tables of figures
by something that a pass has several of (phases, kinds of actions).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from mitigauge.core.field_types import Closed, Name, Text
from mitigauge.core.wire.result import Direction

MOST_BREAKDOWNS = 8
MOST_ROWS = 64
MOST_FIGURES = 32
Entry = TypeVar("Entry")


def _pairs(entries: Mapping[str, Any]) -> list[list[Any]]:
    return [[name, entry] for name, entry in entries.items()]


def _of_pairs(given: object) -> object:
    if isinstance(given, list) and all(isinstance(p, list) and len(p) == 2 for p in given):
        return {str(name): entry for name, entry in given}
    return given


# Stored as pairs: PostgreSQL keeps the order of a list, but not that of an object's names.
Ordered = Annotated[dict[Name, Entry], BeforeValidator(_of_pairs), PlainSerializer(_pairs)]


class Figure(Closed):
    """One quantity of a curve or a breakdown."""

    title: Text
    unit: Text
    direction: Direction
    help: Text = ""


class Curve(Closed):
    """A value over a load that a pass raises step by step."""

    title: Text
    load: Text = Field(description="what is raised, as the axis says it: sessions")
    count: Text = Field(description="what a point is the mean of: warm actions")
    value: Figure
    reached: Figure = Field(description="the load at which the value first reaches a threshold")
    threshold: Name | None = Field(
        None, description="the parameter that holds the case's own threshold"
    )


class Breakdown(Closed):
    """Figures by something that a pass has several of."""

    title: Text
    of: Text = Field(description="what a row is: phase")
    help: Text = ""
    choose: Literal["row", "figure"] = Field(
        "figure", description="what a page shows one of at a time, the other one down its side"
    )
    rows: Ordered[Text] = Field(min_length=1, max_length=MOST_ROWS)
    figures: Ordered[Figure] = Field(min_length=1, max_length=MOST_FIGURES)


class Details(Closed):
    """All that a workload tells besides its metrics."""

    curve: Curve | None = None
    breakdowns: Ordered[Breakdown] = Field(default_factory=dict, max_length=MOST_BREAKDOWNS)

    @model_validator(mode="after")
    def _has_any(self) -> Details:
        if self.curve is None and not self.breakdowns:
            raise ValueError("details without a curve or a breakdown tell nothing")
        return self
