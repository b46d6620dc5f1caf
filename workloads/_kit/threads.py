"""Threads by name: the table that a result may have beside its metrics (`threads`).

Of each name the wake-ups within the counted windows, and where the host tells them, the time that
its threads ran and the time that they were ready and had to wait for a processor. Standard library
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from _kit.wire import threads as told
from _kit.wire.threads import MOST_NAMES

UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Activity:
    """Of all threads of one name within a window; times in ns, None where nobody counts them."""

    threads: int
    wakeups: int
    run_ns: int | None = None
    wait_ns: int | None = None
    """Ready, and without a processor."""

    @property
    def did_anything(self) -> bool:
        """Whether any of them was woken, ran or waited."""
        return bool(self.wakeups or self.run_ns or self.wait_ns)


def table(
    windows: Sequence[tuple[float, Iterable[tuple[str, Activity]]]], is_own: Callable[[str], bool]
) -> told.Threads:
    """What a result says as `threads`: all windows, each its seconds, and names with what they did.

    Names that `is_own` come first, and are kept: the load's, of which the case's metric is. Then
    those with the most wake-ups or the most time; what goes beyond MOST_NAMES is summed as others.
    Other names that did nothing are left out.
    """
    found: dict[str, list[Activity]] = {}
    for _, of_window in windows:
        for name, activity in of_window:
            found.setdefault(shown(name), []).append(activity)
    all_rows = {name: _summed(activities, max) for name, activities in found.items()}
    rows = {name: row for name, row in all_rows.items() if is_own(name) or row.did_anything}
    kept = _kept(rows, is_own)
    others = [row for name, row in rows.items() if name not in kept]
    return told.Threads(
        seconds=sum(seconds for seconds, _ in windows),
        rows=[{"name": name, "own": is_own(name), **_told(rows[name])} for name in kept],
        others={"names": len(others), **_told(_summed(others, sum))} if others else None,
    )


def shown(name: str) -> str:
    """The name without what no terminal should be told."""
    return "".join(letter if letter.isprintable() else UNPRINTABLE for letter in name)


def _kept(rows: Mapping[str, Activity], is_own: Callable[[str], bool]) -> list[str]:
    """The names of the table in their order: own ones, then those that are high in either list."""
    by_wakeups = sorted(rows, key=lambda name: (-rows[name].wakeups, name))
    by_run = sorted(rows, key=lambda name: (-(rows[name].run_ns or 0), name))
    place: dict[str, int] = {}
    for order in (by_wakeups, by_run):
        for index, name in enumerate(order):
            place[name] = min(index, place.get(name, index))
    kept = set(sorted(rows, key=lambda name: (not is_own(name), place[name], name))[:MOST_NAMES])
    return sorted(kept, key=lambda name: (not is_own(name), -rows[name].wakeups, name))


def _summed(activities: Sequence[Activity], threads: Callable[[Iterable[int]], int]) -> Activity:
    """One for all; a time that one of them lacks is not known."""

    def total(times: Sequence[int | None]) -> int | None:
        known = [time for time in times if time is not None]
        return sum(known) if len(known) == len(times) else None

    return Activity(
        threads=threads(activity.threads for activity in activities),
        wakeups=sum(activity.wakeups for activity in activities),
        run_ns=total([activity.run_ns for activity in activities]),
        wait_ns=total([activity.wait_ns for activity in activities]),
    )


def _told(activity: Activity) -> told.Activity:
    return told.Activity(
        threads=activity.threads,
        wakeups=activity.wakeups,
        run_ns=activity.run_ns,
        wait_ns=activity.wait_ns,
    )
