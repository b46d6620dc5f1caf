"""The collectors that run beside a case. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mitigauge.core.clock import Clock
from mitigauge.core.wire.collectors import CHEAP


def of_case(asked: Sequence[str] | None, clock: str) -> tuple[str, ...]:
    """What runs beside a case; *asked*: what its spec says, None where that says nothing.

    On a host whose clock counts instructions each one that reads is a part of the figure, so
    nothing runs there that was not asked for.
    """
    if asked is not None:
        return tuple(asked)
    return CHEAP if clock == Clock.REAL else ()
