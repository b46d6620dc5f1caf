"""`make bench-lab`: real experiments on the emulated hosts in counted time, some 30 minutes.

Everything is real: the hosts are booted into each arm, and the figures are those of the
reports. The load average is printed beside them, because nothing should depend on it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.lab import specs
from cli import database, lab
from cli.processes import running
from cli.progress import follow
from mitigauge.core.clock import Clock
from mitigauge.core.effect import Verdict
from mitigauge.measurement.runs import submission
from mitigauge.reporting.pages import experiments as views
from mitigauge.storage.database.engine import transaction

NEIGHBOURS = 2


@dataclass(frozen=True)
class Figure:
    """One arm against its baseline, in percent of it."""

    case: str
    effect: float
    low: float
    high: float
    n: int
    verdict: Verdict | None

    @property
    def half(self) -> float:
        """Half the interval's width."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        verdict = self.verdict or "none"
        return f"{self.effect:+8.3f} % [{self.low:+.3f}, {self.high:+.3f}], n {self.n}, {verdict}"


def spin() -> None:
    """Keep a processor busy."""
    while True:
        pass


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many busy loops beside the block."""
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def figures(text: str, name: str) -> list[Figure]:
    """Run the spec; its measured cells. Raises RuntimeError if a host's time is not counted."""
    began = time.monotonic()
    with transaction() as session:
        experiment_id = submission.submit_text(session, text, name=name)
    state = follow(experiment_id)
    with transaction() as session:
        view = views.show_experiment(session, experiment_id)
    for host in view.host_facts.values():
        if host.clock is not Clock.COUNTED:
            raise RuntimeError(f"{host.name} is in real time: `mitigauge lab down`, then again.")
    print(
        f"\n{name}: experiment {experiment_id} {state} after {time.monotonic() - began:.0f} s, "
        f"load average {os.getloadavg()[0]:.1f} to {os.getloadavg()[1]:.1f}"
    )
    found = [
        Figure(
            f"{row.case} on {row.host}",
            cell.effect_percent,
            cell.ci_low_percent or 0.0,
            cell.ci_high_percent or 0.0,
            cell.n,
            cell.verdict,
        )
        for comparison in view.comparisons
        for row in comparison.rows
        for cell in row.cells
        if cell.effect_percent is not None
    ]
    for figure in found:
        print(f"  {figure.case:<40} {figure}", flush=True)
    return found


def line(what: str, figure: float, limit: float) -> bool:
    """Print one line of the table; whether the figure is within its limit."""
    well = figure <= limit
    print(f"| {what} | ± {figure:.3f} % | ≤ {limit:g} % | {'yes' if well else 'NO'} |")
    return well


def main() -> int:
    """Measure and print; status 1 where a figure is beyond its limit."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--blocks", type=int, default=4, help="of the experiments with an effect")
    parser.add_argument("--aa-blocks", type=int, default=6)
    arguments = parser.parse_args()
    database.upgrade()
    lab.up()
    with running("worker"):
        idle = figures(specs.idle(arguments.blocks), "as the machine is")
        with neighbours(NEIGHBOURS):
            [busy] = figures(specs.beside_load(arguments.blocks), f"{NEIGHBOURS} busy loops beside")
        same = figures(specs.same_mode(arguments.aa_blocks), "A/A")
    quiet = next(figure for figure in idle if figure.case.startswith("syscall"))
    exits = next(figure for figure in idle if "userspace" in figure.case)
    print("\n| what | measured | wanted | so |\n|---|---|---|---|")
    well = [
        line("syscall basic off/loop beside two busy loops, half the interval", busy.half, 1),
        line("the same against the idle machine", abs(busy.effect - quiet.effect), 1),
        *(line(f"A/A, {one.case}, half the interval", one.half, 1) for one in same),
        line("exits, vmscape off/ibpb, half the interval", exits.half, 0.3),
    ]
    alarms = [one.case for one in same if one.verdict is not Verdict.SAME]
    print(f"\nA/A not called the same: {', '.join(alarms) or 'none'}")
    return 0 if all(well) and not alarms else 1


if __name__ == "__main__":
    raise SystemExit(main())
