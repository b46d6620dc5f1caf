"""One look: effects, intervals and outcomes from the blocks that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.block_model import BlockFit, Mask, fit_blocks
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.dunnett import Loadings, critical_value, loadings_of, p_values
from mitigauge.core.stats.layouts import by_layout
from mitigauge.core.stats.power import detectable_shift
from mitigauge.core.stats.scale import ScaledCases

# Below this share of the values (or of 1, on the log scale) boots do not vary at all:
# what is left is rounding, and t would be a ratio of two rounding errors.
NO_NOISE = 1e-9
# Without noise a difference counts only if it came out alike in so many blocks: a
# coarse clock can repeat itself once or twice.
NO_NOISE_BLOCKS = 4

UNDECIDED, CHANGED, SAME = 0, 1, 2
# Correlation of the differences to a baseline that scatters twice as far as the arms: where it
# scatters less, the noise of all arms together keeps the error.
_OF_OWN = 0.8
# Beyond it p is 0 with any degrees of freedom that decide something.
_LARGEST_T = 1e6


@dataclass(slots=True)
class Figures:
    """Figures by ``[case, arm]``, arm 0 the baseline; NaN where the boots cannot tell."""

    difference: Floats  # on the scale's y
    effect: Floats  # percent, as the four below
    low: Floats
    high: Floats
    mde: Floats
    p: Floats
    mean: Floats
    no_noise: Mask
    outcome: NDArray[np.int8]

    @classmethod
    def empty(cls, mean: Floats) -> Figures:
        """Nothing known but the arms' means."""
        unknown = iter(np.full((6, *mean.shape), np.nan))
        return cls(
            difference=next(unknown),
            effect=next(unknown),
            low=next(unknown),
            high=next(unknown),
            mde=next(unknown),
            p=next(unknown),
            mean=mean,
            no_noise=np.zeros(mean.shape, dtype=np.bool_),
            outcome=np.full(mean.shape, UNDECIDED, dtype=np.int8),
        )


def take_look(
    scaled: ScaledCases,
    present: Mask,
    end: int,
    *,
    level: float,
    interval_level: float,
    delta: Floats,
    blocks: Sequence[int] = (),
    layouts: int = 1,
) -> tuple[Figures, BlockFit]:
    """Figures from the first *end* block columns, tested at *level*, without p.

    Intervals miss with *interval_level*. Beside the noise of all arms together, each arm is tested
    and bounded by its own differences to the baseline, at the same levels: the larger of both
    errors stands. Where arms scatter alike, the former is; an arm that scatters more than the
    others would else be judged by the noise of those.

    With *layouts* above 1 they, not the *blocks* (numbers of the columns), are the replicates. p
    costs an integration each; :func:`p_of` gives those that are wanted.
    """
    columns = slice(0, end)
    figures = Figures.empty(scaled.means(columns))
    y, there = scaled.y[:, :, columns], present[:, columns]
    if layouts > 1:
        y, there = by_layout(y, there, blocks[:end], layouts)
    fit = fit_blocks(y, there)
    arms = fit.contrasts
    if not arms.size:
        return figures, fit
    base = figures.mean[:, 0]
    difference = np.where(np.abs(fit.effects) > NO_NOISE, fit.effects, 0.0)
    figures.difference[:, arms] = difference
    figures.effect[:, arms] = effect = scaled.percent(difference, base)
    if fit.df == 0:
        return figures, fit
    quiet = np.broadcast_to((fit.sigma <= NO_NOISE)[:, None], difference.shape)
    error = np.where(quiet, 0.0, fit.standard_errors)
    limits = _limits(fit, error, level)
    reach = _limits(fit, error, interval_level)
    figures.low[:, arms] = low = scaled.percent(difference - reach, base)
    figures.high[:, arms] = high = scaled.percent(difference + reach, base)
    shift = _detectable(fit, error, level)
    figures.mde[:, arms] = np.abs(scaled.percent(shift, base))
    figures.no_noise[:, arms] = quiet
    bound = delta[:, None]
    # Without noise: beyond ±δ is a change, once enough blocks agree; on its edge counts as inside.
    together = (present[0, columns] & present[arms][:, columns]).sum(axis=1)
    plain = (np.abs(effect) > bound) | (np.isnan(effect) & (difference != 0))
    changed = np.where(quiet, plain & (together >= NO_NOISE_BLOCKS), np.abs(difference) >= limits)
    same = np.where(
        quiet, (np.abs(effect) <= bound) | (difference == 0), (low > -bound) & (high < bound)
    )
    figures.outcome[:, arms] = np.where(changed, CHANGED, np.where(same, SAME, UNDECIDED))
    return figures, fit


def _limits(fit: BlockFit, error: Floats, level: float) -> Floats:
    """What a difference must reach at *level*, ``[case, contrast]``, by either error."""
    pooled = critical_value(level, fit.df, loadings_of(fit.correlation)) * error
    if len(fit.own_df) == 1:
        return np.asarray(pooled)
    own = [_own_critical(level, fit, int(df)) for df in fit.own_df]
    return np.fmax(pooled, np.where(error > 0, np.array(own) * fit.own_errors, 0.0))


def _own_critical(level: float, fit: BlockFit, df: int) -> float:
    return critical_value(level, df, _own_loadings(fit)) if df > 0 else float("nan")


def _own_loadings(fit: BlockFit) -> Loadings:
    return (_OF_OWN**0.5,) * len(fit.own_df)


def _detectable(fit: BlockFit, error: Floats, level: float) -> Floats:
    """The smallest true difference that crosses the limits by either error."""
    critical = critical_value(level, fit.df, loadings_of(fit.correlation))
    pooled = detectable_shift(error, critical=critical, df=fit.df)
    if len(fit.own_df) == 1:
        return pooled
    own = np.full_like(pooled, np.nan)
    for place, df in enumerate(map(int, fit.own_df)):
        if df > 0:
            own[:, place] = detectable_shift(
                fit.own_errors[:, place], critical=_own_critical(level, fit, df), df=df
            )
    return np.fmax(pooled, np.where(error > 0, own, 0.0))


def p_of(figures: Figures, fit: BlockFit, wanted: Mask) -> None:
    """Fill in p for the *wanted* ``[case, arm]`` that have one: the larger one by both errors.

    Without noise p is 1 where nothing differs, and undefined where something does.
    """
    if fit.df == 0 or not fit.contrasts.size:
        return
    arms = fit.contrasts
    difference = figures.difference[:, arms]
    quiet = figures.no_noise[:, arms]
    p = np.where(quiet & (difference == 0), 1.0, np.nan)
    chosen = wanted[:, arms] & ~quiet
    t = difference[chosen] / fit.standard_errors[chosen]
    p[chosen] = p_values(t, fit.df, loadings_of(fit.correlation))
    if len(fit.own_df) > 1:
        p = np.fmax(p, _own_p(difference, fit, chosen))
    figures.p[:, arms] = p


def _own_p(difference: Floats, fit: BlockFit, chosen: Mask) -> Floats:
    """p by the arms' own errors; NaN where it is not *chosen*, or there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = np.minimum(np.abs(difference) / fit.own_errors, _LARGEST_T)
    p = np.full_like(t, np.nan)
    for place, df in enumerate(map(int, fit.own_df)):
        of = chosen[:, place] & ~np.isnan(t[:, place])
        if df > 0:
            p[of, place] = p_values(t[of, place], df, _own_loadings(fit))
    return p
