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
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from mitigauge.settings import REPOSITORY
from tests.fuzz.mutations import as_json, odd_bytes, odd_json
from tests.loading import load

SHARE = 10.0
# Those that keep every figure twice, so that no changed one can pass.
NAMES = ("compile", "desktop", "exits", "fio", "wakeups")
CPU = 0


def once(rng: random.Random, scratch: Path) -> str:
    """One directory for a parser, or now and then the events of a host."""
    return _events(rng) if rng.random() < 0.3 else _directory(rng, scratch)


def _directory(rng: random.Random, scratch: Path) -> str:
    """Recorded output with one file of figures changed."""
    parser, recorded, expected = rng.choice(recordings())
    directory = shutil.copytree(recorded, scratch / "case")
    path = rng.choice(sorted([*directory.glob("*-[0-9]*.json"), directory / "run.json"]))
    content = path.read_bytes()
    changed = as_json(rng, odd_json(rng, json.loads(content), rng.choice([1, 1, 2])))
    path.write_bytes(changed if rng.random() < 0.5 else odd_bytes(rng, content))
    if is_forged := path.name != "run.json" and rng.random() < 0.5:
        is_forged = _forge_digest(directory, path)
    try:
        result = parser.parse(directory)
    except parser.parsing.ParseError:
        return "refused"
    if is_forged:
        _check_finite(result["metrics"])
        return "taken"
    # What run.json says of the pace chooses among the iterations; it has no figure in it.
    if path.name != "run.json":
        assert result["metrics"] == expected, path.name
    return "taken"


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


@cache
def recordings() -> list[tuple[ModuleType, Path, dict[str, Any]]]:
    """Each parser with a recorded directory, and the metrics that it gives."""
    found = []
    for name in NAMES:
        parser = load(f"workloads/{name}/parse.py")
        for case in sorted(REPOSITORY.glob(f"workloads/{name}/fixtures/*/case.json")):
            found.append((parser, case.parent, parser.parse(case.parent)["metrics"]))
    return found


@cache
def events() -> tuple[ModuleType, list[str], Any]:
    """What counts events, recorded ones, and a window within them."""
    counter = load("workloads/wakeups/sched_trace.py")
    recorded = REPOSITORY / "workloads/wakeups/fixtures/events"
    load_said = json.loads((recorded / "load.json").read_text())
    window = counter.Window(load_said["began_ns"], load_said["ended_ns"])
    text = (recorded / "perf-script.txt").read_text()
    return counter, text.splitlines(keepends=True), window
