"""What a pass tells besides its metrics: a curve over a load, and breakdowns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class Point(TypedDict):
    """The curve at one load; no value where too little was done there to tell."""

    load: float
    count: float
    value: float | None


class Reached(TypedDict):
    """The load at which the curve first reaches a threshold; none where it never does."""

    threshold: float
    load: float | None


class PassDetails(TypedDict, total=False):
    """Of one measured iteration. A breakdown: row → figure → value."""

    curve: list[Point]
    reached: list[Reached]
    breakdowns: Mapping[str, Mapping[str, Mapping[str, float | None]]]
