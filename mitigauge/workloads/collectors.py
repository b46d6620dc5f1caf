"""The collectors that a spec may name, and those that run where it names none. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mitigauge.clock import Clock

COLLECTORS: Final = (
    "cpu", "memory", "disk", "network", "schedstat", "exits", "exit-reasons", "power",
    "frequency", "throttling",
)  # fmt: skip
# Reading costs these alone; counting exits costs each exit something.
CHEAP: Final = ("cpu", "memory", "disk", "network", "schedstat", "power", "frequency", "throttling")


def of_case(asked: Sequence[str] | None, clock: str) -> tuple[str, ...]:
    """What runs beside a case; *asked*: what its spec says, None where that says nothing.

    On a host whose clock counts instructions each one that reads is a part of the figure, so
    nothing runs there that was not asked for.
    """
    if asked is not None:
        return tuple(asked)
    return CHEAP if clock == Clock.REAL else ()
