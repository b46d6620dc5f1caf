"""Changed output of workloads through their parsers, and changed events through what counts them.

In this process, so that there are many: `results.py` does the same through the confined one.
Output of one iteration that is taken gives the numbers that were recorded, or none were changed;
where a digest guards it, a digest that was forged as well leaves numbers that can be.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.results.threads import ThreadsBody
from tests.fuzz.mutations import as_json, odd_bytes, odd_json
from tests.loading import load

SHARE = 10.0
# Those that keep every figure twice or under a digest, so that no changed one can pass.
NAMES = ("compile", "desktop", "exits", "fio", "syscall", "wakeups", "window")
# With what the processor or the kernel counted beside each pass.
COUNTED = REPOSITORY / "tests/fixtures/syscall-counters"
CPU = 0


@dataclass(frozen=True)
class Recording:
    """A parser, a directory that a real run left, and the result that it gives."""

    parser: ModuleType
    directory: Path
    result: dict[str, Any]


def once(rng: random.Random, scratch: Path) -> str:
    """One directory for a parser, or now and then the events of a host."""
    return _events(rng) if rng.random() < 0.3 else _directory(rng, scratch)


def _directory(rng: random.Random, scratch: Path) -> str:
    """Recorded output of one of the parsers with one file of figures changed."""
    return changed_output(rng, scratch, rng.choice(recordings()))


def changed_output(rng: random.Random, scratch: Path, of: Recording) -> str:
    """What became of recorded output with one file of figures changed; asserts that it is right."""
    directory = shutil.copytree(of.directory, scratch / "case")
    path = rng.choice(raw_files(directory))
    content = path.read_bytes()
    if path.suffix == ".json" and rng.random() < 0.5:
        path.write_bytes(as_json(rng, odd_json(rng, json.loads(content), rng.choice([1, 1, 2]))))
    else:
        path.write_bytes(odd_bytes(rng, content))
    if is_forged := path.name != "run.json" and rng.random() < 0.5:
        is_forged = _forge_digest(directory, path)
    try:
        result = of.parser.parse(directory)
    except of.parser.parsing.ParseError:
        return "refused"
    _check_finite(result["metrics"])
    if "threads" in result:
        ThreadsBody.model_validate(result["threads"])
    # What run.json says of the pace chooses among the iterations; it has no figure in it.
    if path.name != "run.json" and not is_forged:
        assert result["metrics"] == of.result["metrics"], path.name
        assert _time_and_wakeups(result) == _time_and_wakeups(of.result), path.name
    return "taken"


def raw_files(directory: Path) -> list[Path]:
    """The files that figures are read from, and run.json."""
    passes = [path for suffix in ("json", "txt") for path in directory.glob(f"*-[0-9]*.{suffix}")]
    return sorted([*passes, *directory.glob("*.csv"), directory / "run.json"])


def _time_and_wakeups(result: dict[str, Any]) -> list[int]:
    """All of what the threads did; a name that was changed is no figure."""
    told = result.get("threads")
    if told is None:
        return []
    rows = [*told["rows"], *([told["others"]] if told["others"] else [])]
    return [sum(row[key] or 0 for row in rows) for key in ("wakeups", "run_ns", "wait_ns")]


def _forge_digest(directory: Path, path: Path) -> bool:
    """Make the digest that `run` left fit the changed file, as a hostile host would, if it has one.

    Then the parser's own rules are all that is left.
    """
    record = json.loads((directory / "run.json").read_text())
    if path.name not in record.get("sha256", {}):
        return False
    record["sha256"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (directory / "run.json").write_text(json.dumps(record))
    return True


def _check_finite(metrics: dict[str, Any]) -> None:
    """A figure of a forged file may be another one; it is a number that can be."""
    for metric in metrics.values():
        for value in [*metric["warmup"], *metric["values"]]:
            assert isinstance(value, float | int)
            # A percentage may say that something became faster.
            assert (-100 if metric["unit"] == "percent" else 0) <= value < 1e100


def _events(rng: random.Random) -> str:
    """Recorded events with bytes or lines changed: whatever is counted is possible."""
    counter, lines, window = events()
    if rng.random() < 0.5:
        changed = list(lines)
        for _ in range(rng.choice([1, 2, 20])):
            place = rng.randrange(len(changed))
            changed[place : place + rng.choice([0, 1, 3])] = rng.choices(lines, k=rng.randrange(2))
    else:
        text = odd_bytes(rng, "".join(lines).encode()).decode(errors="replace")
        changed = text.splitlines(keepends=True)
    trace = counter.Trace(window, CPU)
    try:
        trace.read(changed)
    except counter.TraceError:
        return "refused"
    processors = len(set(re.findall(r"\[(\d+)\]", "".join(changed))))
    _check_possible(trace.table(), processors * (window.ended_ns - window.began_ns))
    return "taken"


def _check_possible(table: dict[str, Any], most_ns: int) -> None:
    """Nothing below 0, no more time than all processors have, no wait without a wake-up."""
    total = table["total"]
    assert min(total.values()) >= 0
    assert table["idle_ns"] >= 0
    assert table["unknown_ns"] >= 0
    assert total["waits"] <= total["wakeups"]
    for key in total:
        assert total[key] == sum(row[key] for row in table["names"])
    assert total["run_ns"] + table["idle_ns"] + table["unknown_ns"] <= most_ns


def _of_workload(name: str, rng: random.Random, scratch: Path) -> str:
    return changed_output(rng, scratch, rng.choice(recordings_of(name)))


@cache
def recordings() -> list[Recording]:
    """Each parser with its recorded directories."""
    return [one for name in NAMES for one in recordings_of(name)]


@cache
def recordings_of(name: str) -> list[Recording]:
    """The recorded directories of a workload's parser."""
    parser = load(f"workloads/{name}/parse.py")
    if name == "compile":
        # Of parameters that nobody changes here, and nearly all of the parser's time.
        parser.c_source.digest = cache(parser.c_source.digest)
    recorded = sorted(REPOSITORY.glob(f"workloads/{name}/fixtures/*/case.json"))
    directories = [case.parent for case in recorded] + ([COUNTED] if name == "syscall" else [])
    return [Recording(parser, directory, parser.parse(directory)) for directory in directories]


# By name: the changed output of one workload alone, of all its recordings in turn.
PARTS: dict[str, Callable[[random.Random, Path], str]] = {
    f"workloads-{name}": partial(_of_workload, name) for name in NAMES
}


@cache
def events() -> tuple[ModuleType, list[str], Any]:
    """What counts events, recorded ones, and a window within them."""
    counter = load("workloads/wakeups/sched_trace.py")
    recorded = REPOSITORY / "workloads/wakeups/fixtures/events"
    load_said = json.loads((recorded / "load.json").read_text())
    window = counter.Window(load_said["began_ns"], load_said["ended_ns"])
    text = (recorded / "perf-script.txt").read_text()
    return counter, text.splitlines(keepends=True), window
