"""What a pass tells besides its metrics, in the form that workload.yml declares. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from _kit.wire.details import PassDetails, Point, Reached
from actions import KINDS, LOOP_KINDS
from load_curve import Action, by_kind, geometric_mean, percentile
from summary import actions_of


def details(done: Mapping[str, Any], told: Mapping[str, Any]) -> PassDetails:
    """Load curve, densities, phases and actions of the pass *done*; *told* is its summary."""
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
                name: {**figures, **responses(done, *done["phases"][name])}
                for name, figures in told["phases"].items()
            },
            "actions": by_action(done),
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


def median(values: Sequence[float]) -> float | None:
    """None of nothing."""
    return statistics.median(values) if values else None
