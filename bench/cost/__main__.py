"""`make bench-cost`: what `mitigauge cost` predicts beside a measured switch-off, five minutes.

Protections that need no reboot are switched on and off around loads: a barrier by prctl where the
machine lets one ask for it, a filter of seccomp, and two that the load runs itself at each of its
system calls, as a kernel would. Measured is the share of the load's own processor time that goes
away without it, over pairs of processes that alternate in slices; predicted is the row of the
command's table while the load runs with it, less the row without the load. Rounds of prices,
measurements and counts follow one another, since the pace of a shared machine drifts.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, median

from cli.cost_prices import widened
from cli.price_here import Asked, recognised_here, timed_here
from mitigauge.analysis.prices.definitions import FAR, Processor
from mitigauge.analysis.prices.kernel_events import KernelEvent, Rate
from mitigauge.analysis.prices.machine_cost import CostRow, Knowledge, cost_rows
from mitigauge.analysis.prices.machine_file import with_machine
from mitigauge.analysis.prices.probe import FEWEST, Interval, trimmed_interval
from mitigauge.analysis.prices.ranking import Bills
from mitigauge.measurement.modes.families import KnownStates
from pipelines.adapters.c_compiler import compile_program
from pipelines.adapters.kernel_rates import count_events, rates_of, read_vulnerabilities

SOURCE = Path(__file__).with_name("load.c")
# Half an interval, in parts of what was measured: what is wider tells nothing.
WIDEST = 0.25
SLICE_NS = 10e6
PROGRAM = ("find", "/usr", "-newer", "/proc/self/exe")
# Of one round.
PRICE_S, COUNT_S, PAIRS, SLICES, PROCESSES = 6.0, 1.5, 2, 12, 20
CHANCE = Random(1)
Rates = Mapping[KernelEvent, Rate]
# Knob → event of its price, and at which events of the kernel it happens.
KNOBS = {
    "ibpb": ("ibpb", KernelEvent.RESTRICTED_SWITCH),
    "filter": ("seccomp-filter", KernelEvent.SYSTEM_CALL),
    "bhb": ("bhb-short", KernelEvent.SYSTEM_CALL),
    "verw": ("verw", KernelEvent.SYSTEM_CALL),
}
EVERY_LOAD = ("pipe", "files", "messages")
LOADS = {"ibpb": ("pipe",), "filter": (*EVERY_LOAD, PROGRAM[0])}


@dataclass
class Comparison:
    """One load under one knob over all rounds: percent of the load's processor time."""

    load: str
    knob: str
    shares: list[float] = field(default_factory=list)
    """Measured, of each pair of processes."""
    predictions: list[tuple[float, float, float]] = field(default_factory=list)
    """Value, low and high of each round."""

    @property
    def measured(self) -> Interval:
        """Over pairs of processes."""
        return trimmed_interval(self.shares)

    @property
    def predicted(self) -> tuple[float, float, float]:
        """Means over rounds."""
        value, low, high = (fmean(column) for column in zip(*self.predictions, strict=True))
        return value, low, high

    @property
    def ratio(self) -> float:
        """Measured over predicted."""
        return self.measured.mean / self.predicted[0]

    @property
    def is_inside(self) -> bool:
        """Whether what was measured lies in the predicted interval."""
        _, low, high = self.predicted
        return low <= self.measured.mean <= high

    @property
    def verdict(self) -> str:
        """Whether the prediction holds; *cannot tell* where the measurement does not."""
        if self.measured.half > WIDEST * abs(self.measured.mean):
            return "cannot tell"
        return "holds" if abs(1 / self.ratio - 1) <= FAR else "MISSED"


