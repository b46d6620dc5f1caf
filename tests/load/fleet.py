"""A fleet at work: simulated hosts, real workers and API processes, many runs for a while.

Usage: python -m tests.load.fleet [--hosts 200] [--runs 2000] [--workers 3] [--apis 2]
       [--seconds 1800]

Each host has one experiment after the other, by either API. It prints what was lost, done twice or
stuck, runs an hour, and the workers' memory with its growth in the second half. Its exit code is 1
where something was wrong. Hosts are simulated: Ansible's memory is none of these figures.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from mitigauge.storage.database.embedded_server import stop
from mitigauge.storage.database.engine import new_engine
from tests.crash.campaign import migrated_server
from tests.crash.lanes import Lane
from tests.crash.rig_api import start_api
from tests.crash.scenarios import Scenario

TICK_S = 0.2
LOOK_S = 5.0
PROGRESS_S = 15.0
# An experiment of a few boots that is not over by then is stuck, however many others there are.
BOUND_S = 900.0
LEASE_S = 90.0
MOST_MIB = 1024.0
MOST_GROWTH = 0.05
# What a run meets most of the time: nothing goes wrong, and jobs take a while.
SCENARIOS = (
    Scenario("quick jobs", world={"quick": True}, weight=2),
    Scenario("polled jobs", weight=2),
    Scenario("long jobs", world={"job_s": 3.0}, weight=4),
    Scenario("two blocks", blocks=2, world={"job_s": 1.0}, weight=2),
)


@dataclass(frozen=True)
class Plan:
    """How much at once, and for how long."""

    hosts: int = 200
    runs: int = 2000
    workers: int = 3
    apis: int = 2
    seconds: float = 1800.0
    seed: int = 1

    @property
    def concurrency(self) -> int:
        """Runs that each worker advances at once, so that none waits for a worker."""
        return -(-self.hosts // self.workers)


@dataclass
class Memory:
    """What workers take, MiB, over the time."""

    samples: list[tuple[float, dict[int, float]]] = field(default_factory=list)

    def look(self, at: float, workers: Sequence[subprocess.Popen[bytes]]) -> None:
        """Take a sample."""
        self.samples.append((at, {each.pid: proportional_mib(each.pid) for each in workers}))

    @property
    def largest(self) -> float:
        """Of one worker at any time."""
        return max((mib for _, found in self.samples for mib in found.values()), default=0.0)

    def growth(self) -> float:
        """Of all of them from the third to the last quarter of the time, as a part."""
        if len(self.samples) < 8:
            return 0.0
        last = self.samples[-1][0]
        sums = [(at, sum(found.values())) for at, found in self.samples]
        third = [mib for at, mib in sums if last / 2 <= at < 3 * last / 4]
        fourth = [mib for at, mib in sums if at >= 3 * last / 4]
        return median(fourth) / median(third) - 1


def proportional_mib(pid: int) -> float:
    """A process's memory, what it shares counted in part (PSS), MiB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


@dataclass
class Outcome:
    """What came of it."""

    runs: int
    seconds: float
    wrong: Counter[str]
    told: list[str]
    memory: Memory
    ended: int

    @property
    def good(self) -> bool:
        """Whether nothing is wrong, and memory within its limits."""
        fits = self.memory.largest <= MOST_MIB and self.memory.growth() < MOST_GROWTH
        return not self.wrong and not self.ended and fits and self.runs > 0

    def table(self) -> str:
        """Figures, one a line."""
        rows = [
            ("runs", f"{self.runs} in {self.seconds:.0f} s"),
            ("lost, twice, stuck …", ", ".join(f"{n} {k}" for k, n in self.wrong.items()) or "0"),
            ("workers that ended", str(self.ended)),
            ("largest worker", f"{self.memory.largest:.0f} MiB (≤ {MOST_MIB:.0f})"),
            ("growth, last half", f"{self.memory.growth():+.1%} (< {MOST_GROWTH:.0%})"),
        ]
        return "\n".join(f"{title:24}{value}" for title, value in rows)


