"""Prior weights of candidates from what each patch touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Touch:
    """What is known of one candidate before it is measured.

    ``same_binary``: its build has the same code as its parent's. ``functions``: names of the
    functions that its patch changes.
    """

    same_binary: bool = False
    functions: frozenset[str] = frozenset()


def priors(
    touched: Sequence[Touch], shares: Mapping[str, float] | None = None
) -> tuple[float, ...]:
    """One weight for each candidate, in the order of *touched*; equal where nothing is known.

    *shares*: function → its share (0…1) of the difference between the profiles of the ends.
    """
    del shares
    return tuple(0.0 if touch.same_binary else 1.0 for touch in touched)
