"""Malformed inputs by the thousand, in processes whose memory and time are watched."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pkgutil
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import ModuleType
from typing import Any

import tests.fuzz
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import get_settings
from tests.measuring import own_peak_bytes, started_peak_bytes

MEMORY_MB = 512
# By the clock, of one input, its processes included.
SECONDS = 90.0
# So many inputs are done between two reports of a process.
BATCH_S = 2.0
FAILURES_KEPT = 50
# Inputs of a generator in the short form.
SHORT = 300


@dataclass(frozen=True, slots=True)
class Generator:
    """A module of this package that makes one malformed input and feeds it to what reads it."""

    name: str
    once: Callable[[random.Random, Path], str]
    share: float
    """Of all inputs, relative to the others': those that cost a process are few."""
    short: int = SHORT
    """How many inputs the short form makes: fewer of those that hold many files each."""


@dataclass(slots=True)
class Tally:
    """What became of a generator's inputs."""

    words: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    failed: int = 0
    peak_mb: float = 0.0
    slowest_s: float = 0.0
    slowest: int = -1

    @property
    def inputs(self) -> int:
        """How many there were."""
        return sum(self.words.values()) + self.failed

    def fail(self, index: int, why: str) -> None:
        """Count a failure; the first ones are kept with their reason."""
        self.failed += 1
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append((index, why))

    def add(self, other: Tally) -> None:
        """Take in what another process counted."""
        self.words += other.words
        self.failed += other.failed
        self.failures = [*self.failures, *other.failures][:FAILURES_KEPT]
        self.peak_mb = max(self.peak_mb, other.peak_mb)
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest


def generators(names: Sequence[str] = ()) -> list[Generator]:
    """All of this package, or those called *names*."""
    found = []
    for info in pkgutil.iter_modules(tests.fuzz.__path__):
        if info.name.startswith(("_", "test_")) or info.name in ("api", "harness"):
            continue
        if not names or info.name in names:
            module: ModuleType = importlib.import_module(f"tests.fuzz.{info.name}")
            share = float(getattr(module, "SHARE", 1.0))
            if hasattr(module, "once"):
                short = int(getattr(module, "SHORT", SHORT))
                found.append(Generator(info.name, module.once, share, short))
    # Parts of one that can be asked for by themselves.
    parts = importlib.import_module("tests.fuzz.workloads").PARTS
    found += [Generator(name, parts[name], 1.0) for name in names if name in parts]
    return found


def rng_of(seed: int, name: str, index: int) -> random.Random:
    """The random numbers of one input, by which it can be made again."""
    return random.Random(f"{seed}:{name}:{index}")


def peak_mb() -> float:
    """The largest memory so far of this process and of the largest that it started."""
    return max(own_peak_bytes(), started_peak_bytes()) / (1 << 20)


def attempt(generator: Generator, seed: int, index: int, scratch: Path, tally: Tally) -> None:
    """One input; whatever happens is in *tally*."""
    directory = scratch / "input"
    directory.mkdir()
    began, before = time.monotonic(), tally.peak_mb
    try:
        tally.words[generator.once(rng_of(seed, generator.name, index), directory)] += 1
    except MitigaugeError:
        tally.words["refused"] += 1
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        tally.fail(index, traceback.format_exc()[-3000:])
    took = time.monotonic() - began
    shutil.rmtree(directory)
    tally.peak_mb = max(before, peak_mb())
    if took > tally.slowest_s:
        tally.slowest_s, tally.slowest = took, index
    if took > SECONDS:
        tally.fail(index, f"took {took:.1f} s")
    if tally.peak_mb > MEMORY_MB >= before:
        tally.fail(index, f"took {tally.peak_mb:.0f} MB")


def use_home(scratch: Path) -> None:
    """Have this process keep its blobs in *scratch*."""
    os.environ["MITIGAUGE_HOME"] = str(scratch)
    get_settings.cache_clear()


def work(name: str, seed: int, turns: tuple[int, int], out: Connection, at: Any) -> None:
    """A process: inputs turns[0], turns[0] + turns[1], … until it is ended."""
    [generator] = generators([name])
    with tempfile.TemporaryDirectory(prefix="mitigauge-fuzz-") as directory:
        use_home(Path(directory))
        tally, reported = Tally(), time.monotonic()
        for index in range(turns[0], at[2], turns[1]):
            at[0], at[1] = index, int(time.monotonic())
            attempt(generator, seed, index, Path(directory), tally)
            if time.monotonic() - reported > BATCH_S:
                out.send((tally, False))
                tally, reported = Tally(), time.monotonic()
        out.send((tally, True))


@dataclass(slots=True)
class Worker:
    """A process over every n-th input of one generator."""

    generator: Generator
    process: Any
    pipe: Connection
    at: Any
    """The input at hand, when it was begun, and the number of all."""


def run(
    found: Sequence[Generator], *, count: int, seconds: float, seed: int, processes: int
) -> Iterator[dict[str, Tally]]:
    """Feed *count* inputs, shared out among the generators; tells how it stands now and then."""
    whole = sum(generator.share for generator in found)
    tallies = {generator.name: Tally() for generator in found}
    deadline = time.monotonic() + seconds
    waiting = [
        (generator, round(count * generator.share / whole), turn)
        for generator in found
        for turn in range(processes)
    ]
    workers: list[Worker] = []
    try:
        while (waiting or workers) and time.monotonic() < deadline:
            while waiting and len(workers) < processes:
                generator, inputs, turn = waiting.pop(0)
                workers.append(started(generator, inputs, seed, turn, processes))
            for pipe in wait([worker.pipe for worker in workers], timeout=BATCH_S):
                worker = next(w for w in workers if w.pipe is pipe)
                if _heard(worker, tallies[worker.generator.name]):
                    workers.remove(worker)
            for worker in [w for w in workers if _hangs(w)]:
                tallies[worker.generator.name].fail(worker.at[0], f"no end within {SECONDS:g} s")
                end(worker)
                workers.remove(worker)
            yield tallies
    finally:
        for worker in workers:
            end(worker)


def started(generator: Generator, inputs: int, seed: int, turn: int, turns: int) -> Worker:
    """A fresh process: nothing of ours is in its memory."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    at = context.Array("q", [0, int(time.monotonic()), inputs], lock=False)
    process = context.Process(
        target=work, args=(generator.name, seed, (turn, turns), theirs, at), daemon=False
    )
    process.start()
    theirs.close()
    return Worker(generator, process, ours, at)


def _heard(worker: Worker, tally: Tally) -> bool:
    """Take in a report; whether it was the process's last."""
    try:
        said, over = worker.pipe.recv()
    except EOFError:
        worker.process.join()
        tally.fail(worker.at[0], f"its process ended with {worker.process.exitcode}")
        return True
    tally.add(said)
    if over:
        worker.process.join()
    return bool(over)


def _hangs(worker: Worker) -> bool:
    return time.monotonic() - float(worker.at[1]) > SECONDS + BATCH_S


def end(worker: Worker) -> None:
    """Stop the process for good."""
    worker.process.kill()
    worker.process.join()