def carry_out(plan: Plan, url: str, home: Path) -> Outcome:
    """Let the fleet work over the migrated database at *url*."""
    with ExitStack() as stack:
        engine = new_engine(url)
        stack.callback(engine.dispose)
        names = [f"h{n}-{g}" for n in range(plan.hosts) for g in range(3)]
        apis = [start_api(url, home, names) for _ in range(plan.apis)]
        for api in apis:
            stack.callback(api.stop)
        lanes = [
            Lane(
                f"h{n}", home, engine, apis[n % plan.apis], random.Random(1000 * plan.seed + n),
                SCENARIOS, 0.0, BOUND_S,
            )
            for n in range(plan.hosts)
        ]  # fmt: skip
        for lane in lanes:
            lane.begin()
        workers = [_worker(plan, url, home) for _ in range(plan.workers)]
        for worker in workers:
            stack.callback(worker.kill)
        memory, seconds = _drive(plan, lanes, workers)
        verdicts = [verdict for lane in lanes for verdict in lane.verdicts]
        return Outcome(
            runs=len(verdicts),
            seconds=seconds,
            wrong=Counter(each.kind for verdict in verdicts for each in verdict.wrong),
            told=[
                f"{each.what}\n{verdict.story}" for verdict in verdicts for each in verdict.wrong
            ],
            memory=memory,
            ended=sum(worker.poll() is not None for worker in workers),
        )


def _worker(plan: Plan, url: str, home: Path) -> subprocess.Popen[bytes]:
    """A process of its own: a forked one's memory grows for a while as it stops sharing pages."""
    words = [url, str(home), str(LEASE_S), f"--concurrency={plan.concurrency}"]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.crash.worker_main", *words],
        stdout=(home / "workers.log").open("ab"),
        stderr=subprocess.STDOUT,
        env={**os.environ, "MITIGAUGE_HOME": str(home)},
    )


def _drive(
    plan: Plan, lanes: Sequence[Lane], workers: Sequence[subprocess.Popen[bytes]]
) -> tuple[Memory, float]:
    """Go on until the runs or the time are over; no experiment is left half-done."""
    began = time.monotonic()
    memory, looked, told = Memory(), 0.0, 0.0
    begun = len(lanes)
    while True:
        now = time.monotonic() - began
        enough = begun >= plan.runs or now > plan.seconds
        for lane in lanes:
            if lane.scenario is None and not enough:
                lane.begin()
                begun += 1
            lane.tick(())
        if now - looked >= LOOK_S:
            looked = now
            memory.look(now, workers)
        if now - told >= PROGRESS_S:
            told = now
            over = sum(len(lane.verdicts) for lane in lanes)
            print(f"{now:6.0f} s  {over:5d} runs  {memory.largest:5.0f} MiB", flush=True)
        if enough and all(lane.scenario is None for lane in lanes):
            return memory, now
        time.sleep(TICK_S)


def main(arguments: Sequence[str]) -> int:
    """Carry it out on a server of its own; the process's exit code."""
    parser = argparse.ArgumentParser(prog="fleet", description=__doc__.splitlines()[0])
    for name, standard in (("hosts", 200), ("runs", 2000), ("workers", 3), ("apis", 2)):
        parser.add_argument(f"--{name}", type=int, default=standard)
    parser.add_argument("--seconds", type=float, default=1800.0)
    asked = parser.parse_args(arguments)
    home = Path(tempfile.mkdtemp(prefix="mgload-"))
    try:
        outcome = carry_out(Plan(**vars(asked)), migrated_server(home, safe=False), home)
    finally:
        stop(home, mode="immediate")
    if outcome.wrong or outcome.ended:
        print("\n\n".join(outcome.told[:5]), f"\nlogs and worlds: {home}")
    else:
        shutil.rmtree(home)
    print(f"\n{outcome.table()}")
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
