"""How many blocks would decide what is undecided. Pure.

A new experiment of b blocks finds the effect e' around the true one e, which the first n blocks
know as far as their own error: with boots that scatter by σ,

    e' | e = N(found, 2 σ² (1/n + 1/b)),   σ² = s² df / χ²_df

(s as the first blocks tell it; flat priors; Geisser, Predictive Inference, 1993). It is decided
where e' reaches the critical value at its last look, or where its interval stays within the
margin. The fewest blocks are told that decide with probability ``PROMISE`` over both unknowns.

Of boots that scatter too far to be decided by the most blocks, a number is told where their scatter
came out small by chance, and seldom kept (docs/statistics.md): hence no odds stand with it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.boundaries import interval_levels, look_levels, looks_until
from mitigauge.core.stats.dunnett import critical_value
from mitigauge.core.stats.power import detectable_shift
from mitigauge.core.stats.terms import ALPHA

PROMISE = 0.8
# Quantiles of σ that stand for all: the chance changes by less than 0.2 % with twice as many.
_SIGMAS = (np.arange(40) + 0.5) / 40
# Complete blocks: two differences to one baseline have a correlation of 1/2.
_LOADING = round(math.sqrt(0.5), 12)


def blocks_to_decide(
    *, effect: float, detectable: float, blocks: int, arms: int, margin: float, most: int
) -> int | None:
    """Blocks of a new experiment that would decide it; None: more than *most*.

    *effect*, *detectable* (with 80 %, at the last look of *blocks*) and *margin*: percent. *arms*:
    beside the baseline, all judged at once.
    """
    if blocks < 2 or not (math.isfinite(effect) and math.isfinite(detectable)) or detectable <= 0:
        return None
    error = detectable / _detectable_in_errors(blocks, arms)

    def chance(planned: int) -> float:
        return _chance(planned, effect, error, blocks, arms, margin)

    few, many = blocks + 1, most
    if many < few or chance(many) < PROMISE:
        return None
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if chance(middle) >= PROMISE else (middle + 1, many)
    return few


def _chance(
    planned: int, effect: float, error: float, blocks: int, arms: int, margin: float
) -> float:
    """The probability that so many *planned* blocks decide."""
    freedom = _freedom(blocks, arms)
    first = error * np.sqrt(freedom / special.chdtri(freedom, 1.0 - _SIGMAS))
    second = first * math.sqrt(blocks / planned)
    spread = np.hypot(first, second)
    critical, reach = _steps(planned, arms)
    least = critical * second
    changed = special.ndtr((effect - least) / spread) + special.ndtr(-(effect + least) / spread)
    # An effect that is found is not said to be the same: only what is nearer to 0 adds.
    within = np.clip(np.minimum(margin - reach * second, least), 0.0, None)
    same = special.ndtr((within - effect) / spread) - special.ndtr((-within - effect) / spread)
    return float(np.mean(changed + same))


def _freedom(blocks: int, arms: int) -> int:
    return (blocks - 1) * arms


@lru_cache(maxsize=1024)
def _steps(blocks: int, arms: int) -> tuple[float, float]:
    """Errors of the difference that a change must reach, and that an interval reaches."""
    schedule = looks_until(blocks)
    loadings = (0.0,) if arms == 1 else (_LOADING,) * arms
    freedom = _freedom(blocks, arms)
    levels = look_levels(schedule, contrasts=arms, alpha=ALPHA)[-1]
    intervals = interval_levels(schedule, contrasts=arms)[-1]
    return (
        critical_value(levels, freedom, loadings),
        critical_value(intervals, freedom, loadings),
    )


def _detectable_in_errors(blocks: int, arms: int) -> float:
    critical, _ = _steps(blocks, arms)
    one = detectable_shift(np.ones(1), critical=critical, df=_freedom(blocks, arms))
    return float(one[0])
