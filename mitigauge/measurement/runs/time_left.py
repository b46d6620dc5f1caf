"""An honest estimate of the time a run still takes. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remaining:
    """Seconds left, with the range that the spread of past boots allows."""

    seconds: float
    low: float
    high: float


def remaining(
    mean_s: float,
    spread_s: float | None,
    boots: int,
    boots_left: int,
    current_boot_s: float = 0.0,
) -> Remaining | None:
    """Time left from how long *boots* took so far; None before the first is done.

    The range is ± 2 standard errors of a sum of *boots_left* such boots, at least
    ± 15 %: with few boots their spread is hardly known, and not at all with one.
    """
    if not boots:
        return None
    if boots_left <= 0:
        return Remaining(0.0, 0.0, 0.0)
    spread = mean_s / 3 if spread_s is None else spread_s
    expected = max(boots_left * mean_s - min(current_boot_s, mean_s), 0.0)
    margin = max(2 * spread * boots_left**0.5, 0.15 * expected)
    return Remaining(expected, max(expected - margin, 0.0), expected + margin)
