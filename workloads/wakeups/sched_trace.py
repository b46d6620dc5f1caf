"""Wake-ups, run time and wait time of threads, from the kernel's scheduler events.

Reads what `perf script -F tid,cpu,time,event,trace --ns` prints of sched:sched_wakeup and
sched:sched_switch, one line at a time: its memory grows with the number of threads, never with
that of events. A line that is neither is refused, and so is time that goes backwards. A switch
that must have been there and was not is a gap: some kernels lose the events of single threads for
good (seen with 6.18). The time before it is nobody's then, and gaps are told, those of the load's
processor apart: beyond MOST_GAPS the counts are worth nothing. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from _kit.sched_events import (
    LONGEST_LINE,
    MOST_SECONDS,
    NS,
    Switch,
    TraceError,
    Window,
    read_switch,
    read_wakeup,
)
from _kit.thread_names import MOST_NAMES, merged

MOST_THREADS = 1_000_000
# Gaps on the load's processor, as part of the switches of the load.
MOST_GAPS = 0.001
# The load's tasks, by their merged name.
LOAD = "ring-*"
# In place of a thread, where nobody knows who has a processor.
UNKNOWN = -1

_HEAD = re.compile(
    r" *(?P<tid>-?\d{1,10}) +\[(?P<cpu>\d{1,6})\] +(?P<s>\d{1,8})\.(?P<ns>\d{9}): +"
    r"sched:(?P<event>sched_wakeup|sched_switch): +(?P<rest>.*)"
)


@dataclass
class Count:
    """Of all threads of one name, within the window."""

    threads: int = 0
    wakeups: int = 0
    """Of these `waits` were followed to the processor; one that ran already did not wait."""
    waits: int = 0
    wait_ns: int = 0
    """From a wake-up until the thread runs, summed over `waits`."""
    switches: int = 0
    """How often one of them was given a processor."""
    run_ns: int = 0
    preempted_ns: int = 0
    """Ready, and set aside for another."""


@dataclass
class _Thread:
    """One thread as it was last seen."""

    count: Count
    running_on: int | None = None
    woken_at: int | None = None
    preempted_at: int | None = None


class Trace:
    """Takes lines in; :meth:`table` says what they came to."""

    def __init__(self, window: Window, cpu: int) -> None:
        """`cpu` is the load's processor."""
        self.window = window
        self.cpu = cpu
        self.gaps = 0
        self.gaps_elsewhere = 0
        self.unknown_ns = 0
        self.events = 0
        self.counts: dict[str, Count] = {}
        self.idle_ns = 0
        self._threads: dict[int, _Thread] = {}
        self._on: dict[int, tuple[int, int]] = {}
        self._now = -1

    def read(self, lines: Iterable[str]) -> None:
        """All lines, in order. Raises :class:`TraceError` for one that is no event."""
        for number, line in enumerate(lines, 1):
            try:
                self._take(line.rstrip("\n"))
            except TraceError as error:
                raise TraceError(f"line {number}: {error}: {line[:LONGEST_LINE]!a}") from None

    def table(self) -> dict[str, Any]:
        """The counts by name, those with most time first; what is still running is included."""
        for pid, since in self._on.values():
            self._ran(pid, since, self.window.ended_ns)
        self._on.clear()
        # Of the others only their names were seen, outside the window.
        at_work = [name for name, count in self.counts.items() if count.run_ns or count.wakeups]
        names = sorted(at_work, key=lambda name: (-self.counts[name].run_ns, name))
        rows = [{"name": name, **asdict(self.counts[name])} for name in names]
        total = {key: sum(row[key] for row in rows) for key in asdict(Count())}
        return {
            "events": self.events, "gaps": self.gaps, "gaps_elsewhere": self.gaps_elsewhere,
            "unknown_ns": self.unknown_ns, "idle_ns": self.idle_ns, "total": total, "names": rows,
        }  # fmt: skip

    def _take(self, line: str) -> None:
        if len(line) > LONGEST_LINE:
            raise TraceError("too long for an event")
        head = _HEAD.fullmatch(line)
        if not head:
            lost = "PERF_RECORD_LOST" in line
            raise TraceError("events were lost" if lost else "neither a wake-up nor a switch")
        at_ns = int(head["s"]) * NS + int(head["ns"])
        if int(head["s"]) > MOST_SECONDS or at_ns < self._now:
            raise TraceError("its time is before that of the event before it, or beyond all time")
        self._now = at_ns
        rest = head["rest"]
        if head["event"] == "sched_wakeup":
            woken = read_wakeup(rest)
            self._woken(at_ns, woken.name, woken.tid)
        else:
            self._switched(at_ns, int(head["cpu"]), read_switch(rest))
        self.events += 1

    def _woken(self, at_ns: int, name: str, pid: int) -> None:
        thread = self._named(pid, name)
        if self.window.within(at_ns):
            thread.count.wakeups += 1
        # One that is ready or runs already has nothing to wait for.
        if thread.running_on is None and thread.preempted_at is None and thread.woken_at is None:
            thread.woken_at = at_ns

    def _switched(self, at_ns: int, cpu: int, switch: Switch) -> None:
        leaving, coming = switch.prev_tid, switch.next_tid
        # The first one seen here ran since before the window: nothing else came in between.
        pid, since = self._on.get(cpu, (leaving, 0))
        if pid not in (leaving, UNKNOWN):
            self._gap(cpu)
            since = at_ns
        elif pid == UNKNOWN:
            self.unknown_ns += self.window.part(since, at_ns)
            since = at_ns
        if leaving:
            thread = self._named(leaving, switch.prev_name)
            thread.running_on, thread.woken_at = None, None
            # R and R+: it would go on if it could.
            thread.preempted_at = at_ns if switch.stays_ready else None
        self._ran(leaving, since, at_ns)
        if coming:
            self._starts(self._named(coming, switch.next_name), at_ns, cpu)
        self._on[cpu] = (coming, at_ns)

    def _starts(self, thread: _Thread, at_ns: int, cpu: int) -> None:
        """It has a processor now, and waits no longer."""
        count = thread.count
        if thread.running_on is not None:
            self._gap(thread.running_on)
        if thread.woken_at is not None and self.window.within(thread.woken_at):
            count.waits += 1
            count.wait_ns += at_ns - thread.woken_at
        if thread.preempted_at is not None:
            count.preempted_ns += self.window.part(thread.preempted_at, at_ns)
        if self.window.within(at_ns):
            count.switches += 1
        thread.running_on, thread.woken_at, thread.preempted_at = cpu, None, None

    def _gap(self, cpu: int) -> None:
        """A switch on that processor is missing, after the last one that was seen there."""
        gone, seen_ns = self._on.get(cpu, (UNKNOWN, 0))
        if gone > 0:
            self._threads[gone].running_on = None
        self._on[cpu] = (UNKNOWN, self._now)
        unknown_ns = self.window.part(seen_ns, self._now)
        # perf begins and ends with one processor after the other: outside the window all is well.
        if unknown_ns and cpu == self.cpu:
            self.gaps += 1
        elif unknown_ns:
            self.gaps_elsewhere += 1
        self.unknown_ns += unknown_ns

    def _ran(self, pid: int, since: int, until: int) -> None:
        """A thread, or the idle one, had a processor for so long."""
        took = self.window.part(since, until)
        if pid == UNKNOWN:
            self.unknown_ns += took
        elif not pid:
            self.idle_ns += took
        else:
            self._threads[pid].count.run_ns += took

    def _named(self, pid: int, name: str) -> _Thread:
        """The thread, whose time from now on belongs to that name."""
        count = self.counts.get(merged(name))
        if count is None:
            if len(self.counts) >= MOST_NAMES:
                raise TraceError(f"more than {MOST_NAMES} names of threads")
            count = self.counts[merged(name)] = Count()
        thread = self._threads.get(pid)
        if thread is None:
            if len(self._threads) >= MOST_THREADS:
                raise TraceError(f"more than {MOST_THREADS} threads")
            thread = self._threads[pid] = _Thread(count)
            count.threads += 1
        elif thread.count is not count:
            thread.count = count
            count.threads += 1
        return thread
