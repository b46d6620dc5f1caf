"""What may become of a slow-down of known size. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class InjectionState(StrEnum):
    """Where one stands."""

    WAITING = "waiting"
    """For its host."""
    MEASURING = "measuring"
    SEARCHING = "searching"
    """It was said to be worse, and a bisection looks for the patch."""
    FOUND = "found"
    """The verdict was worse, and the patch that costs was named."""
    MISSED = "missed"
    """The verdict was another one."""
    NOT_NAMED = "not-named"
    """The verdict was worse, but no patch or another one was named."""
    FAILED = "failed"
    """It could not be measured, and says nothing."""


SCORED: Final = (InjectionState.FOUND, InjectionState.MISSED, InjectionState.NOT_NAMED)