class Load:
    """A process that runs so many operations and says what they took."""

    def __init__(self, program: Path, load: str, knob: str, cpu: int) -> None:
        self._process = subprocess.Popen(
            [program, load, knob, str(cpu)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self, operations: int) -> tuple[float, float]:
        """Processor time and time, ns. Raises RuntimeError where it refuses."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(f"{operations}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RuntimeError("refused") from None
        words = self._process.stdout.readline().split()
        if len(words) != 2:
            raise RuntimeError("refused")
        return float(words[0]), float(words[1])

    def run_s(self, operations: int) -> float:
        """Processor time alone, s."""
        return self.run(operations)[0] * 1e-9

    def close(self) -> None:
        """End it, and its partner with it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def started(program: Path, load: str, *knobs: str) -> Iterator[list[Load]]:
    """Processes of *load*, one for each knob, on one processor."""
    cpu = max(os.sched_getaffinity(0))
    loads = [Load(program, load, knob, cpu) for knob in knobs]
    try:
        yield loads
    finally:
        for each in loads:
            each.close()


def measured_share(program: Path, load: str, knob: str) -> float:
    """Percent of the load's processor time that the knob takes, of one pair of processes."""
    with started(program, load, "off", knob) as pair:
        operations = calibrated(pair[0])
        pair[1].run(operations)
        times: list[list[float]] = [[], []]
        for _ in range(SLICES):
            for one in CHANCE.sample((0, 1), 2):
                times[one].append(pair[one].run(operations)[0])
    off, on = median(times[0]), median(times[1])
    return 100 * (on - off) / on


def calibrated(load: Load) -> int:
    """Operations of a slice."""
    load.run(2000)
    return max(1, round(2000 * SLICE_NS / load.run(2000)[1]))


def measured_program(program: Path, knob: str) -> float:
    """The same of a program that is not ours, from its start to its end."""
    times = {each: run_program(program, each) for each in CHANCE.sample(("off", knob), 2)}
    return 100 * (times[knob] - times["off"]) / times[knob]


def run_program(program: Path, knob: str) -> float:
    """Its processor time, s."""
    cpu = max(os.sched_getaffinity(0))
    process = subprocess.Popen(
        ["taskset", "-c", str(cpu), program, "run", knob, *PROGRAM], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def quiet(done: int, of: int) -> None:
    """Say nothing of how far it is."""
    del done, of


def rest() -> float:
    """No load."""
    time.sleep(0.1)
    return 0.0


def rates_beside(work: Callable[[], float], seconds: float) -> tuple[Rates, float]:
    """The machine's rates while *work* is done again and again, and the processors it used.

    *work* gives its processor time in seconds.
    """
    used: list[float] = []
    over = threading.Event()

    def repeat() -> None:
        while not over.is_set():
            used.append(work())

    thread = threading.Thread(target=repeat)
    began = time.monotonic()
    thread.start()
    try:
        counted = count_events(seconds, quiet)
    finally:
        over.set()
        thread.join()
    return rates_of(counted), sum(used) / (time.monotonic() - began)


def row(knob: str, rates: Rates, processor: Processor) -> CostRow:
    """As the command makes it, of a bill with the knob's event."""
    event, occasion = KNOBS[knob]
    bills = Bills.model_validate({
        "bills": knob, "operation": occasion, "source": "bench", "per": [occasion],
        "modes": [
            {"mode": "off", "title": "off", "events": {}},
            {"mode": "on", "title": knob, "events": {event: 1},
             "states": [{"file": "knob", "equals": "on"}]},
        ],
    })  # fmt: skip
    knowledge = Knowledge({}, {knob: bills}, {}, KnownStates())
    return cost_rows({"knob": "on"}, rates, [processor], knowledge)[0]


def priced(knobs: Sequence[str], seconds: float) -> tuple[Processor, dict[str, str]]:
    """Prices of the knobs' events beside what runs now, and why some have none."""
    kind = recognised_here("")
    events = frozenset(KNOBS[knob][0] for knob in knobs)
    machine = timed_here(kind, Asked("here", seconds, PROCESSES, events, is_typical=True))
    return widened(with_machine(None, machine, kind, "bench")), machine.refused


def percent_of_load(beside: CostRow, without: CostRow, use: float) -> tuple[float, float, float]:
    """Value, low and high: *beside* the load, less *without* it, a second of its processor."""
    value, low, high = (
        ((getattr(beside.percent, name) or 0.0) - (getattr(without.percent, name) or 0.0)) / use
        for name in ("value", "low", "high")
    )
    return value, low, high


def compare(program: Path, each: Comparison, processor: Processor, without: Rates) -> None:
    """One round: pairs of processes, and the command's row while the load runs."""
    knob = each.knob
    if each.load == PROGRAM[0]:
        each.shares += [measured_program(program, knob) for _ in range(PAIRS)]
        rates, use = rates_beside(partial(run_program, program, knob), COUNT_S)
    else:
        each.shares += [measured_share(program, each.load, knob) for _ in range(PAIRS)]
        with started(program, each.load, knob) as [running]:
            operations = 5 * calibrated(running)
            rates, use = rates_beside(partial(running.run_s, operations), COUNT_S)
    rows = (row(knob, rates, processor), row(knob, without, processor))
    each.predictions.append(percent_of_load(*rows, use))


def print_comparison(of: Comparison) -> None:
    """A line of the table."""
    value, low, high = of.predicted
    print(
        f"  {of.verdict:<11} {of.knob:<7} {of.load:<9} measured {of.measured.mean:6.2f} "
        f"[{of.measured.low:.2f}, {of.measured.high:.2f}] %   predicted {value:6.2f} "
        f"[{low:.2f}, {high:.2f}] %   measured/predicted {of.ratio:5.2f}",
        flush=True,
    )


def usable_knobs(program: Path, knobs: Sequence[str]) -> list[str]:
    """Those that this machine lets a process have; the others are printed with the reason."""
    usable = []
    for knob in knobs:
        done = subprocess.run(
            [program, "pipe", knob, "0"], input="1\n", capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"  {knob}: refused here: {done.stderr.strip()}")
        else:
            usable.append(knob)
    return usable


def main() -> None:
    """Print every comparison, and what this machine refuses."""
    parser = argparse.ArgumentParser(prog="make bench-cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=6, help="of pricing, measuring, counting")
    parser.add_argument("--only", choices=list(KNOBS), action="append", help="this knob")
    options = parser.parse_args()
    print("What a protection takes of a load's processor time; predicted as `mitigauge cost` does")
    print(f"spectre_v2: {read_vulnerabilities().get('spectre_v2', 'nothing')}")
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as name:
        program = Path(name) / "load"
        compile_program([SOURCE], ["-std=gnu11", "-O2"], program, "the load")
        knobs = usable_knobs(program, options.only or list(KNOBS))
        table = [Comparison(load, knob) for knob in knobs for load in LOADS.get(knob, EVERY_LOAD)]
        for number in range(options.rounds):
            processor, refused = priced(knobs, PRICE_S)
            without, _ = rates_beside(rest, COUNT_S)
            for each in table:
                event, _ = KNOBS[each.knob]
                if processor.price_of(event) is None:
                    print(f"  round {number + 1}: no price of {event}: {refused.get(event)}")
                else:
                    compare(program, each, processor, without)
    for each in (each for each in table if len(each.shares) >= FEWEST):
        print_comparison(each)
    judged = [
        each for each in table if len(each.shares) >= FEWEST and each.verdict != "cannot tell"
    ]
    holding = sum(each.verdict == "holds" for each in judged)
    inside = sum(each.is_inside for each in judged)
    off = math.sqrt(fmean((1 / each.ratio - 1) ** 2 for each in judged)) if judged else 0.0
    print(
        f"Of {len(judged)} usable comparisons {holding} are within {100 * FAR:.0f} %, {inside} "
        f"within the predicted interval; off by {100 * off:.0f} % (root mean square)"
    )


if __name__ == "__main__":
    main()
