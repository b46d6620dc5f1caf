"""What each knob of a factorial design costs, with intervals that hold jointly. Pure.

A boot mean is, in the metric's own unit, since what mitigations do adds up as time does and not as
factors do,

    y = block + Σⱼ βⱼ xⱼ + Σ γⱼₖ xⱼ xₖ + noise,   xⱼ = −½ where knob j is low, +½ where it is high

so that βⱼ is what j costs on the average over the other knobs, and γⱼₖ = y₁₁ − y₁₀ − y₀₁ + y₀₀
what both cost more than each alone. Estimates are least squares without weights, which alone keep
a knob clear of pairs that nobody asked for. Their errors are for noise in proportion to the level
where all y are positive, else for the same noise everywhere (:mod:`mitigauge.core.stats.spread`).

Intervals are estimate ± c · error, where c is what the largest of as many independent |t| stays
below with probability 1 − α (studentised maximum modulus). For statistics that depend on each
other c is too large rather than too small (Šidák, JASA 62, 1967), so that all intervals hold
together with at least 1 − α.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats import dunnett
from mitigauge.core.stats.spread import Noise, Residuals, noise_of

Floats = NDArray[np.float64]
Pair = tuple[str, str]

ALPHA = 0.05
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
    """*together* without the sum of the knobs' own costs; None where the design cannot tell it."""
    scatter: float
    """Root mean square of the arms' means around the model, in the metric's unit."""
    furthest: tuple[tuple[bool, ...], float] | None
    """The arm that lies furthest from the model, and by how much; None without boots."""


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
    apart = _apart(points, fit)
    return FactorialEstimate(
        boots=len(points),
        df=fit.noise.df,
        base=fit.base,
        knobs={knob: cost for knob in knobs if (cost := told[knob]) is not None},
        pairs={pair: cost for pair in pairs if (cost := told[pair]) is not None},
        unknown=[_words(name) for name in names if told[name] is None],
        together=together,
        unexplained=unexplained,
        scatter=float(np.sqrt(np.mean(np.square(list(apart.values()))))) if apart else 0.0,
        furthest=max(apart.items(), key=lambda arm: abs(arm[1]), default=None),
    )


def _apart(boots: Sequence[BootPoint], fit: _Fit) -> dict[tuple[bool, ...], float]:
    """By how much the mean of each arm lies off the model."""
    found: dict[tuple[bool, ...], list[float]] = {}
    for boot, off in zip(boots, fit.residual, strict=True):
        found.setdefault(boot.high, []).append(float(off))
    return {arm: sum(values) / len(values) for arm, values in found.items()}


def _words(name: str | Pair) -> str:
    return name if isinstance(name, str) else " and ".join(name)


@dataclass(frozen=True, slots=True)
class _Model:
    """What the boots of a design tell, whatever they measured."""

    solution: Floats
    """(effects and blocks, boots): effects = solution @ y."""
    estimable: NDArray[np.bool_]
    ends: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """Boots with all knobs low, and with all high."""
    residuals: Residuals


@lru_cache(maxsize=32)
def _model(
    knobs: tuple[str, ...],
    pairs: tuple[Pair, ...],
    highs: tuple[tuple[bool, ...], ...],
    blocks: tuple[int, ...],
) -> _Model:
    """Of boots with these knobs high, in these blocks: the cases of a run share one."""
    x = _columns(knobs, pairs, highs, blocks)
    solution = np.asarray(np.linalg.pinv(x), dtype=np.float64)
    span = solution @ x
    arms = {high: i for i, high in enumerate(dict.fromkeys(highs))}
    return _Model(
        solution=solution,
        estimable=np.abs(span - np.eye(len(span))).max(axis=1, initial=0.0) < ESTIMABLE,
        ends=(
            np.array([not any(high) for high in highs], dtype=bool),
            np.array([all(high) for high in highs], dtype=bool),
        ),
        residuals=Residuals.of(
            x,
            np.array([arms[high] for high in highs], dtype=np.int64),
            np.array(blocks, dtype=np.int64),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """One metric's solution."""

    y: Floats
    model: _Model
    noise: Noise
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
        highs = tuple(boot.high for boot in boots)
        model = _model(tuple(knobs), tuple(pairs), highs, tuple(boot.block for boot in boots))
        y = np.array([boot.mean for boot in boots], dtype=np.float64)
        noise = noise_of(model.residuals, y)
        reach = dunnett.critical_value(alpha, noise.df, (0.0,) * contrasts) if noise.df else 0.0
        return cls(y, model, noise, reach)

    @property
    def residual(self) -> Floats:
        """What the model leaves of each boot."""
        return self.model.residuals.whole @ self.y

    @property
    def base(self) -> float | None:
        """Mean of the boots with all knobs low."""
        low, _ = self.model.ends
        return float(self.y[low].mean()) if low.any() else None

    def effect(self, place: int) -> Cost | None:
        """The effect in that column; None where the boots do not tell it."""
        told = self.model.estimable[place]
        return self._cost(self.model.solution[place]) if told else None

    def together(self, knobs: int) -> tuple[Cost | None, Cost | None]:
        """All high against all low, and that without the sum of the first *knobs* effects."""
        low, high = self.model.ends
        if not low.any() or not high.any():
            return None, None
        of_ends = high / high.sum() - low / low.sum()
        if not self.model.estimable[:knobs].all():
            return self._cost(of_ends), None
        left = of_ends - self.model.solution[:knobs].sum(axis=0)
        # Where knobs take every odd column, their sum is this difference whatever the boots say.
        told = np.abs(left).max() > ESTIMABLE
        return self._cost(of_ends), self._cost(left) if told else None

    def _cost(self, by_boot: Floats) -> Cost:
        value = float(by_boot @ self.y)
        if not self.noise.df:
            return Cost(value, None, None)
        reach = self.reach * float(np.linalg.norm(by_boot * self.noise.of_boots))
        return Cost(value, value - reach, value + reach)


def _columns(
    knobs: Sequence[str],
    pairs: Sequence[Pair],
    highs: Sequence[tuple[bool, ...]],
    blocks: Sequence[int],
) -> Floats:
    """(boots, effects and blocks); the first block is the constant."""
    places = {knob: i for i, knob in enumerate(knobs)}
    signs = np.array([[0.5 if on else -0.5 for on in high] for high in highs])
    signs = signs.reshape(len(highs), len(knobs))
    products = [signs[:, places[a]] * signs[:, places[b]] for a, b in pairs]
    later = [
        np.array([float(block == each) for block in blocks]) for each in sorted(set(blocks))[1:]
    ]
    return np.column_stack([signs, *products, np.ones(len(highs)), *later])
