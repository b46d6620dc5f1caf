"""`perf stat` around a measured loop, with those events that this host's perf knows."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from _kit.perf import perf

# What processors and kernels count; uops_issued.any is Intel's name, which others do not know.
EVENTS = (
    *("cycles", "instructions", "branches", "branch-misses", "uops_issued.any"),
    *("page-faults", "context-switches"),
)
PROBE_LIMIT_S = 60


def known_here() -> list[str]:
    """The events of EVENTS that perf takes here; which of them are counted, its output says.

    One unknown name makes perf refuse them all; then each is asked for by itself.
    """
    if _takes(EVENTS):
        return list(EVENTS)
    return [event for event in EVENTS if _takes([event])]


def counted_perf(
    events: Sequence[str], output: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """`perf ARGUMENTS` under `perf stat`, whose counts go to `output`."""
    return perf("stat", "-x,", "-o", str(output), "-e", ",".join(events), "--", "perf", *arguments)


def _takes(events: Sequence[str]) -> bool:
    done = perf("stat", "-x,", "-e", ",".join(events), "--", "true", limit_s=PROBE_LIMIT_S)
    return done.returncode == 0
