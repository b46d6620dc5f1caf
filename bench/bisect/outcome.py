"""How one simulated bisection ended, in words that hold for every rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.bisect.world import World

RIGHT, WRONG, NONE, SEVERAL, RANGE, OPEN = "right", "wrong", "none", "several", "range", "open"


@dataclass(frozen=True, slots=True)
class Outcome:
    """``what``: one of the words above. ``confidence`` is NaN where a rule states none."""

    what: str
    boots: int
    confidence: float = float("nan")


@dataclass(frozen=True, slots=True)
class Shares:
    """Of one rule in one scenario; ``boots`` is the mean, ``most`` what 95 of 100 stay within."""

    share: dict[str, float]
    boots: float
    most: float
    named: int
    stated: float
    named_right: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Shares:
        words = [outcome.what for outcome in outcomes]
        boots = np.array([outcome.boots for outcome in outcomes])
        named = [outcome for outcome in outcomes if outcome.confidence >= 0.95]
        return cls(
            share={what: words.count(what) / len(words) for what in _WORDS},
            boots=float(boots.mean()),
            most=float(np.percentile(boots, 95)),
            named=len(named),
            stated=float(np.mean([one.confidence for one in named])) if named else float("nan"),
            named_right=sum(outcome.what == RIGHT for outcome in named),
        )


_WORDS = (RIGHT, WRONG, NONE, SEVERAL, RANGE, OPEN)


def named(world: World, candidate: int, confidence: float = float("nan")) -> Outcome:
    """One candidate was named: right if it is the one culprit."""
    right = world.culprits == (candidate,)
    return Outcome(RIGHT if right else WRONG, world.boots, confidence)
