"""Folding a capture: time and memory beside stackcollapse-perf.pl and inferno."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OURS = [str(Path(sys.executable).with_name("mitigauge")), "profile", "fold", "--raw"]
PEERS = {
    "stackcollapse-perf.pl": ["stackcollapse-perf.pl"],
    "inferno-collapse-perf": ["inferno-collapse-perf"],
}


@dataclass(frozen=True, slots=True)
class Timed:
    """Wall-clock seconds, the best of several, and the largest memory of any run."""

    seconds: float
    peak_mb: float
    folded: bytes


def tools() -> dict[str, list[str] | None]:
    """Commands by name, ours first; ``None`` for a peer that is not installed."""
    found: dict[str, list[str] | None] = {"mitigauge profile fold": OURS}
    for name, command in PEERS.items():
        found[name] = command if shutil.which(command[0]) else None
    return found


def fold_file(command: Sequence[str], capture: Path, tries: int) -> Timed:
    """Fold a file *tries* times."""
    return _best([*command, str(capture)], None, tries)


def fold_pipe(command: Sequence[str], data: Path, tries: int) -> Timed:
    """Fold what ``perf script`` prints of a recording, through a pipe."""
    given = [*command, "-"] if command[0] == OURS[0] else list(command)
    return _best(given, ["perf", "script", "-i", str(data)], tries)


def record(target: Path, seconds: int) -> bool:
    """Record this machine while perf's own benchmarks run; whether that works here."""
    if not shutil.which("perf"):
        return False
    load = f"timeout {seconds} perf bench sched messaging -l 100000 >/dev/null 2>&1"
    done = subprocess.run(
        ["perf", "record", "-q", "-F", "10000", "-a", "-g", "-e", "cpu-clock",
         "-o", str(target), "--", "sh", "-c", load],
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0 and target.exists()


def _best(command: Sequence[str], source: Sequence[str] | None, tries: int) -> Timed:
    runs = [_run(command, source) for _ in range(tries)]
    best = min(runs, key=lambda run: run.seconds)
    return Timed(best.seconds, max(run.peak_mb for run in runs), best.folded)


def _run(command: Sequence[str], source: Sequence[str] | None) -> Timed:
    begun = time.perf_counter()
    feeding = (
        subprocess.Popen(source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if source
        else None
    )
    folding = subprocess.Popen(
        command,
        stdin=feeding.stdout if feeding else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if feeding and feeding.stdout:
        feeding.stdout.close()
    assert folding.stdout is not None
    folded = folding.stdout.read()
    # wait4 tells this one process's memory; getrusage would tell the largest child's so far.
    _, status, usage = os.wait4(folding.pid, 0)
    if feeding:
        feeding.wait()
    if status:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return Timed(time.perf_counter() - begun, usage.ru_maxrss / 1024, folded)


def same_counts(first: bytes, second: bytes) -> bool:
    """Whether two folded texts have the same stacks with the same counts."""
    return sorted(first.splitlines()) == sorted(second.splitlines())
