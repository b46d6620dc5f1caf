"""The table of threads by name that a result may have."""

from __future__ import annotations

from typing import Final, TypedDict

# Names of a table; a database keeps one for every boot and case. The rest is summed.
MOST_NAMES: Final = 50
# /proc shows names of the kernel's own threads whole; a longer one than this was made up.
LONGEST_NAME: Final = 200


class Activity(TypedDict):
    """Of all threads of one name within a window; times in ns, None where nobody counts them."""

    threads: int
    wakeups: int
    run_ns: int | None
    wait_ns: int | None


class Row(Activity):
    """One name, numbers merged; `own`: the load's, of which the case's metric is."""

    name: str
    own: bool


class Others(Activity):
    """All names beyond those that are told one by one."""

    names: int


class Threads(TypedDict):
    """What the threads of a host did while the load ran."""

    seconds: float
    rows: list[Row]
    others: Others | None


# The columns of an activity, in their order.
ACTIVITY: Final = ("threads", "wakeups", "run_ns", "wait_ns")
