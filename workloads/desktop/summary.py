"""What a pass tells: its load curve, its density by threshold, and each phase. Pure.

docs/measuring.md is this file in words.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from actions import LOOP_KINDS
from load_curve import Action, Level, density, density_at, load_curve, response_alone

# Densities are told at these, beside the case's own, in percent.
THRESHOLDS = (25, 50, 100, 200, 400)
# Shorter stretches between two samples say nothing of a largest share.
LEAST_STRETCH_S = 0.5


def actions_of(done: Mapping[str, Any]) -> list[Action]:
    """The actions that ended well, in order."""
    return [
        Action(
            entry["session"], entry["loop"], entry["kind"], entry["began"], entry["ended"],
            (entry["ended_ns"] - entry["began_ns"]) / 1e9, entry["level"],
        )
        for entry in done["actions"]
        if entry["status"] == 0
    ]  # fmt: skip


def summary(
    done: Mapping[str, Any], sessions: int, threshold: float, line_ms: int
) -> dict[str, Any]:
    """The load curve with what follows from it, and every phase; None for what is not known.

    `line_ms`: the response time at which the host is full; 0 without.
    """
    curve = load_curve(actions_of(done), sessions)
    densities = [density(curve, float(t)) for t in sorted({*THRESHOLDS, threshold})]
    return {
        "load_curve": [level._asdict() for level in curve],
        "density": [found._asdict() for found in densities],
        **({"line": line(done, curve, line_ms)} if line_ms else {}),
        "phases": {name: phase(done, *ends) for name, ends in done["phases"].items()},
    }


def line(done: Mapping[str, Any], curve: Sequence[Level], line_ms: int) -> dict[str, Any]:
    """The density at a response time, with what one session alone takes."""
    alone_s = response_alone(actions_of(done), LOOP_KINDS)
    found = density_at(curve, alone_s, line_ms / 1000) if alone_s else None
    return {
        "line_ms": line_ms,
        "alone_ms": 1000 * alone_s if alone_s else None,
        "slowdown": found.threshold if found else None,
        "sessions": found.sessions if found else None,
    }


def phase(done: Mapping[str, Any], began: float, ended: float) -> dict[str, Any]:
    """What host and disks did from `began` to `ended`, seconds since the pass began."""
    samples = [s for s in done["samples"] if began - 1e-3 <= s["at"] <= ended + 1e-3]
    first, last = samples[0], samples[-1]
    seconds = last["at"] - first["at"]
    return {
        "seconds": round(seconds, 3),
        "host_cpu_percent": share(first, last),
        "host_cpu_max_percent": largest_share(samples),
        # Of the time that all virtual processors were there, they waited for one of the host's.
        "cpu_ready_percent": 100
        * (last["waited_ns"] - first["waited_ns"])
        / (seconds * 1e9 * done["vcpus"]),
        "power_w": power(first, last, done["energy_range_uj"], seconds),
        "host_power_w": mean_watts(done.get("bmc", []), began, ended),
        **disks([a for a in done["actions"] if began <= a["began"] <= ended], seconds),
    }


def share(first: Mapping[str, Any], last: Mapping[str, Any]) -> float:
    """Busy share of all processors of the host, in percent."""
    every = last["all"] - first["all"]
    return 100 * (last["busy"] - first["busy"]) / every if every else 0.0


def largest_share(samples: Sequence[Mapping[str, Any]]) -> float:
    """The largest share between two samples, of those that are apart enough."""
    stretches = [
        share(one, two)
        for one, two in zip(samples, samples[1:])
        if two["at"] - one["at"] >= LEAST_STRETCH_S
    ]
    return max(stretches, default=share(samples[0], samples[-1]))


def power(
    first: Mapping[str, Any], last: Mapping[str, Any], ranges: Sequence[int], seconds: float
) -> float | None:
    """Mean power of all packages in W; None where the host does not tell."""
    if not ranges:
        return None
    used = 0
    for before, after, most in zip(first["energy_uj"], last["energy_uj"], ranges):
        # The counter begins anew at `most`.
        used += after - before if after >= before else after - before + most
    return used / 1e6 / seconds


def mean_watts(readings: Sequence[Mapping[str, Any]], began: float, ended: float) -> float | None:
    """Mean of what the host's BMC told meanwhile; None where it told nothing."""
    watts = [reading["watts"] for reading in readings if began <= reading["at"] <= ended]
    return statistics.fmean(watts) if watts else None


def disks(actions: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
    """Requests a second of all guests' disks together, and how long each took in s.

    From before each session's first action to after its last.
    """
    reach: dict[int, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
    for action in actions:
        first, _ = reach.get(action["session"], (action, action))
        reach[action["session"]] = (first, action)
    told: dict[str, Any] = {}
    for name, time in (("reads", "read_ms"), ("writes", "write_ms")):
        count = sum(last[name] - first[f"{name}_before"] for first, last in reach.values())
        took = sum(last[time] - first[f"{time}_before"] for first, last in reach.values())
        which = name.removesuffix("s")
        told[f"{which}_iops"] = count / seconds
        told[f"{which}_latency_s"] = took / 1000 / count if count else None
    return told
