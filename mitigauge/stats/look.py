"""One look: effects, intervals and outcomes from the blocks that are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.stats.block_model import BlockFit, Mask, fit_blocks
from mitigauge.stats.boot_means import Floats
from mitigauge.stats.dunnett import critical_value, loadings_of, p_values
from mitigauge.stats.layouts import by_layout
from mitigauge.stats.power import detectable_shift
from mitigauge.stats.scale import ScaledCases
from mitigauge.stats.terms import INTERVAL_LEVEL

# Below this share of the values (or of 1, on the log scale) boots do not vary at all:
# what is left is rounding, and t would be a ratio of two rounding errors.
NO_NOISE = 1e-9
# Without noise a difference counts only if it came out alike in so many blocks: a
# coarse clock can repeat itself once or twice.
NO_NOISE_BLOCKS = 4

UNDECIDED, CHANGED, SAME = 0, 1, 2


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
    delta: Floats,
    blocks: Sequence[int] = (),
    layouts: int = 1,
) -> tuple[Figures, BlockFit]:
    """Figures from the first *end* block columns, tested at *level*, without p.

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
    loadings = loadings_of(fit.correlation)
    reach = critical_value(1.0 - INTERVAL_LEVEL, fit.df, loadings) * error
    critical = critical_value(level, fit.df, loadings)
    figures.low[:, arms] = low = scaled.percent(difference - reach, base)
    figures.high[:, arms] = high = scaled.percent(difference + reach, base)
    shift = detectable_shift(error, critical=critical, df=fit.df)
    figures.mde[:, arms] = np.abs(scaled.percent(shift, base))
    figures.no_noise[:, arms] = quiet
    bound = delta[:, None]
    # Without noise: beyond ±δ is a change, once enough blocks agree; on its edge counts as inside.
    together = (present[0, columns] & present[arms][:, columns]).sum(axis=1)
    plain = (np.abs(effect) > bound) | (np.isnan(effect) & (difference != 0))
    changed = np.where(
        quiet, plain & (together >= NO_NOISE_BLOCKS), np.abs(difference) >= critical * error
    )
    same = np.where(
        quiet, (np.abs(effect) <= bound) | (difference == 0), (low > -bound) & (high < bound)
    )
    figures.outcome[:, arms] = np.where(changed, CHANGED, np.where(same, SAME, UNDECIDED))
    return figures, fit


def p_of(figures: Figures, fit: BlockFit, wanted: Mask) -> None:
    """Fill in p for the *wanted* ``[case, arm]`` that have one.

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
    figures.p[:, arms] = p
