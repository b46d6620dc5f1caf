"""What a pass tells besides its metrics, in the form that workload.yml declares. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from _kit.wire.details import PassDetails, Point, Reached
from actions import APPLICATIONS, KINDS, LOOP_KINDS
from load_curve import Action, by_kind, geometric_mean, percentile
from summary import actions_of


def details(done: Mapping[str, Any], told: Mapping[str, Any], profile: str) -> PassDetails:
    """All that the pass *done* tells besides its metrics; *told* is its summary."""
    sched = done.get("sched", {})
    return PassDetails(
        curve=[
            Point(load=level["sessions"], count=level["actions"], value=level["slowdown"])
            for level in told["load_curve"]
        ],
        reached=[
            Reached(threshold=found["threshold"], load=found["sessions"])
            for found in told["density"]
        ],
        breakdowns={
            "phases": {
                name: {
                    **figures,
                    **responses(done, *done["phases"][name]),
                    # The trace is of the steady phase.
                    "lost_events": lost_events(sched) if name == "steady" else None,
                }
                for name, figures in told["phases"].items()
            },
            "actions": by_action(done),
            "applications": by_application(done, profile),
            "wakers": by_waker(sched) if is_whole(sched) else {},
        },
    )


def responses(done: Mapping[str, Any], began: float, ended: float) -> dict[str, float | None]:
    """Response times of the actions that began within a phase, cold and warm; how many failed."""
    within = [a for a in actions_of(done) if began <= a.began <= ended]
    loops = [a for a in within if a.kind != "login"]
    entries = [entry for entry in done["actions"] if began <= entry["began"] <= ended]
    return {
        "cold_response_s": response(a for a in loops if not a.is_warm),
        "warm_response_s": response(a for a in loops if a.is_warm),
        "actions": float(len(entries)),
        "failed": float(sum(entry["status"] != 0 for entry in entries)),
    }


def response(actions: Iterable[Action]) -> float | None:
    """Geometric mean over all kinds of their medians; None where a kind is missing."""
    took = by_kind(actions)
    if not all(took.get(kind) for kind in LOOP_KINDS):
        return None
    return geometric_mean(statistics.median(took[kind]) for kind in LOOP_KINDS)


def by_action(done: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Of each kind: what it took alone, cold, and warm under full load; how many failed."""
    actions = actions_of(done)
    steady = done["phases"]["steady"][0]
    full = by_kind(a for a in actions if a.is_warm and a.began >= steady)
    alone = by_kind(a for a in actions if a.is_warm and a.level == 1)
    cold = by_kind(a for a in actions if a.loop == 0)
    logins = by_kind(a for a in actions if a.kind == "login")
    failed = [entry["kind"] for entry in done["actions"] if entry["status"] != 0]
    found = {}
    for kind in KINDS:
        # Nobody logs in twice: all log-ins are cold, and happen at all levels.
        took = logins.get(kind, []) if kind == "login" else full.get(kind, [])
        found[kind] = {
            "median_s": median(took),
            "p95_s": percentile(took, 0.95) if took else None,
            "max_s": max(took, default=None),
            "alone_s": median(alone.get(kind, [])),
            "cold_s": median(cold.get(kind, [])),
            "actions": float(len(took)),
            "failed": float(failed.count(kind)),
        }
    return found


def by_application(done: Mapping[str, Any], profile: str) -> dict[str, dict[str, float | None]]:
    """Of each application: what its warm actions took under full load, and their share of all."""
    steady = done["phases"]["steady"][0]
    took = by_kind(a for a in actions_of(done) if a.is_warm and a.began >= steady)
    worked = sum(map(sum, took.values()))
    found = {}
    for application, kinds in APPLICATIONS[profile].items():
        own = [value for kind in kinds for value in took.get(kind, [])]
        found[application] = {
            "median_s": median(own),
            "p95_s": percentile(own, 0.95) if own else None,
            "share_percent": 100 * sum(own) / worked if worked else None,
            "actions": float(len(own)),
        }
    return found


def lost_events(sched: Mapping[str, Any]) -> float | None:
    """Events of the scheduler that were lost or are missing; None where nothing was traced."""
    return float(sched["lost"] + sched.get("missing", 0)) if sched else None


def is_whole(sched: Mapping[str, Any]) -> bool:
    """Whether the scheduler was traced, and no event is missing."""
    return lost_events(sched) == 0


def by_waker(sched: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Wake-ups in a second by who woke, of all threads and of virtual processors alone."""
    seconds = sched["window_ns"] / 1e9
    return {
        source: {
            "wakeups_hz": (woken["of_vcpus"] + woken["of_others"]) / seconds,
            "vcpu_wakeups_hz": woken["of_vcpus"] / seconds,
        }
        for source, woken in sched["wakeups"].items()
    }


def scheduling(sched: Mapping[str, Any]) -> dict[str, float]:
    """Metrics of a whole trace: moves in a second, and processors idle while a task waits."""
    seconds, times = sched["window_ns"] / 1e9, sched["idle_while_waiting_times"]
    every_ns = sched["window_ns"] * sched["processors"]
    return {
        "vcpu_migrations": sched["migrations"]["vcpu"] / seconds,
        "other_migrations": sched["migrations"]["other"] / seconds,
        "idle_while_waiting": 100 * sched["idle_while_waiting_ns"] / every_ns,
        "idle_while_waiting_rate": times / seconds,
    }


def median(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return statistics.median(values) if values else None
