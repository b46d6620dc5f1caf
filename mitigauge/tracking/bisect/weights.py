"""Prior weights of candidates from what each patch touches. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# How much more a patch weighs that touches all of what the profiles differ in. A judgement, kept
# small: a hint that is wrong then costs a few boots, and none of the confidence in the end.
MOST_MORE = 20.0
# What a patch weighs none of whose functions the case runs: its data, or where it moves other code,
# may still matter. A judgement too.
UNREACHED = 0.1
# Of functions that are named as the reason.
MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Touch:
    """What is known of one candidate before it is measured.

    ``same_binary``: its build has the same code as its parent's. ``functions``: names of the
    functions that its patch changes. ``unreached``: by which exact count the case runs none of the
    functions whose code it changes; empty: that is not known.
    """

    same_binary: bool = False
    functions: frozenset[str] = frozenset()
    unreached: str = ""


def priors(
    touched: Sequence[Touch], shares: Mapping[str, float] | None = None
) -> tuple[float, ...]:
    """One weight for each candidate, in the order of *touched*; equal where nothing is known.

    *shares*: function → its share (0…1) of the difference between the profiles of the ends; what
    is no such number counts as 0. Weights are 0 for the same binary, ``UNREACHED`` where the case
    is known to run none of it (which is exact, and beats profiles), else 1 to 1 + ``MOST_MORE``.
    """
    return tuple(0.0 if touch.same_binary else _weight(touch, shares or {}) for touch in touched)


def weight_in_words(touch: Touch, shares: Mapping[str, float]) -> str:
    """Why it weighs more or less than others; empty: it does not."""
    found = _touched(touch, shares)
    if touch.unreached and not touch.same_binary:
        what = "the case runs none of the functions that it changes"
        return f"weighs {UNREACHED:.3g} times as much: {what} ({touch.unreached})"
    if touch.same_binary or not found:
        return ""
    named = sorted(found, key=lambda name: (-found[name], name))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    part = min(math.fsum(found.values()), 1.0)
    return (
        f"weighs {_weight(touch, shares):.3g} times as much: it touches"
        f" {', '.join(named[:MOST_NAMED])}{more}, {part:.0%} of what the ends' profiles differ in"
    )


def _weight(touch: Touch, shares: Mapping[str, float]) -> float:
    if touch.unreached:
        return UNREACHED
    return 1.0 + MOST_MORE * min(math.fsum(_touched(touch, shares).values()), 1.0)


def _touched(touch: Touch, shares: Mapping[str, float]) -> dict[str, float]:
    """The functions that it touches and that have a share."""
    own = ((name, shares.get(name, 0.0)) for name in sorted(touch.functions))
    return {name: share for name, share in own if 0.0 < share <= 1.0}
