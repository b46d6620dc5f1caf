"""Folding a capture: time and memory beside stackcollapse-perf.pl and inferno."""

from __future__ import annotations

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

# Runs a command and adds its largest memory in KiB. From a small process: a child starts
# with the memory of the one that it was forked from.
PEAK = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """Wall-clock seconds, the best of several, and the largest memory of a further run."""

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
    load = f"timeout {seconds} perf bench sched messaging -l 100000 >/dev/null 2>&1 || true"
    done = subprocess.run(
        ["perf", "record", "-q", "-F", "10000", "-a", "-g", "-e", "cpu-clock",
         "-o", str(target), "--", "sh", "-c", load],
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 0 and target.exists()


def _best(command: Sequence[str], source: Sequence[str] | None, tries: int) -> Timed:
    seconds, folded = min((_run(command, source) for _ in range(tries)), key=lambda run: run[0])
    _, told = _run([sys.executable, "-SEc", PEAK, *command], source)
    return Timed(seconds, int(told.rsplit(b"\n", 2)[1]) / 1024, folded)


def _run(command: Sequence[str], source: Sequence[str] | None) -> tuple[float, bytes]:
    """Wall-clock seconds and what the command prints."""
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
    status = folding.wait()
    if feeding:
        feeding.wait()
    if status:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return time.perf_counter() - begun, folded


def same_counts(first: bytes, second: bytes) -> bool:
    """Whether two folded texts have the same stacks with the same counts."""
    return sorted(first.splitlines()) == sorted(second.splitlines())
