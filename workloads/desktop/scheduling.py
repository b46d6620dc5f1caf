"""What the host's scheduler did with the desktops' threads, from its own events. Pure.

Reads the text of tracefs's `trace`, one line at a time. An event that must have been there and was
not is counted as missing: then nobody knows who waited, and no figure may be made of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from _kit import sched_events as events
from _kit.sched_events import TraceError, Window
from _kit.thread_names import merged

US = 1000
IDLE = 0
VCPU = "vcpu"
# Who wakes, in the order in which tables show them.
SOURCES = (VCPU, "qemu", "iothread", "vhost", "kworker", "interrupt", "other")
# By name, where it is no thread of a QEMU that is known by its number.
BY_NAME = {"vhost-*": "vhost", "kworker/*": "kworker", "irq/*": "interrupt"}
EVENTS = (
    "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_switch", "sched_migrate_task",
)  # fmt: skip

# Documentation/trace/ftrace.rst: the third flag is h, s, H, z or Z in an interrupt.
_LINE = re.compile(
    r" *.{0,16}?-(?P<tid>\d{1,10}) +\[(?P<cpu>\d{1,6})\] ..(?P<interrupt>.)\S{1,3} +"
    r"(?P<s>\d{1,8})\.(?P<us>\d{6}): (?P<event>\w{1,30}): (?P<rest>.*)"
)


def most_pairs(usable: Sequence[int]) -> int:
    """How many tasks can have a processor each; `usable` has a bit for each that a task may use.

    The largest matching by augmenting paths (Kuhn 1955).
    """
    tasks: dict[int, int] = {}

    def place(task: int, tried: set[int]) -> bool:
        for bit in _bits(usable[task]):
            if bit not in tried:
                tried.add(bit)
                if bit not in tasks or place(tasks[bit], tried):
                    tasks[bit] = task
                    return True
        return False

    return sum(place(task, set()) for task in range(len(usable)))


def _bits(number: int) -> Iterable[int]:
    while number:
        bit = number & -number
        yield bit
        number ^= bit


class Scheduling:
    """Takes lines in; :meth:`table` says what they came to within the window."""

    def __init__(
        self,
        window: Window,
        processors: int,
        allowed: Mapping[int, int],
        kinds: Mapping[int, str],
    ) -> None:
        """`processors`: a bit for each that is online. `allowed`: thread → bits of those that it
        may use. `kinds`: thread of a QEMU → which of SOURCES it is.
        """
        self.window, self.allowed, self.kinds = window, allowed, kinds
        self.processors, self.count = processors, bin(processors).count("1")
        self.events = self.missing = 0
        self.pairs = self.pairs_ns = self.pairs_times = self.unknown_ns = 0
        self.migrations = {VCPU: 0, "other": 0}
        self.wakeups = {source: [0, 0] for source in SOURCES}
        self._names: dict[int, str] = {}
        self._running: dict[int, int] = {}
        self._on: dict[int, int] = {}
        self._waiting: dict[int, int] = {}
        self._idle = self._unknown = 0
        self._now, self._is_in = 0, False

    def read(self, lines: Iterable[str]) -> None:
        """All lines, in order. Raises :class:`TraceError` for one that is no event."""
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                continue
            try:
                self._take(line.rstrip("\n"))
            except TraceError as error:
                raise TraceError(
                    f"line {number}: {error}: {line[: events.LONGEST_LINE]!a}"
                ) from None

    def table(self) -> dict[str, Any]:
        """The figures; times in ns, of all processors together."""
        self._until(self.window.ended_ns)
        if not self._is_in:
            self._enter()
        return {
            "window_ns": self.window.ended_ns - self.window.began_ns, "processors": self.count,
            "events": self.events, "missing": self.missing,
            "idle_while_waiting_ns": self.pairs_ns, "idle_while_waiting_times": self.pairs_times,
            "unknown_wait_ns": self.unknown_ns, "migrations": self.migrations,
            "wakeups": {
                source: {"of_vcpus": of_vcpus, "of_others": of_others}
                for source, (of_vcpus, of_others) in self.wakeups.items()
            },
        }  # fmt: skip

    def _take(self, line: str) -> None:
        found = _LINE.fullmatch(line) if len(line) <= events.LONGEST_LINE else None
        if not found:
            raise TraceError("not an event as tracefs prints it")
        at_ns = int(found["s"]) * events.NS + int(found["us"]) * US
        if at_ns < self._now or int(found["s"]) > events.MOST_SECONDS:
            raise TraceError("its time is before that of the event before it, or beyond all time")
        if at_ns > self._now:
            self._until(at_ns)
        event, rest = found["event"], found["rest"]
        if event == "sched_switch":
            self._switched(int(found["cpu"]), events.read_switch(rest))
        elif event == "sched_waking":
            self._woken(int(found["tid"]), found["interrupt"] != ".", events.read_wakeup(rest))
        elif event in ("sched_wakeup", "sched_wakeup_new"):
            self._is_ready(events.read_wakeup(rest))
        elif event == "sched_migrate_task":
            self._migrated(events.read_migration(rest))
        else:
            raise TraceError("an event that was not asked for")
        self.events += 1

    def _until(self, at_ns: int) -> None:
        """All events of one moment are in: what they came to lasts until `at_ns`."""
        if not self._is_in and at_ns > self.window.began_ns:
            self._enter()
        took = self.window.part(self._now, at_ns)
        if took:
            pairs, unknown = self._waste()
            self.pairs_times += max(0, pairs - self.pairs)
            self.pairs = pairs
            self.pairs_ns += pairs * took
            self.unknown_ns += unknown * took
        self._now = at_ns

    def _enter(self) -> None:
        """The window begins: of a processor that was not seen until now, nobody knows anything."""
        self._is_in = True
        self.missing += self.count - len(self._running)

    def _waste(self) -> tuple[int, int]:
        """Idle processors that have a waiting task each; waiting tasks that may use none known."""
        if not self._idle or not self._waiting:
            return 0, 0
        usable, unknown = [], 0
        for tid, cpu in self._waiting.items():
            # Whoever is ready on an idle processor is about to have it.
            if self._idle >> cpu & 1:
                continue
            if tid not in self.allowed:
                unknown += 1
            elif free := self.allowed[tid] & self._idle:
                usable.append(free)
        return (len(usable) if len(usable) < 2 else most_pairs(usable)), unknown

    def _switched(self, cpu: int, switch: events.Switch) -> None:
        before = self._running.get(cpu)
        leaving, coming = switch.prev_tid, switch.next_tid
        if before is not None and before != leaving:
            self._miss()
            self._on.pop(before, None)
        if leaving != IDLE:
            self._on.pop(leaving, None)
            if switch.stays_ready:
                self._waiting[leaving] = cpu
        if coming != IDLE:
            # It was ready before, and there.
            if self._waiting.pop(coming, None) != cpu:
                self._miss()
            self._on[coming] = cpu
            self._names[coming] = switch.next_name
        self._running[cpu] = coming
        if coming == IDLE:
            self._idle |= 1 << cpu
        else:
            self._idle &= ~(1 << cpu)

    def _miss(self) -> None:
        """Something happened unseen; before the window that is how a recording begins."""
        self.missing += self.window.within(self._now)

    def _woken(self, waker: int, in_interrupt: bool, woken: events.Wakeup) -> None:
        if self.window.within(self._now):
            source = "interrupt" if in_interrupt else self._source(waker)
            self.wakeups[source][self.kinds.get(woken.tid) != VCPU] += 1

    def _source(self, tid: int) -> str:
        name = merged(self._names.get(tid, ""))
        return self.kinds.get(tid) or BY_NAME.get(name, "other")

    def _is_ready(self, woken: events.Wakeup) -> None:
        # One that has a processor only goes on.
        if woken.tid not in self._on:
            self._waiting[woken.tid] = woken.cpu

    def _migrated(self, moved: events.Migration) -> None:
        if self.window.within(self._now):
            self.migrations[VCPU if self.kinds.get(moved.tid) == VCPU else "other"] += 1
        if moved.tid in self._waiting:
            self._waiting[moved.tid] = moved.to_cpu
