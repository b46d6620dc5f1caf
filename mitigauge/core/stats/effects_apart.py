"""The difference of two estimates that were measured apart: Welch's t. Pure.

Each side is an effect in percent of its own baseline with the interval that was given for it, or
the mean of an arm's boots. The sides come of other boots, so their variances add:

    d = b - a        SE^2 = SE_a^2 + SE_b^2
    df = SE^4 / (SE_a^4 / df_a + SE_b^4 / df_b)
    interval = d ± t(97.5 %, df) SE        p = 2 P(T_df > |d| / SE)

Sources: B. L. Welch, *The generalization of "Student's" problem when several different population
variances are involved*, Biometrika 34 (1947), 28-35; F. E. Satterthwaite, *An approximate
distribution of estimates of variance components*, Biometrics Bulletin 2 (1946), 110-114.

A stored interval is an effect ± c SE, with c Dunnett's critical value of its arms and degrees of
freedom (:mod:`mitigauge.core.stats.look`), so SE is its half width over c: exact for one arm beside
the baseline that was analysed once. The interval of an interim analysis, or of an arm that scatters
more than others, is wider: SE is then too large rather than too small. With gaps the correlations
are no longer 1/2 each; they are taken to be. After an early stop the interval is that of the
analysis which decided, and so is its SE; the effect itself is overstated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.dunnett import critical_value
from mitigauge.core.stats.look import NO_NOISE, NO_NOISE_BLOCKS
from mitigauge.core.stats.multiplicity import q_values
from mitigauge.core.stats.terms import INTERVAL_LEVEL, POWER

FALSE_DISCOVERIES = 0.05
Counts = NDArray[np.intp]
# Of arms that share complete blocks with their baseline: every correlation is its square.
_LOADING = 0.5**0.5


@dataclass(frozen=True, slots=True)
class StoredEffects:
    """Effects of one side as they are stored, an entry a row, NaN where there is none."""

    effect: Floats
    """Percent of the baseline, as the two below."""
    low: Floats
    high: Floats
    df: NDArray[np.intp]
    """Residual degrees of freedom of the analysis that gave the interval."""
    contrasts: NDArray[np.intp]
    """Arms beside the baseline for which the interval holds at once."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates with standard errors on one scale, an entry a row; an error of 0: no noise."""

    value: Floats
    error: Floats
    df: Floats


@dataclass(frozen=True, slots=True)
class Differences:
    """B less A on the scale of the estimates, an entry a row; NaN where there is none."""

    value: Floats
    error: Floats
    df: Floats
    low: Floats
    high: Floats
    p: Floats


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of the rows together."""

    q: Floats
    differs: Mask
    detectable: Floats
    """The true difference that would be called one in 80 % of repetitions, on the same scale; NaN
    without noise."""


def residual_df(boots: Counts, blocks: Counts, contrasts: Counts) -> Counts:
    """Degrees of freedom of analyses: boots - blocks - contrasts, at least 0.

    *boots*: of all arms within the *blocks* of the analysis, baseline included.
    """
    result: Counts = np.maximum(boots - blocks - contrasts, 0)
    return result


def is_on_log(effects: StoredEffects) -> Mask:
    """Whether each interval was made on the log scale: there, not in percent, is its middle.

    An interval without width is taken to be on the log scale, where it says the same.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        width = effects.high - effects.low
        off = np.abs((effects.high + effects.low) / 2 - effects.effect) / width
        low, middle, high = (np.log1p(x / 100) for x in (effects.low, effects.effect, effects.high))
        off_log = np.abs((low + high) / 2 - middle) / (high - low)
    result: Mask = np.isfinite(low) & (~(width > 0) | (off_log <= off))
    return result


