"""The program that times events on this machine: compiled here, run once for each figure."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import ValidationError

from mitigauge.analysis.prices.aftermath import Followed, followed
from mitigauge.analysis.prices.probe import ListedEvent, ProbeRun, ordered, tells
from mitigauge.analysis.prices.snippets import History, SnippetRun
from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.hostile_text import quoted
from mitigauge.core.settings import REPOSITORY
from pipelines.adapters.c_compiler import compile_program

SOURCES = REPOSITORY / "prices" / "probe"
OPTIONS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread")
# Beyond the time that a process is told to sample.
MARGIN_S = 20.0
LONGEST_LINE = 4000
# A process's start, its calibration and the clock's cycles.
OVERHEAD_S = 0.035

Progress = Callable[[int, int], None]


class ProbeFailed(MitigaugeError):
    """The program ended otherwise than it should."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The compiled program."""

    file: Path
    digest: str
    """SHA-256 of its sources."""

    def listed(self) -> list[ListedEvent]:
        """The events that it can time, checks among them."""
        lines = self._output(["list"], MARGIN_S).splitlines()
        return [ListedEvent.model_validate_json(line) for line in lines]

    def timed(
        self, event: str, seconds: float, seed: int, cpu: int, behind: Followed | None = None
    ) -> ProbeRun:
        """What one process says of *event*, pinned to *cpu*, sampling for *seconds*.

        *behind*: branches that run behind each operation, in all ways alike.
        """
        words = [event, f"{seconds:.3f}", str(seed), str(cpu), *map(str, behind or ())]
        line = self._output(words, seconds + MARGIN_S)[:LONGEST_LINE]
        try:
            return ProbeRun.model_validate_json(line)
        except ValidationError:
            raise ProbeFailed(
                f"the program said of {event} what is no figure: {quoted(line, 200)}",
                hint="Say it to whoever maintains prices/probe, with the machine.",
            ) from None

    def compared(
        self, first: Path, second: Path, seconds: float, seed: int, cpu: int
    ) -> SnippetRun:
        """What one process says of two pieces of code. Raises InvalidInput where one faults."""
        words = ["snippet", str(first), str(second), f"{seconds:.3f}", str(seed), str(cpu)]
        lines = self._output(words, seconds + MARGIN_S).splitlines()
        try:
            timed = ProbeRun.model_validate_json(lines[0][:LONGEST_LINE])
            if timed.refused:
                raise InvalidInput(
                    timed.refused, hint="experiments/snippets/README.md has the rules."
                )
            return SnippetRun(timed, History.model_validate_json(lines[-1][:LONGEST_LINE]))
        except (ValidationError, IndexError):
            said = quoted(" ".join(lines), 200)
            raise ProbeFailed(
                f"the program said of the snippets what is no figure: {said}",
                hint="A snippet may have changed registers that it must keep.",
            ) from None

    def _output(self, words: Sequence[str], limit_s: float) -> str:
        try:
            done = subprocess.run(
                [self.file, *words], capture_output=True, text=True, timeout=limit_s, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ProbeFailed(
                f"{' '.join(words)} did not end within {limit_s:.0f} s",
                hint="The machine may be overloaded: try it again when it is not.",
            ) from None
        if done.returncode:
            last = quoted((done.stderr or done.stdout).strip()[-200:], 200)
            raise ProbeFailed(
                f"the program ended with {done.returncode} for {' '.join(words)}: {last}",
                hint="Say it to whoever maintains prices/probe, with the machine.",
            )
        return done.stdout


def compiled(directory: Path, *, is_static: bool = False) -> Probe:
    """The program below *directory*, compiled where it is not there.

    *is_static*: it needs nothing of the machine that it runs on. Raises :class:`NotReady` where no
    compiler is there or it refuses.
    """
    sources = sorted(SOURCES.glob("*.[ch]"))
    content = b"\0".join(source.read_bytes() for source in sources)
    digest = hashlib.sha256(content).hexdigest()
    file = directory / f"price-probe-{digest[:16]}{'-static' if is_static else ''}"
    if not file.exists():
        directory.mkdir(parents=True, exist_ok=True)
        options = (*OPTIONS, "-static") if is_static else OPTIONS
        programs = [source for source in sources if source.suffix == ".c"]
        compile_program(programs, options, file, "the program that times events")
    return Probe(file, digest)


def time_all(
    probe: Probe,
    *,
    seconds: float,
    processes: int,
    seed: int,
    progress: Progress,
    events: Collection[str] | None = None,
) -> tuple[list[ListedEvent], dict[str, list[ProbeRun]]]:
    """Every event in *processes* processes, within some *seconds* in all; refused ones once.

    *events*: only what tells the prices of these, and checks of them; None: all. *progress* gets
    how many processes ended, of how many.
    """
    listed = [each for each in probe.listed() if events is None or tells(each, events)]
    cpus = sorted(os.sched_getaffinity(0))
    chance = Random(seed)
    runs: dict[str, list[ProbeRun]] = {}
    for event in listed:
        # Told at once where the machine has it not, so that the others get its time.
        runs[event.event] = [probe.timed(event.event, 0.001, chance.getrandbits(31), cpus[0])]
    there = [name for name, [first] in runs.items() if not first.refused]
    order = ordered(there, processes, seed)
    for name in there:
        runs[name] = []
    each = max(0.02, seconds / len(order) - OVERHEAD_S) if order else 0.0
    for done, name in enumerate(order):
        progress(done, len(order))
        cpu = cpus[chance.randrange(len(cpus))]
        runs[name].append(probe.timed(name, each, chance.getrandbits(31), cpu))
    return listed, runs


def time_aftermaths(
    probe: Probe,
    events: Sequence[str],
    *,
    seconds: float,
    processes: int,
    seed: int,
    progress: Progress,
) -> dict[str, dict[Followed, list[float]]]:
    """ns that each of *events* adds to what runs behind it, by working set, one a process.

    What this machine refuses is left out.
    """
    cpus = sorted(os.sched_getaffinity(0))
    chance = Random(seed)
    tried = {event: probe.timed(event, 0.001, 1, cpus[0], behind=("taken", 1)) for event in events}
    there = [event for event, run in tried.items() if not run.refused]
    order = [(event, set_) for event in there for set_ in followed() for _ in range(processes)]
    chance.shuffle(order)
    each = max(0.02, seconds / len(order) - OVERHEAD_S) if order else 0.0
    found: dict[str, dict[Followed, list[float]]] = {event: {} for event in there}
    for done, (event, behind) in enumerate(order):
        progress(done, len(order))
        cpu = cpus[chance.randrange(len(cpus))]
        run = probe.timed(event, each, chance.getrandbits(31), cpu, behind=behind)
        if not run.refused:
            found[event].setdefault(behind, []).append(run.difference * run.times)
    return found
