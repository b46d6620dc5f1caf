"""Which values a quantity can have: what lies outside was never measured. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

TIMES = frozenset({"ns", "us", "µs", "ms", "s", "min", "h"})
SHARES = frozenset({"%", "percent"})
# Of one of a unit, in seconds.
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
# Less than any clock tells, and more than anybody waits.
SHORTEST_S, LONGEST_S = 1e-13, 1e9
# What any other quantity may be, but for 0.
SMALLEST, LARGEST = 1e-15, 1e20
# Ticks of a processor are whole, so that a share of them may come out above all of them.
LARGEST_SHARE = 101.0


class Domain(StrEnum):
    """A kind of quantity, by the values that it can have."""

    TIME = "time"
    """What some work took: above 0, since no work takes no time."""
    WAIT = "wait"
    """A time that there may be none of, as jitter: from 0."""
    RATE = "rate"
    """From 0."""
    SIZE = "size"
    """From 0."""
    COUNT = "count"
    """From 0; a mean of counts is no whole number."""
    SHARE = "share"
    """In percent of a whole: from 0 to 100."""
    CHANGE = "change"
    """In percent of something else: any number."""

    def refuses(self, value: float) -> str:
        """Why a value cannot be one of these; empty where it can."""
        if self is Domain.CHANGE:
            return ""
        if self is Domain.TIME and value <= 0:
            return "a time is above 0"
        if value < 0:
            return f"a {self} is not below 0"
        if self is Domain.SHARE and value > LARGEST_SHARE:
            return "a share is not above 100 %"
        return ""

    def first_outside(self, values: Sequence[float]) -> tuple[int, str] | None:
        """Number (from 1) and reason of the first value that cannot be; None where all can."""
        for number, value in enumerate(values, start=1):
            reason = self.refuses(value)
            if reason:
                return number, f"{value:g}: {reason}"
        return None


def why_impossible(unit: str, value: float) -> str:
    """Why no measurement in *unit* gives such a *value*; empty where one can."""
    seconds = _SECONDS.get(unit)
    low, high = (SHORTEST_S, LONGEST_S) if seconds else (SMALLEST, LARGEST)
    size = abs(value) * (seconds or 1.0)
    shown = " s" if seconds else ""
    if value and size < low:
        return f"below {low:g}{shown}, less than can be measured"
    return f"above {high:g}{shown}, more than can be measured" if size > high else ""


def domain_of(unit: str) -> Domain | None:
    """The domain that a unit alone tells; None for percent, which may be of anything."""
    if unit.partition("/")[0] in TIMES:
        return Domain.TIME
    if unit in SHARES:
        return None
    if unit in ("B", "KiB", "MiB", "GiB", "bit", "bytes"):
        return Domain.SIZE
    return Domain.RATE if unit.endswith("/s") else Domain.COUNT
