"""What a figure can carry where the hardware's own events cost nothing. Pure.

An emulator carries out a barrier and waits for nothing: where time counts instructions it is one of
them. An arm that has more such events than its
baseline costs at least what is measured; one that has fewer costs at most that; where each has
events of its own, nothing is known of the difference.
"""

from __future__ import annotations

from enum import StrEnum

from mitigauge.core.stats.domain import Domain
from mitigauge.core.stats.terms import Direction

# Of what is counted whatever it costs, no bound is needed.
EXACT = frozenset({Domain.COUNT, Domain.SIZE})


class Uncounted(StrEnum):
    """Events of an arm that are not counted, beside those of its baseline."""

    NONE = "none"
    """The same ones."""
    MORE = "more"
    FEWER = "fewer"
    OTHER = "other"
    """Each has some that the other lacks."""


class Bound(StrEnum):
    """What a measured change says of the true one."""

    EXACT = "exact"
    AT_LEAST = "at_least"
    """The true change is this one, or above it."""
    AT_MOST = "at_most"
    NOTHING = "nothing"


def bound_of(uncounted: Uncounted, direction: Direction, domain: Domain) -> Bound:
    """What a change of such a metric says. More events take more time, whatever it is called."""
    if uncounted is Uncounted.NONE or domain in EXACT:
        return Bound.EXACT
    if uncounted is Uncounted.OTHER:
        return Bound.NOTHING
    slower = uncounted is Uncounted.MORE
    return Bound.AT_LEAST if slower == (direction == "lower") else Bound.AT_MOST


def carries(bound: Bound, verdict: str, direction: Direction) -> bool:
    """Whether a verdict still holds of the true change.

    A lower bound may carry that something is larger, an upper one that it is smaller, and neither
    that it is the same.
    """
    if bound is Bound.EXACT or verdict == "undecided":
        return True
    if bound is Bound.NOTHING or verdict == "same":
        return False
    larger = (verdict == "worse") == (direction == "lower")
    return larger == (bound is Bound.AT_LEAST)
