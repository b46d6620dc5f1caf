"""What a host's time is."""

from __future__ import annotations

from enum import StrEnum

from mitigauge.core.wire import clock


class Clock(StrEnum):
    """What drives a host's clock."""

    REAL = clock.REAL
    """The time that everybody has."""
    COUNTED = clock.COUNTED
    """An emulated host's clock goes on by a fixed time with each instruction.

    Nothing that shares the machine shows in its figures. They tell what software costs: caches,
    branch predictors and barriers cost nothing there.
    """
