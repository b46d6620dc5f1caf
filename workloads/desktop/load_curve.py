"""From timed actions to a load curve, and from the curve to a density. Pure.

docs/measuring.md is this file in words.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# So many actions make a level's slowdown; with fewer the level tells nothing.
LEAST_ACTIONS = 5


class Action(NamedTuple):
    """One timed action: times in seconds since the pass began; `took` by the desktop's clock."""

    session: int
    loop: int
    kind: str
    began: float
    ended: float
    took: float
    level: int
    """Sessions whose log-in had begun when this action began."""

    @property
    def is_warm(self) -> bool:
        """Whether the session did the same before since it logged in."""
        return self.loop > 0


class Level(NamedTuple):
    """One point of the load curve; `slowdown` is in percent of the baseline, 0 being as fast."""

    sessions: int
    actions: int
    slowdown: float | None


class Density(NamedTuple):
    """Sessions until the slowdown passes `threshold` percent; None where it never does."""

    threshold: float
    sessions: float | None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value with `share` of all at or below it (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def geometric_mean(values: Iterable[float]) -> float:
    """Of numbers above 0."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def by_kind(actions: Iterable[Action]) -> dict[str, list[float]]:
    """Kind → what each took."""
    found: dict[str, list[float]] = {}
    for action in actions:
        found.setdefault(action.kind, []).append(action.took)
    return found


def baseline_of(actions: Iterable[Action]) -> dict[str, float]:
    """Kind → median of the warm actions of the one session that was there."""
    alone = (action for action in actions if action.is_warm and action.level == 1)
    return {kind: statistics.median(took) for kind, took in by_kind(alone).items()}


def load_curve(actions: Sequence[Action], sessions: int) -> list[Level]:
    """A point for each number of sessions, 1 to `sessions`.

    The slowdown of a level is the geometric mean, over its warm actions, of what each took over
    the baseline of its kind: no kind weighs more for being long.
    """
    baseline = baseline_of(actions)
    levels = []
    for level in range(1, sessions + 1):
        ratios = [
            action.took / baseline[action.kind]
            for action in actions
            if action.level == level and action.is_warm and action.kind in baseline
        ]
        told = len(ratios) >= LEAST_ACTIONS
        slowdown = 100 * (geometric_mean(ratios) - 1) if told else None
        levels.append(Level(level, len(ratios), slowdown))
    return levels


def density(curve: Iterable[Level], threshold: float) -> Density:
    """Where the curve first passes `threshold` percent, between two levels by a straight line.

    Levels that tell nothing are passed over.
    """
    before: Level | None = None
    for level in curve:
        if level.slowdown is None:
            continue
        if level.slowdown >= threshold:
            return Density(threshold, _crossing(before, level, threshold))
        before = level
    return Density(threshold, None)


def response_alone(actions: Iterable[Action], kinds: Iterable[str]) -> float | None:
    """Response time in s of the first session alone: geometric mean over the kinds' baselines.

    None where a kind has none.
    """
    baseline = baseline_of(actions)
    if not all(kind in baseline for kind in kinds):
        return None
    return geometric_mean(baseline[kind] for kind in kinds)


def density_at(curve: Iterable[Level], alone_s: float, line_s: float) -> Density:
    """Where the response time first passes `line_s`: that of one session alone, slowed down.

    The threshold of what comes back is the slowdown that the line is; 0 or less where one session
    is beyond it already.
    """
    return density(curve, 100 * (line_s / alone_s - 1))


def _crossing(before: Level | None, level: Level, threshold: float) -> float:
    if before is None or before.slowdown is None or level.slowdown is None:
        return float(level.sessions)
    share = (threshold - before.slowdown) / (level.slowdown - before.slowdown)
    return before.sessions + share * (level.sessions - before.sessions)
