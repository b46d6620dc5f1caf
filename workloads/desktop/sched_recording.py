"""A recording of the scheduler's events, kept in the kernel's memory while the desktops work.

In a tracing instance of our own (Documentation/trace/ftrace.rst), which nobody else's tracing sees.
perf would do, but does not say whether a wake-up came from an interrupt.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _kit.collectors import TRACEFS, Absent, mounted, remove_instance, remove_left
from _kit.contract import CaseError
from _kit.sched_events import TraceError, Window
from scheduling import EVENTS, Scheduling

# Of the steady phase, from its beginning on.
WINDOW_S = 10.0
# Of each processor: some 300,000 events.
BUFFER_KB = 16 << 10
# What the kernel says of a processor's buffer, where events did not fit.
LOSSES = ("overrun", "commit overrun", "dropped events")
ONLINE = Path("/sys/devices/system/cpu/online")
NAME = "mitigauge-{}-sched"
ADVICE = "say trace: without"


class Recording:
    """Begins and ends once; keeps its memory until it is closed."""

    def __init__(self) -> None:
        """Raises :class:`CaseError` where this host cannot record."""
        self.began_ns = self.ended_ns = 0
        self._allowed: dict[int, int] = {}
        self._instance = TRACEFS / "instances" / NAME.format(os.getpid())
        try:
            mounted("tracefs", TRACEFS)
            remove_left(NAME.format("*"))
            self._instance.mkdir()
            for name, value in (
                ("tracing_on", 0), ("trace_clock", "mono"), ("options/overwrite", 0),
                ("options/annotate", 0), ("buffer_size_kb", BUFFER_KB),
                *((f"events/sched/{event}/enable", 1) for event in EVENTS),
            ):  # fmt: skip
                self._set(name, value)
        except (Absent, OSError) as error:
            self.close()
            raise CaseError(f"the scheduler's events cannot be recorded: {error}: {ADVICE}") from (
                None
            )

    def begin(self) -> None:
        """Record from now on; the window begins once every processor was seen."""
        self._set("tracing_on", 1)
        visit_processors()
        self._allowed = allowed_processors()
        self.began_ns = time.monotonic_ns()

    def end_when_due(self) -> None:
        """End what has lasted for WINDOW_S."""
        if self.began_ns and time.monotonic_ns() - self.began_ns >= WINDOW_S * 1e9:
            self.end()

    def end(self) -> None:
        """Record no longer."""
        if self.began_ns and not self.ended_ns:
            self.ended_ns = time.monotonic_ns()
            self._set("tracing_on", 0)
            # Threads that came meanwhile; who may use others than before is not told.
            for tid, bits in allowed_processors().items():
                if self._allowed.setdefault(tid, bits) != bits:
                    del self._allowed[tid]

    def table(self, kinds: Mapping[int, str]) -> dict[str, Any]:
        """What was recorded, as `scheduling` counts it; with lost events these alone."""
        if lost := sum(map(losses, self._instance.glob("per_cpu/cpu*/stats"))):
            return {"lost": lost}
        window = Window(self.began_ns, self.ended_ns)
        found = Scheduling(window, online(ONLINE.read_text()), self._allowed, kinds)
        with (self._instance / "trace").open(errors="replace", newline="\n") as lines:
            try:
                found.read(lines)
            except TraceError as error:
                raise CaseError(f"{self._instance}/trace: {error}: {ADVICE}") from None
        return {"lost": 0, **found.table()}

    def close(self) -> None:
        """Give the memory back."""
        remove_instance(self._instance)

    def _set(self, name: str, value: object) -> None:
        (self._instance / name).write_text(f"{value}\n")


def losses(stats: Path) -> int:
    """Events that did not fit into one processor's buffer."""
    told = dict(line.split(": ", 1) for line in stats.read_text().splitlines() if ": " in line)
    return sum(int(told.get(name, 0)) for name in LOSSES)


def online(text: str) -> int:
    """A bit for each processor of a list as the kernel's, such as 0-3,5."""
    bits = 0
    for span in text.strip().split(","):
        first, _, last = span.partition("-")
        bits |= (1 << int(last or first) + 1) - (1 << int(first))
    return bits


def visit_processors() -> None:
    """Run on each processor once: one on which nothing changes tells nothing."""
    before = os.sched_getaffinity(0)
    for cpu in range(online(ONLINE.read_text()).bit_length()):
        try:
            os.sched_setaffinity(0, {cpu})
        except OSError:
            continue  # not up, or not ours: it is missing then, and said to be
    os.sched_setaffinity(0, before)


def allowed_processors() -> dict[int, int]:
    """Thread → a bit for each processor that it may use, of all threads there are."""
    found = {}
    for task in Path("/proc").glob("[0-9]*/task/[0-9]*"):
        try:
            cpus = os.sched_getaffinity(int(task.name))
        except OSError:
            continue  # it ended
        found[int(task.name)] = sum(1 << cpu for cpu in cpus)
    return found
