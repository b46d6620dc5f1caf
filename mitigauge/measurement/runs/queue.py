"""When the runs that wait for a host will have it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mitigauge.measurement.runs.time_left import Remaining


@dataclass(frozen=True, slots=True)
class Place:
    """When a run gets its host, in seconds from now; None: that cannot be told yet."""

    starts: Remaining | None
    why: str = ""
    """Why it cannot be told."""


def places(
    holder: Remaining | None,
    waiting: Sequence[Remaining | None],
    *,
    is_held: bool,
    kept_s: float | None = 0.0,
    kept: str = "",
) -> Iterator[Place]:
    """Where each of the *waiting* runs stands, in the order in which they get the host.

    *holder*: what is left of the run that holds the host, if one does (*is_held*). *kept_s*:
    seconds for which no run begins on it, None until a person says so; *kept* says why.
    """
    if kept_s is None:
        yield from (Place(None, kept) for _ in waiting)
        return
    before: Remaining | None = Remaining(0.0, 0.0, 0.0)
    why = ""
    if is_held:
        before, why = holder, "the run that holds the host has no boot behind it yet"
    before = _not_before(before, kept_s)
    for needs in waiting:
        yield Place(before, "" if before else why)
        if before is not None and needs is None:
            why = "a run before it has no boot behind it, and none was made on the host before"
        before = _after(before, needs)


def _not_before(left: Remaining | None, seconds: float) -> Remaining | None:
    if left is None:
        return None
    return Remaining(*(max(each, seconds) for each in (left.seconds, left.low, left.high)))


def _after(before: Remaining | None, needs: Remaining | None) -> Remaining | None:
    if before is None or needs is None:
        return None
    return Remaining(
        before.seconds + needs.seconds, before.low + needs.low, before.high + needs.high
    )
