"""What is asked, what was measured, and what to do next: the words of core and driver.

Points 0…n are what can be booted: point 0 is the first end, point n the last. Candidate k (1…n) is
the change between point k − 1 and point k. Point n + 1, where a driver can offer it, is the last
end with one candidate reverted. Values are natural logarithms, so that differences are relative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mitigauge.core.errors import InvalidInput

# Of ranges that people bisect, a good part holds no culprit.
NONE_PRIOR = 0.2
SEVERAL_PRIOR = 0.05
MOST_CANDIDATES = 4096
MOST_BOOTS = 2000


class Purpose(StrEnum):
    """What a step is for."""

    ENDS = "ends"  # do the ends differ at all?
    SEARCH = "search"  # where is the change?
    VERIFY = "verify"  # is it really this candidate?


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for; the same during a whole bisection.

    ``priors``: the weight of each candidate 1…n, at least 0, in any unit. 0 says that its binary is
    its parent's: it is never blamed and its point is never built (but for the last end).
    ``minimum_effect``: natural-log units; ends that differ by less are refused, and what changes by
    less is nobody's culprit. ``minimum_deviations``: the same, in standard deviations of a boot.
    ``confidence``: the probability that a named culprit needs. ``none_prior``, ``several_prior``:
    probability that no candidate is it (drift, noise) and that more than one is, before anything
    was measured. ``revert``: the driver can offer point n + 1. ``build_boots``: what a point that
    was never booted costs besides its boots, in boots.

    Raises :class:`InvalidInput` for what is none of that.
    """

    priors: tuple[float, ...]
    higher_is_worse: bool
    minimum_effect: float
    budget_boots: int
    confidence: float = 0.95
    none_prior: float = NONE_PRIOR
    several_prior: float = SEVERAL_PRIOR
    minimum_deviations: float = 2.0
    revert: bool = False
    build_boots: float = 0.0

    @property
    def last(self) -> int:
        """n: the number of candidates, and the point at the last end."""
        return len(self.priors)

    @property
    def reverted(self) -> int:
        """n + 1: the last end without the candidate under verification."""
        return len(self.priors) + 1

    def __post_init__(self) -> None:
        if not 1 <= len(self.priors) <= MOST_CANDIDATES:
            raise InvalidInput(
                f"a bisection over {len(self.priors)} candidates",
                hint=f"Give 1 to {MOST_CANDIDATES}: choose ends that lie nearer to each other.",
            )
        for candidate, prior in enumerate(self.priors, 1):
            if not (math.isfinite(prior) and prior >= 0):
                raise InvalidInput(
                    f"candidate {candidate} has the prior weight {prior}",
                    hint="Give a finite number of at least 0.",
                )
        self._check("minimum_effect", self.minimum_effect, 0.0, 100.0)
        self._check("budget_boots", self.budget_boots, 1, MOST_BOOTS)
        self._check("confidence", self.confidence, 0.5, 0.9999)
        self._check("none_prior", self.none_prior, 0.001, 0.9)
        self._check("several_prior", self.several_prior, 0.0, 0.09)
        self._check("minimum_deviations", self.minimum_deviations, 0.1, 100.0)
        self._check("build_boots", self.build_boots, 0.0, 1000.0)

    def _check(self, name: str, value: float, low: float, high: float) -> None:
        if not low <= value <= high:
            raise InvalidInput(f"{name} is {value}", hint=f"Give a number from {low} to {high}.")


@dataclass(frozen=True, slots=True)
class Observed:
    """One boot that counts.

    ``group`` names its host, step and block: boots of one group share a level (block effect).
    ``value`` is the log of the boot's mean. ``layout`` names the build, where a point has several
    that differ in layout alone; empty where layout moves nothing (counted time, modes).
    """

    point: int
    group: str
    value: float
    layout: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """All that was learnt; the order of ``observed`` says nothing.

    ``skipped``: point → why it cannot be booted (does not build, does not boot). Such a point is
    never measured again and what was measured of it is not used. Point n + 1 here says that the
    revert does not apply or does not build. ``verified``: group → the candidate for which its step
    was made (:attr:`Measure.verifies`); only such blocks count as its verification.
    """

    observed: tuple[Observed, ...] = ()
    skipped: Mapping[int, str] = field(default_factory=dict)
    verified: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Posterior:
    """What the boots say so far; probabilities add up to 1.

    ``candidates[k − 1]`` is the probability that candidate k is the only culprit, ``none`` that no
    candidate is, ``several`` that there is more than one. ``among_several[k − 1]`` is the
    probability that k is one of them, given that there are several. ``effect`` and ``interval``
    (95 %) are log units between the ends, positive where the last end is larger; ``deviation`` is
    the standard deviation of a boot in log units. NaN while no boot tells them.
    """

    candidates: tuple[float, ...]
    none: float
    several: float
    among_several: tuple[float, ...]
    effect: float
    interval: tuple[float, float]
    deviation: float


@dataclass(frozen=True, slots=True)
class Measure:
    """Boot each of ``points`` once in each of ``blocks`` blocks, in random order within a block.

    ``points`` is sorted and has two or more; the first serves as baseline. Blocks are the sum over
    all hosts. ``verifies``: the candidate under verification, to be stored with the step and given
    back in :attr:`History.verified`; point n + 1 among the points is the last end without it.
    """

    points: tuple[int, ...]
    blocks: int
    why: str
    purpose: Purpose = Purpose.SEARCH
    verifies: int | None = None

    @property
    def boots(self) -> int:
        return self.blocks * len(self.points)


@dataclass(frozen=True, slots=True)
class Culprit:
    """One candidate is the culprit: verified with fresh blocks, and at least as sure as asked.

    ``effect`` and ``interval`` (95 %) are of the candidate against its parent, in log units.
    """

    candidate: int
    confidence: float
    effect: float
    interval: tuple[float, float]
    posterior: Posterior
    why: str = ""


@dataclass(frozen=True, slots=True)
class SeveralCulprits:
    """No single candidate explains the levels. ``candidates``: the likely ones, sorted.

    ``probability`` is that there is more than one culprit, not that it is these.
    """

    candidates: tuple[int, ...]
    probability: float
    why: str
    posterior: Posterior


@dataclass(frozen=True, slots=True)
class NoneOfThese:
    """No candidate changed the level: the ends do not differ when they are measured again."""

    probability: float
    why: str
    posterior: Posterior


@dataclass(frozen=True, slots=True)
class Refused:
    """It cannot be bisected as it is asked; ``what_it_takes`` says what would change that."""

    why: str
    what_it_takes: str
    posterior: Posterior | None = None


@dataclass(frozen=True, slots=True)
class Undecided:
    """It ends without a name: the budget is spent, or skipped points hide which one it is.

    ``candidates``: those that it may be, sorted; together they have ``probability``. ``skipped``:
    the points that hide which one it is; empty where the budget is spent.
    """

    why: str
    candidates: tuple[int, ...]
    probability: float
    posterior: Posterior
    skipped: tuple[int, ...] = ()


Answer = Culprit | SeveralCulprits | NoneOfThese | Refused | Undecided
Action = Measure | Answer
