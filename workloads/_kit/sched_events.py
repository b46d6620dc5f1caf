"""The kernel's scheduler events as perf and tracefs print them: what follows the event's name.

Standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from _kit.thread_names import LONGEST
from _kit.wire.limits import LARGEST_WHOLE

LONGEST_LINE = 400
NS = 1_000_000_000
# Largest sensible numbers: 2^53 ns are 104 days.
MOST_SECONDS = LARGEST_WHOLE // NS

_NAME = f"(.{{0,{LONGEST}}})"
_TASK = rf"comm={_NAME} pid=(\d{{1,10}}) prio=-?\d{{1,10}}"
_WAKEUP = re.compile(rf"{_TASK} target_cpu=(\d{{1,6}})")
_MIGRATION = re.compile(rf"{_TASK} orig_cpu=(\d{{1,6}}) dest_cpu=(\d{{1,6}})")
_SWITCH = re.compile(
    rf"prev_comm={_NAME} prev_pid=(\d{{1,10}}) prev_prio=-?\d{{1,10}} prev_state=(\S{{1,10}}) ==> "
    rf"next_comm={_NAME} next_pid=(\d{{1,10}}) next_prio=-?\d{{1,10}}"
)
# As libtraceevent's own plug-in prints the same events, where it is installed.
_WAKEUP_SHORT = re.compile(rf"{_NAME}:(\d{{1,10}}) \[-?\d{{1,10}}\](?:<\S*>)? CPU:(\d{{1,6}})")
_SWITCH_SHORT = re.compile(
    rf"{_NAME}:(\d{{1,10}}) \[-?\d{{1,10}}\] (\S{{1,10}}) ==> "
    rf"{_NAME}:(\d{{1,10}}) \[-?\d{{1,10}}\]"
)


class TraceError(ValueError):
    """The text is not what is printed of these events; says which line and why."""


@dataclass(frozen=True)
class Window:
    """The time that counts, in ns of the clock that the events' times are in."""

    began_ns: int
    ended_ns: int

    def within(self, at_ns: int) -> bool:
        """Whether something that happens then counts."""
        return self.began_ns <= at_ns < self.ended_ns

    def part(self, began_ns: int, ended_ns: int) -> int:
        """Nanoseconds from `began_ns` to `ended_ns` that lie in the window."""
        return max(0, min(ended_ns, self.ended_ns) - max(began_ns, self.began_ns))


class Wakeup(NamedTuple):
    """A thread that is woken (sched_waking), or ready on `cpu` (sched_wakeup, …_new)."""

    name: str
    tid: int
    cpu: int


class Migration(NamedTuple):
    """A thread that is moved from one processor's queue to another's (sched_migrate_task)."""

    name: str
    tid: int
    from_cpu: int
    to_cpu: int


class Switch(NamedTuple):
    """A processor goes from one thread to the next (sched_switch); thread 0 is the idle one."""

    prev_name: str
    prev_tid: int
    state: str
    next_name: str
    next_tid: int

    @property
    def stays_ready(self) -> bool:
        """R and R+: the thread would go on if it could."""
        return self.state.startswith("R")


def read_wakeup(text: str) -> Wakeup:
    """Raises :class:`TraceError` for a text that is none."""
    found = _WAKEUP.fullmatch(text) or _WAKEUP_SHORT.fullmatch(text)
    if not found:
        raise TraceError("not a wake-up as the kernel prints it")
    return Wakeup(found[1], int(found[2]), int(found[3]))


def read_migration(text: str) -> Migration:
    """Raises :class:`TraceError` for a text that is none."""
    found = _MIGRATION.fullmatch(text)
    if not found:
        raise TraceError("not a migration as the kernel prints it")
    return Migration(found[1], int(found[2]), int(found[3]), int(found[4]))


def read_switch(text: str) -> Switch:
    """Raises :class:`TraceError` for a text that is none."""
    found = _SWITCH.fullmatch(text) or _SWITCH_SHORT.fullmatch(text)
    if not found:
        raise TraceError("not a switch as the kernel prints it")
    return Switch(found[1], int(found[2]), found[3], found[4], int(found[5]))
