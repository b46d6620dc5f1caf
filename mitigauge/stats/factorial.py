"""What each knob of a factorial design costs, with intervals that hold jointly. Pure.

A boot mean is, in the metric's own unit, since what mitigations do adds up as time does and not as
factors do,

    y = block + Σⱼ βⱼ xⱼ + Σ γⱼₖ xⱼ xₖ + noise,   xⱼ = −½ where knob j is low, +½ where it is high

so that βⱼ is what j costs on the average over the other knobs, and γⱼₖ = y₁₁ − y₁₀ − y₀₁ + y₀₀
what both cost more than each alone. Noise is in proportion to y where all y are positive: weights
are 1 / ŷ², found by iteration (McCullagh and Nelder, Generalized Linear Models, 1989, ch. 8), else
it is the same everywhere.

Intervals are estimate ± c · error, where c is what the largest of as many independent |t| stays
below with probability 1 − α (studentised maximum modulus). For statistics that depend on each other
c is too large rather than too small (Šidák, JASA 62, 1967), so that all intervals hold together
with at least 1 − α. Unmodelled interactions are part of the noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.stats import dunnett

Floats = NDArray[np.float64]
Pair = tuple[str, str]

ALPHA = 0.05
ITERATIONS = 12
ESTIMABLE = 1e-8


@dataclass(frozen=True, slots=True)
class BootPoint:
    """One boot that counts: which knobs were high, its block, and its mean."""

    high: tuple[bool, ...]
    block: int
    mean: float


@dataclass(frozen=True, slots=True)
class Cost:
    """A change in the metric's unit, with its interval; None where there is no error to go by."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class FactorialEstimate:
    """What was learnt of one metric."""

    boots: int
    df: int
    base: float | None
    """Mean with all knobs low; None where no such boot counts."""
    knobs: Mapping[str, Cost]
    pairs: Mapping[Pair, Cost]
    unknown: Sequence[str]
    """Knobs and pairs that the boots that count do not tell apart."""
    together: Cost | None
    """All knobs high against all low, as those boots measured it."""
    unexplained: Cost | None
    """*together* without the sum of the knobs' own costs."""


def estimate(
    knobs: Sequence[str], pairs: Sequence[Pair], boots: Sequence[BootPoint], alpha: float = ALPHA
) -> FactorialEstimate:
    """What *boots* tell of *knobs* (in the order of ``BootPoint.high``) and of *pairs* of them."""
    points = [boot for boot in boots if np.isfinite(boot.mean)]
    contrasts = len(knobs) + len(pairs) + 2
    fit = _Fit.of(knobs, pairs, points, alpha, contrasts)
    names: list[str | Pair] = [*knobs, *pairs]
    told = {name: fit.effect(i) for i, name in enumerate(names)}
    together, unexplained = fit.together(len(knobs))
    return FactorialEstimate(
        boots=len(points),
        df=fit.df,
        base=fit.base,
        knobs={knob: cost for knob in knobs if (cost := told[knob]) is not None},
        pairs={pair: cost for pair in pairs if (cost := told[pair]) is not None},
        unknown=[_words(name) for name in names if told[name] is None],
        together=together,
        unexplained=unexplained,
    )


def _words(name: str | Pair) -> str:
    return name if isinstance(name, str) else " and ".join(name)


@dataclass(frozen=True, slots=True)
class _Fit:
    """The weighted least squares solution, and how each figure hangs on each boot."""

    y: Floats
    level: Floats
    """Noise of each boot in proportion to this."""
    solution: Floats
    """(effects and blocks, boots): effects = solution @ y."""
    estimable: NDArray[np.bool_]
    ends: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """Boots with all knobs low, and with all high."""
    df: int
    spread: float
    """Standard deviation of the noise where *level* is 1; 0 without degrees of freedom."""
    reach: float
    """The c of the intervals; 0 without degrees of freedom."""

    @classmethod
    def of(
        cls,
        knobs: Sequence[str],
        pairs: Sequence[Pair],
        boots: Sequence[BootPoint],
        alpha: float,
        contrasts: int,
    ) -> _Fit:
        x = _columns(knobs, pairs, boots)
        y = np.array([boot.mean for boot in boots], dtype=np.float64)
        level = np.ones(len(y))
        rank = int(np.linalg.matrix_rank(x)) if len(y) else 0
        # Weights do not matter where every boot is fitted exactly.
        if len(y) and (y > 0).all() and len(y) > rank:
            level = _levels(x, y)
        solution = np.linalg.pinv(x / level[:, None]) / level[None, :]
        df = len(y) - rank
        spread = reach = 0.0
        if df > 0:
            spread = float(np.sqrt(np.square((y - x @ (solution @ y)) / level).sum() / df))
            reach = dunnett.critical_value(alpha, df, (0.0,) * contrasts)
        span = solution @ x
        return cls(
            y=y,
            level=level,
            solution=solution,
            estimable=np.abs(span - np.eye(len(span))).max(axis=1, initial=0.0) < ESTIMABLE,
            ends=(
                np.array([not any(boot.high) for boot in boots], dtype=bool),
                np.array([all(boot.high) for boot in boots], dtype=bool),
            ),
            df=df,
            spread=spread,
            reach=reach,
        )

    @property
    def base(self) -> float | None:
        low, _ = self.ends
        return float(self.y[low].mean()) if low.any() else None

    def effect(self, place: int) -> Cost | None:
        """The effect in that column; None where the boots do not tell it."""
        return self._cost(self.solution[place]) if self.estimable[place] else None

    def together(self, knobs: int) -> tuple[Cost | None, Cost | None]:
        """All high against all low, and that without the sum of the first *knobs* effects."""
        low, high = self.ends
        if not low.any() or not high.any():
            return None, None
        of_ends = high / high.sum() - low / low.sum()
        if not self.estimable[:knobs].all():
            return self._cost(of_ends), None
        return self._cost(of_ends), self._cost(of_ends - self.solution[:knobs].sum(axis=0))

    def _cost(self, by_boot: Floats) -> Cost:
        value = float(by_boot @ self.y)
        if self.df <= 0:
            return Cost(value, None, None)
        reach = self.reach * self.spread * float(np.linalg.norm(by_boot * self.level))
        return Cost(value, value - reach, value + reach)


def _columns(knobs: Sequence[str], pairs: Sequence[Pair], boots: Sequence[BootPoint]) -> Floats:
    """(boots, effects and blocks); the first block is the constant."""
    places = {knob: i for i, knob in enumerate(knobs)}
    signs = np.array([[0.5 if on else -0.5 for on in boot.high] for boot in boots])
    signs = signs.reshape(len(boots), len(knobs))
    products = [signs[:, places[a]] * signs[:, places[b]] for a, b in pairs]
    blocks = sorted({boot.block for boot in boots})
    later = [np.array([float(boot.block == block) for boot in boots]) for block in blocks[1:]]
    return np.column_stack([signs, *products, np.ones(len(boots)), *later])


def _levels(x: Floats, y: Floats) -> Floats:
    """The fitted means, by which noise grows; none below half of the smallest boot."""
    level = y.copy()
    for _ in range(ITERATIONS):
        fitted = x @ (np.linalg.pinv(x / level[:, None]) @ (y / level))
        level = np.maximum(fitted, y.min() / 2.0)
    return level
