"""How often predictions held. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mitigauge.analysis.prices.levels import Checked


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of arms: how many predictions were checked, and how many were right."""

    held: int
    checked: int
    whole_held: int
    whole: int
    """Those where every event that differs has a price."""
    signs_right: int
    signs: int
    """Those where the measured change is not zero."""


def tally(rows: Sequence[Checked]) -> Tally:
    """Count the rows of a check."""
    whole = [row.holds for row in rows if not row.missing]
    signs = [row.sign for row in rows if row.sign is not None]
    return Tally(
        held=sum(row.holds for row in rows),
        checked=len(rows),
        whole_held=sum(whole),
        whole=len(whole),
        signs_right=sum(signs),
        signs=len(signs),
    )


def lines_of(of: Tally) -> list[str]:
    """The counts as lines for people."""
    return [
        f"{of.held} of {of.checked} predictions hold; of those with every "
        f"price, {of.whole_held} of {of.whole}",
        f"{of.signs_right} of {of.signs} signs are right, of changes that are not zero",
    ]
