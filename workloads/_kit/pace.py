"""Iterations that count only where the processor kept its pace.

A shared machine, a neighbour on the other hardware thread or a hot package makes a
processor change speed, by more than most mitigations cost. A fixed loop without system
calls is timed before and after each iteration; where both timings are much
slower than its fastest ever, the iteration was disturbed and another one is taken. The rule
sees no iteration's value and no arm, and it chooses among iterations of one boot, never among
boots. Nothing is thrown away: what was disturbed is recorded as that.

A host whose clock counts instructions keeps its pace by definition, and nothing is timed there.

A processor may be slow for a whole case, so the fastest timings of the host's last cases,
whatever they measured, are kept in the file that MITIGAUGE_PACE names. Before the first
case there are none, and finding one takes FIRST_LOOK_S. Without the variable a case knows
its own timings alone.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _kit.contract import counted_time
from _kit.wire.job import PACE_VARIABLE
from _kit.wire.run_record import MEASURED, PACE, PaceRecord

# Cases whose fastest timing is remembered: what a host can do may change.
CASES = 16
BLOCK = bytes(4096)
# One timing of the loop: long enough to meet what comes and goes, short beside an iteration.
SAMPLE_S = 0.06
# Longer than a processor was seen to stay slow beside a busy neighbour.
FIRST_LOOK_S = 15
# An iteration is disturbed where the loop took longer than this many times its fastest.
LIMIT = 1.1
# Part of a case's time-out that may go on waiting for a processor at its own pace.
PATIENCE = 0.1
# Seconds that one iteration waits for a processor at its pace. Then it is taken all the same:
# where the processor never recovers, the least disturbed of many are better than any few.
WAIT_S = 1.0


def seconds_of(loops: int) -> float:
    """Seconds that the fixed loop takes: `loops` checksums of one small block.

    Python's own bytecode would not do. It runs over so many pages that in one process of
    ten, by where they happen to lie, an emulated processor takes 1.5 times as long for it.
    """
    began = time.perf_counter()
    for _ in range(loops):
        zlib.crc32(BLOCK)
    return time.perf_counter() - began


def fitting_loops() -> int:
    """Passes of the loop that take about SAMPLE_S when nothing disturbs it."""
    loops = 10
    while (took := min(seconds_of(loops) for _ in range(10))) < SAMPLE_S / 4:
        loops *= 2
    return max(1, int(loops * SAMPLE_S / took))


class Pace:
    """The loop and its fastest timing, with what other cases on this host found."""

    def __init__(self, loops: int, of_cases: list[float]) -> None:
        """`of_cases` are the fastest timings of the last cases, in seconds."""
        self.loops = loops
        self.of_cases = of_cases
        self.own = math.inf

    @property
    def fastest(self) -> float:
        """Seconds of the fastest timing, of this case and those before."""
        return min([self.own, *self.of_cases])

    def timed(self) -> float:
        """Seconds that the loop takes now."""
        took = seconds_of(self.loops)
        self.own = min(self.own, took)
        return took

    def waited_for(self, until: float) -> float:
        """The first timing that is not too slow, or the last one before `until`."""
        while True:
            took = self.timed()
            if took <= LIMIT * self.fastest or time.monotonic() > until:
                return took

    def remember(self) -> None:
        """Keep this case's fastest timing for the next, and forget the oldest."""
        path = remembered()
        if path is None:
            return
        content = {"loops": self.loops, "of_cases": [*self.of_cases, self.own][-CASES:]}
        part = path.with_suffix(".part")
        # Without it the next case looks for itself; this one has its figures.
        with contextlib.suppress(OSError):
            part.write_text(json.dumps(content))
            part.replace(path)


def remembered() -> Path | None:
    """The file in which cases leave their fastest timings, if there is to be one."""
    name = os.environ.get(PACE_VARIABLE, "")
    return Path(name) if name else None


def pace_of_host(patience_s: float) -> Pace:
    """What is remembered; found anew where there is nothing, or nothing that makes sense."""
    path = remembered()
    if path is None:
        return Pace(fitting_loops(), [])
    try:
        stored = json.loads(path.read_text())
        known = Pace(int(stored["loops"]), [float(took) for took in stored["of_cases"]])
    except (OSError, ValueError, KeyError, TypeError):
        known = Pace(0, [])
    if known.loops > 0 and known.of_cases and 0 < known.fastest < math.inf:
        return known
    fresh = Pace(fitting_loops(), [])
    until = time.monotonic() + min(FIRST_LOOK_S, patience_s)
    while time.monotonic() < until:
        fresh.timed()
    return fresh


def measure(case: dict[str, Any], iterate: Callable[[int], None], record: dict[str, Any]) -> None:
    """Take the case's iterations; `record` is told when, and of the pace where it was looked at.

    It is not in a profiled pass, where the loop would be in the profile.
    """
    patience_s = case["timeout_s"] * PATIENCE
    pace = None if counted_time() or case.get("profiled") else pace_of_host(patience_s)
    began = time.monotonic()
    if pace is None:
        for number in range(1, case["iterations"] + 1):
            iterate(number)
    else:
        record[PACE] = steady(case["iterations"], iterate, pace, patience_s)
        pace.remember()
    record[MEASURED] = [began, time.monotonic()]


def counted(slowdowns: list[float], count: int) -> list[int]:
    """Numbers, from 1, of the `count` iterations that count: undisturbed ones, then the least."""

    def rank(number: int) -> tuple[float, int]:
        slowdown = slowdowns[number - 1]
        return (slowdown if slowdown > LIMIT else 0.0), number

    return sorted(sorted(range(1, len(slowdowns) + 1), key=rank)[:count])


def steady(count: int, iterate: Callable[[int], None], pace: Pace, patience_s: float) -> PaceRecord:
    """Take iterations until `count` of them were undisturbed, or patience ends.

    An iteration is `iterate(number)`, counted from 1. Each waits a while for the processor to be
    at its pace. Past `patience_s` nothing is waited for, and none beyond
    the first `count` begins: the least disturbed ones count. The answer says of each how much
    slower the loop was beside it, and which count.
    """
    until = time.monotonic() + patience_s
    around: list[float] = []
    slowdowns: list[float] = []
    while sum(slowdown <= LIMIT for slowdown in slowdowns) < count:
        before = pace.waited_for(min(until, time.monotonic() + WAIT_S))
        if len(around) >= count and time.monotonic() > until:
            break
        iterate(len(around) + 1)
        around.append(max(before, pace.timed()))
        slowdowns = [round(took / pace.fastest, 4) for took in around]
    return PaceRecord(
        limit=LIMIT,
        loops=pace.loops,
        fastest_s=round(pace.fastest, 6),
        slowdowns=slowdowns,
        counted=counted(slowdowns, count),
    )
