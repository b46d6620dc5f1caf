"""Other ways to bisect, on the same simulated boots, each written after its published rule.

- Plain: ``git bisect`` with a threshold halfway between the ends, each point booted once or 16
  times.
- git-bayesect 1.2 (MIT, on PyPI): its own ``Bisector``, which selects points and weighs passes and
  failures. A boot fails where it is beyond halfway between the ends, of which four boots each are
  made first and recorded as well. It stops at 95 %, as its ``run`` does, or after 250 boots.
- Pinpoint (Chromium's bisection service): 10 attempts a revision; neighbours are compared by the
  smaller p of Mann-Whitney and Kolmogorov-Smirnov, up to 0.01 is a difference and gets the revision
  between them measured, above a threshold that falls with the attempts it is none, and between the
  two the attempts are doubled, up to 160 (catapult, dashboard/pinpoint/models/job_state.py and
  models/compare). An attempt is a boot here, for boots are what scatters.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from bench.bisect.outcome import NONE, SEVERAL, Outcome, named
from bench.bisect.world import World
from bench.stats.rules import PINPOINT_HIGH, PINPOINT_LOW, kolmogorov_smirnov

Rule = Callable[[World], Outcome]
BAYESECT_ENDS, BAYESECT_CONFIDENCE, BAYESECT_BUDGET = 4, 0.95, 250


def boots_of(world: World, point: int, count: int) -> list[float]:
    """Boots of one point in a row."""
    return [world.boot(point) for _ in range(count)]


def plain(count: int) -> Rule:
    """Bisection by thresholds with *count* boots a step."""

    def rule(world: World) -> Outcome:
        low, high = 0, world.scenario.candidates
        halfway = float(np.mean([boots_of(world, low, count), boots_of(world, high, count)]))
        while high - low > 1:
            middle = (low + high) // 2
            if float(np.mean(boots_of(world, middle, count))) > halfway:
                high = middle
            else:
                low = middle
        return named(world, high)

    return rule


def pinpoint(world: World) -> Outcome:
    """All neighbours that differ are culprits; none, one or several."""
    last = world.scenario.candidates
    values = {point: boots_of(world, point, min(PINPOINT_HIGH)) for point in (0, last)}
    while more := _pinpoint_wants(values):
        for point in more:
            count = len(values.get(point, []))
            values.setdefault(point, []).extend(boots_of(world, point, max(count, 10)))
    points = sorted(values)
    culprits = [
        after for before, after in pairwise(points) if _differ(values[before], values[after])
    ]
    if len(culprits) == 1:
        return named(world, culprits[0])
    return Outcome(SEVERAL if culprits else NONE, world.boots)


def _pinpoint_wants(values: dict[int, list[float]]) -> set[int]:
    """Points that get more attempts, or their first."""
    points = sorted(values)
    wanted: set[int] = set()
    for before, after in pairwise(points):
        answer = _differ(values[before], values[after])
        if answer and after - before > 1:
            wanted.add((before + after) // 2)
        elif answer is None:
            fewest = min(len(values[before]), len(values[after]))
            wanted |= {point for point in (before, after) if len(values[point]) == fewest}
    return wanted


def _differ(one: list[float], two: list[float]) -> bool | None:
    count = min(len(one), len(two))
    return _compared(tuple(one[:count]), tuple(two[:count]))


@lru_cache(maxsize=1000)
def _compared(one: tuple[float, ...], two: tuple[float, ...]) -> bool | None:
    count = len(one)
    first, second = np.array(one), np.array(two)
    whitney = float(mannwhitneyu(first, second, method="asymptotic").pvalue)
    p = min(whitney, float(kolmogorov_smirnov(first, second)))
    if p <= PINPOINT_LOW:
        return True
    return False if p > max(PINPOINT_HIGH[count], PINPOINT_LOW) else None


def bayesect_module() -> Any | None:
    """The peer's module; ``None`` where it is not installed."""
    try:
        return importlib.import_module("git_bayesect")
    except ImportError:
        return None


@np.errstate(all="ignore")
def bayesect(world: World) -> Outcome:
    """Passes and failures, weighed by git-bayesect itself."""
    module = importlib.import_module("git_bayesect")
    last = world.scenario.candidates
    # Its first index is the newest commit; the first end cannot be the culprit.
    bisector = module.Bisector([1.0] * last + [0.0])
    ends = {point: boots_of(world, point, BAYESECT_ENDS) for point in (0, last)}
    halfway = float(np.mean(list(ends.values())))
    for point, values in ends.items():
        for value in values:
            bisector.record(last - point, value > halfway)
    while bisector.distribution.max() < BAYESECT_CONFIDENCE and world.boots < BAYESECT_BUDGET:
        index = int(bisector.select())
        bisector.record(index, world.boot(last - index) > halfway)
    index = int(bisector.distribution.argmax())
    return named(world, last - index, float(bisector.distribution.max()))


def rules() -> dict[str, Rule]:
    """By name, those that can run here."""
    found: dict[str, Rule] = {"plain, 1 boot a step": plain(1), "plain, 16 boots a step": plain(16)}
    if bayesect_module() is not None:
        found["git-bayesect 1.2"] = bayesect
    found["Pinpoint 10→160"] = pinpoint
    return found
