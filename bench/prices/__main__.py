"""``make bench-prices``: do prices stay the same, and do they on a busy machine?

Runs of ``price measure`` in fresh processes, quiet and beside busy loops. Peer: one process for
each event that samples as long as all of ours together, and takes the difference of medians. For
each event that is usable in every quiet run: how far the runs lie apart, ours and the peer's; what
it is beside the busy loops; and over all runs, how often the interval of nothing holds nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import SystemRandom

from cli.output import count_off
from mitigauge.analysis.prices.probe import HELPERS, PROCESSES, ProbedEvent, ProbeRun, summarised
from mitigauge.core.settings import get_settings
from pipelines.adapters.price_probe import Probe, compiled, time_all

# What the runs of one event may lie apart, and a busy machine's figure off the quiet one.
SPREAD, OFF = 0.05, 0.10
# The peer: seconds of its one process, as the processes of one event sample together.
PEER_S = 1.2


@dataclass(slots=True)
class Found:
    """Of one event over the runs."""

    quiet: list[ProbedEvent] = field(default_factory=list)
    busy: list[ProbedEvent] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Processes that only compute, beside what is measured."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run_all(probe: Probe, seconds: float, title: str) -> list[ProbedEvent]:
    """One run of all events."""
    listed, runs = time_all(
        probe, seconds=seconds, processes=PROCESSES, seed=SystemRandom().getrandbits(31),
        progress=partial(count_off, title),
    )  # fmt: skip
    return [summarised(each, runs[each.event]) for each in listed]


def one_process(probe: Probe, event: str) -> float:
    """The peer's price: one process, and the difference of medians."""
    seed, cpu = SystemRandom().getrandbits(31), min(os.sched_getaffinity(0))
    run: ProbeRun = probe.timed(event, PEER_S, seed, cpu)
    if run.refused or not run.with_ or not run.without:
        return 0.0
    return (run.with_.median - run.without.median) / run.times


def spread(values: Sequence[float]) -> float:
    """From the least to the most, in parts of the least."""
    return max(values) / min(values) - 1 if min(values) > 0 else float("inf")


def measure(probe: Probe, runs: int, busy: int, loops: int, seconds: float) -> dict[str, Found]:
    """All runs."""
    found: dict[str, Found] = defaultdict(Found)
    for number in range(runs):
        for each in run_all(probe, seconds, f"quiet run {number + 1} of {runs}, process"):
            found[each.event].quiet.append(each)
            if each.is_usable:
                found[each.event].peer.append(one_process(probe, each.event))
    with busy_loops(loops):
        for number in range(busy):
            for each in run_all(probe, seconds, f"busy run {number + 1} of {busy}, process"):
                found[each.event].busy.append(each)
    return {name: of for name, of in found.items() if name not in HELPERS}


def print_events(found: dict[str, Found]) -> None:
    """A line for each event that is usable in every quiet run, and who is not."""
    print(f"{'event':20} {'ns':>9} {'spread':>8} {'one process':>12} {'ratio':>6}  busy")
    wide, off, near, refused = 0, 0, 0, 0
    for name, of in found.items():
        prices = [each.price.mean for each in of.quiet if each.is_usable and each.price]
        if len(prices) < len(of.quiet) or not prices:
            print(f"{name:20} {'-':>9}  usable in {len(prices)} of {len(of.quiet)} quiet runs")
            continue
        ours, peer = spread(prices), spread(of.peer)
        wide += ours > SPREAD
        quiet = statistics.median(prices)
        usable = [each.price.mean for each in of.busy if each.is_usable and each.price]
        refused += len(of.busy) - len(usable)
        changes = [value / quiet - 1 for value in usable]
        off += sum(abs(change) > OFF for change in changes)
        near += sum(abs(change) <= OFF for change in changes)
        told = ", ".join(f"{100 * change:+.1f} %" for change in changes) or "refused"
        print(
            f"{name:20} {quiet:9.4g} {100 * ours:7.1f} % {100 * peer:10.1f} % "
            f"{ours / peer if peer else 0:6.2f}  {told}"
        )
    print(f"spread over {100 * SPREAD:.0f} %: {wide} events")
    print(f"beside busy loops: {near} within {100 * OFF:.0f} %, {refused} refused, {off} wrong")


def print_nulls(found: dict[str, Found]) -> None:
    """How often the interval of nothing holds nothing."""
    nulls = [each.null for of in found.values() for each in [*of.quiet, *of.busy] if each.null]
    held = sum(null.low <= 0 <= null.high for null in nulls)
    share = 100 * held / len(nulls) if nulls else 0.0
    print(f"null pairs: {held} of {len(nulls)} intervals hold 0 ({share:.1f} %); wanted: 93 %")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="make bench-prices", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="quiet runs (5)")
    parser.add_argument("--busy", type=int, default=2, help="runs beside busy loops (2)")
    parser.add_argument("--loops", type=int, default=2, help="busy loops (2)")
    parser.add_argument("--seconds", type=float, default=42.0, help="of each run (42)")
    words = parser.parse_args()
    probe = compiled(get_settings().home / "tools")
    found = measure(probe, words.runs, words.busy, words.loops, words.seconds)
    print_events(found)
    print_nulls(found)


if __name__ == "__main__":
    main()
