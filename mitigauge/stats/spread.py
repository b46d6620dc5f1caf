"""How far boots of a designed experiment scatter around its model. Pure.

Noise is taken in proportion to the level where all values are positive: a boot that takes ten times
as long scatters ten times as far. Its share φ is the mean of (r/ŷ)² over its expectation, with
Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946), since residuals of a fit without
weights mix the levels.

Interactions that are in no column of the model are noise of the arms, and another block has the
same ones. Where arms scatter around the model more than their boots do (F test of lack of fit), the
noise is that of the arms, the same for all: they add so much time, and no share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.stats import special

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

LACK_OF_FIT = 0.05
# Of the values: what arithmetic leaves where every boot is fitted exactly.
NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviation of each boot, in the unit of the values; no *df*: it is not known."""

    of_boots: Floats
    df: int


def noise_of(x: Floats, y: Floats, arms: Places, blocks: Places) -> Noise:
    """The noise of *y* around the model of the columns *x*; *arms* and *blocks* of each boot."""
    count = len(y)
    rank = int(np.linalg.matrix_rank(x)) if count else 0
    if count <= rank:
        return Noise(np.zeros(count), 0)
    residual_of = np.eye(count) - x @ np.linalg.pinv(x)
    fitted = y - residual_of @ y
    level = np.maximum(fitted, y.min() / 2.0) if (y > 0).all() else np.ones(count)
    whole = _share(residual_of, y, level)
    lack = _lack_of_fit(residual_of, y, level, arms, blocks)
    if lack is not None:
        return Noise(np.full(count, lack[0]), lack[1])
    return Noise(level * np.sqrt(whole.share), max(1, int(whole.df)))


@dataclass(frozen=True, slots=True)
class _Share:
    """Squared noise as a share of the squared level, with its degrees of freedom."""

    share: float
    df: float


def _share(linear: Floats, y: Floats, level: Floats) -> _Share:
    """What the squares of ``linear @ y`` over *level* tell, where y's noise is of that level."""
    spread = (linear * level[None, :]) / level[:, None]
    squares = spread @ spread.T
    expected = float(np.trace(squares))
    if expected <= NOTHING:
        return _Share(0.0, 0.0)
    told = float(np.square((linear @ y) / level).sum())
    return _Share(told / expected, expected**2 / float(np.square(squares).sum()))


def _lack_of_fit(
    residual_of: Floats, y: Floats, level: Floats, arms: Places, blocks: Places
) -> tuple[float, int] | None:
    """Standard deviation of arms around the model, and its df; None where boots explain it."""
    dummies = np.column_stack(
        [arms[:, None] == np.unique(arms), blocks[:, None] == np.unique(blocks)]
    )
    within = np.eye(len(y)) - dummies @ np.linalg.pinv(dummies.astype(float))
    pure = _share(within, y, level)
    mean_of = (arms[:, None] == arms).astype(float)
    mean_of /= mean_of.sum(axis=1, keepdims=True)
    between_of = mean_of @ residual_of
    between = _share(between_of, y, level)
    if pure.df < 1 or between.df < 1 or between.share <= NOTHING:
        return None
    f = between.share / pure.share if pure.share > 0 else np.inf
    if special.fdtrc(between.df, pure.df, f) >= LACK_OF_FIT:
        return None
    df = int(np.linalg.matrix_rank(between_of))
    return float(np.sqrt(np.square(between_of @ y).sum() / df)), df
