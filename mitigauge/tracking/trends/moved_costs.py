"""Costs that moved from one case to another at the same time. Pure.

Where cases of one workload and metric change in the same run, some up and some down, and the sum of
the differences is a small part of what moved, the cost has moved and not changed. One operation of
each case is weighed the same; what a system does of each is not known here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mitigauge.tracking.trends.detection import ChangePoint
from mitigauge.tracking.trends.schemas import MovedTo

# The sum of all differences, as a share of what went either way.
_SMALL_SHARE = 0.25
_MOST = 8


def moved(
    changes: Iterable[tuple[ChangePoint, object, str]],
) -> Mapping[tuple[int, int, int], Sequence[MovedTo]]:
    """(trend, run, arm) of a change → the other cases it moved to or came from.

    *changes*: each with what it shares with others that it may be set against (host class,
    workload, metric, mode), and its case's title.
    """
    together: dict[object, list[tuple[ChangePoint, str]]] = defaultdict(list)
    for change, group, case in changes:
        together[group, change.run_after].append((change, case))
    found: dict[tuple[int, int, int], Sequence[MovedTo]] = {}
    for members in together.values():
        up = sum(c.after - c.before for c, _ in members if c.after > c.before)
        down = sum(c.before - c.after for c, _ in members if c.after < c.before)
        if not up or not down or abs(up - down) > _SMALL_SHARE * max(up, down):
            continue
        for change, _ in members:
            rises = change.after > change.before
            others = [
                MovedTo(trend_id=c.trend_id, case=case, difference=c.after - c.before)
                for c, case in members
                if (c.after > c.before) != rises
            ]
            others.sort(key=lambda other: -abs(other.difference))
            found[change.trend_id, change.run_after, change.arm_after] = others[:_MOST]
    return found