def estimates_of(effects: StoredEffects, on_log: Mask) -> Estimates:
    """Effects with the standard errors that their intervals were made of.

    On the log scale, where *on_log*, as ln(1 + effect / 100); else as a share, effect / 100. An
    effect whose interval is on the other scale is turned to first order.
    """
    critical = _critical(effects.df, effects.contrasts)
    own = is_on_log(effects)
    with np.errstate(invalid="ignore", divide="ignore"):
        half_log = (np.log1p(effects.high / 100) - np.log1p(effects.low / 100)) / 2
        half_share = (effects.high - effects.low) / 200
        value = np.where(on_log, np.log1p(effects.effect / 100), effects.effect / 100)
        factor = 1 + effects.effect / 100
        half = np.where(
            on_log,
            np.where(own, half_log, half_share / factor),
            np.where(own, half_log * factor, half_share),
        )
    return Estimates(value, half / critical, effects.df.astype(np.float64))


def _critical(df: NDArray[np.intp], contrasts: NDArray[np.intp]) -> Floats:
    """Dunnett's critical values of 95 % intervals; NaN where nothing tells the noise."""
    result = np.full(df.shape, np.nan)
    for count, freedom in set(zip(contrasts.tolist(), df.tolist(), strict=True)):
        if count < 1 or freedom < 1:
            continue
        loadings = (0.0,) if count == 1 else (round(_LOADING, 12),) * count
        found = critical_value(1 - INTERVAL_LEVEL, freedom, loadings)
        result[(contrasts == count) & (df == freedom)] = found
    return result


def differences(a: Estimates, b: Estimates) -> Differences:
    """Welch's difference of *b* less *a*, with the 95 % interval of one row by itself.

    Without noise on either side the interval has no width, and p is 1 where nothing differs and
    0 where something does.
    """
    value = b.value - a.value
    squares = a.error**2, b.error**2
    error = np.sqrt(squares[0] + squares[1])
    quiet = error <= NO_NOISE
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = squares[0] ** 2 / a.df + squares[1] ** 2 / b.df
        df = np.where(quiet, np.fmin(a.df, b.df), (squares[0] + squares[1]) ** 2 / parts)
        t = np.abs(value) / error
        p = 2 * special.stdtr(df, -t)
        reach = special.stdtrit(df, 0.5 + INTERVAL_LEVEL / 2) * error
    value = np.where(np.abs(value) <= NO_NOISE, 0.0, value)
    p = np.where(quiet, np.where(value == 0, 1.0, 0.0), p)
    reach = np.where(quiet, 0.0, reach)
    p = np.where(np.isnan(error) | np.isnan(value), np.nan, p)
    return Differences(value, error, df, value - reach, value + reach, p)


def judge(found: Differences, *, blocks: NDArray[np.intp], delta: Floats) -> Judged:
    """Which rows differ, with no more than 5 % false ones among them (Benjamini & Hochberg).

    Every row with a p counts as a question. Without any noise a row differs only beyond ±*delta*,
    on the scale of the differences, and from 4 *blocks* on, as in :mod:`mitigauge.core.stats.look`.

    The detectable difference is at the level that one row more would have to reach,
    5 % (k + 1) / m with k of m rows that differ: critical value plus t(80 %), times SE.
    """
    quiet = found.error <= NO_NOISE
    small = (np.abs(found.value) <= delta) | (blocks < NO_NOISE_BLOCKS)
    p = np.where(quiet & small & ~np.isnan(found.p), 1.0, found.p)
    asked = ~np.isnan(p)
    q = np.full(p.shape, np.nan)
    if asked.any():
        q[asked] = q_values(p[asked])
    differs = asked & (np.nan_to_num(q, nan=1.0) <= FALSE_DISCOVERIES)
    count = int(asked.sum())
    level = FALSE_DISCOVERIES * min(int(differs.sum()) + 1, max(count, 1)) / max(count, 1)
    with np.errstate(invalid="ignore"):
        steps = special.stdtrit(found.df, 1 - level / 2) + special.stdtrit(found.df, POWER)
        detectable = np.where(asked & ~quiet, steps * found.error, np.nan)
    return Judged(q, differs, detectable)


def percent_of(difference: Floats, on_log: Mask) -> Floats:
    """Differences in percent: of factors on the log scale, else percentage points."""
    factor = 100 * np.expm1(np.clip(difference, -600.0, 600.0))
    return np.where(on_log, factor, 100 * difference)
