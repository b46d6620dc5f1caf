"""What `perf stat -x,` counted, read back, and brought to one operation.

Lines are `count,unit,event,time running,percent running[,…]` (perf-stat(1), *CSV FORMAT*). What the
host cannot count is `<not supported>` or `<not counted>`: then the counter is absent, never zero.

Each kind of core of a hybrid processor counts an event by a name of its own, and perf scales each
count up to the whole time, as if all had run on that kind: each counts by its share of the time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from _kit.parsing import ParseError, read_text
from _kit.wire.limits import LARGEST_WHOLE
from _kit.wire.result import Direction

MOST_LINES = 200
# Of the time in which an event was counted, percent: counters that take turns are scaled up by
# perf, and from less than this the estimate says too little.
LEAST_RUNNING = 10.0
# Counters that take turns are estimates.
ESTIMATED = 1.1
# Twice what the widest x86 core can retire (Golden Cove and Zen 5: 8).
MOST_PER_CYCLE = 16.0
_OF_CORES = re.compile(r"cpu_(?:core|atom|lowpower)/")
ABSENT = ("<not supported>", "<not counted>")

# Metric → event, unit, and which direction is better.
COUNTERS: dict[str, tuple[str, str, Direction]] = {
    "cycles": ("cycles", "cycles/op", "lower"),
    "instructions": ("instructions", "instructions/op", "lower"),
    "branches": ("branches", "branches/op", "lower"),
    "branch_misses": ("branch-misses", "misses/op", "lower"),
    "uops_issued_any": ("uops_issued.any", "uops/op", "lower"),
    "page_faults": ("page-faults", "faults/op", "lower"),
    "context_switches": ("context-switches", "switches/op", "lower"),
}
PER_CYCLE = "instructions_per_cycle"
PER_CYCLE_UNIT: tuple[str, Direction] = ("instructions/cycle", "higher")


def counts(path: Path) -> dict[str, float]:
    """Event → how often it was counted; what was not counted is not in it."""
    lines = read_text(path).splitlines()
    if len(lines) > MOST_LINES:
        raise ParseError(f"{path.name}: more than {MOST_LINES} lines")
    found: dict[str, list[_Counted]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        event, counted = _counted(line, f"{path.name}: line {number}")
        if counted is not None:
            found.setdefault(event, []).append(counted)
    summed = ((event, _sum(lines)) for event, lines in found.items())
    return {event: count for event, count in summed if count is not None}


@dataclass(frozen=True)
class _Counted:
    """One line: a count as perf scales it up, and the share of the time that it was counted in."""

    count: float
    running: float
    of_cores: bool


def _sum(lines: list[_Counted]) -> float | None:
    """What was counted in all; None where that was too little of the time to estimate from."""
    of_cores = [line for line in lines if line.of_cores]
    others = [line for line in lines if not line.of_cores and line.running >= LEAST_RUNNING]
    running = sum(line.running for line in of_cores)
    if running < LEAST_RUNNING:
        return sum(line.count for line in others) if others else None
    ran = sum(line.count * line.running for line in of_cores)
    # Beyond the whole time, all kinds were counted beside each other; below, they took turns.
    return ran / min(running, 100.0) + sum(line.count for line in others)


def _counted(line: str, where: str) -> tuple[str, _Counted | None]:
    fields = line.split(",")
    if len(fields) < 5:
        raise ParseError(f"{where}: {len(fields)} fields, not 5 or more, perhaps cut off")
    count, _, event, _, running = fields[:5]
    name = plain(event)
    if count in ABSENT:
        return name, None
    if not re.fullmatch(r"\d{1,19}", count):
        raise ParseError(f"{where}: count: {count!r:.40} is not a whole number")
    if not re.fullmatch(r"\d{1,3}\.\d{1,4}", running) or float(running) > 100.0:
        raise ParseError(f"{where}: percent: {running!r:.40} is not a percentage")
    if int(count) > LARGEST_WHOLE:
        raise ParseError(f"{where}: count: {count} is above {LARGEST_WHOLE}")
    return name, _Counted(float(count), float(running), _OF_CORES.match(event) is not None)


def plain(event: str) -> str:
    """`cycles` of `cycles`, `cycles:u`, `cpu_core/cycles/` and `cpu_core/cycles/u`."""
    _, slash, named = event.partition("/")
    return (named.partition("/")[0] if slash else event).partition(":")[0]


def per_operation(
    pass_: Mapping[str, float], start: Mapping[str, float], operations: int
) -> dict[str, float]:
    """Metric → figure of one operation, from the counts of a pass of `operations`.

    `start` has the counts of a pass of one operation: the program's own start and end are taken
    off with it. Both passes must have counted an event, else its metric is absent.
    """
    if operations < 2:
        raise ParseError("counters need 2 operations or more in a pass")
    found = {
        metric: max(0.0, pass_[event] - start[event]) / (operations - 1)
        for metric, (event, _, _) in COUNTERS.items()
        if event in pass_ and event in start
    }
    if found.get("cycles") and "instructions" in found:
        found[PER_CYCLE] = found["instructions"] / found["cycles"]
    if not all(map(math.isfinite, found.values())):
        raise ParseError("a counter is no finite number")
    _require_plausible(found)
    return found


def _require_plausible(found: Mapping[str, float]) -> None:
    """Refuse more of an event than of those among which it is, as no processor counts."""
    for part, whole in (("branch_misses", "branches"), ("branches", "instructions")):
        if part in found and whole in found and found[part] > ESTIMATED * found[whole] + 1:
            raise ParseError(f"{part}: {found[part]:g} an operation, and {found[whole]:g} {whole}")
    if found.get(PER_CYCLE, 0.0) > MOST_PER_CYCLE:
        raise ParseError(f"{PER_CYCLE}: {found[PER_CYCLE]:g}: no processor runs so many")


def unit_of(metric: str) -> tuple[str, Direction]:
    """Unit and better direction of a metric."""
    if metric == PER_CYCLE:
        return PER_CYCLE_UNIT
    _, unit, direction = COUNTERS[metric]
    return unit, direction
