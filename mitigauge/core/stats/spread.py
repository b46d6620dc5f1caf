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

from mitigauge.core.stats import special

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


@dataclass(frozen=True, slots=True)
class Residuals:
    """What a model leaves of the values of its boots; the same for every metric of these boots."""

    whole: Floats
    """(boots, boots): residuals = whole @ y."""
    within: Floats
    """What boots of one arm differ by, blocks taken out."""
    between: Floats
    """What the mean of each arm lies off the model."""
    df: int
    between_df: int

    @classmethod
    def of(cls, x: Floats, arms: Places, blocks: Places) -> Residuals:
        """Of a model with the columns *x*; *arms* and *blocks* of each boot."""
        count = len(x)
        whole = np.eye(count) - x @ np.linalg.pinv(x)
        alike = arms[:, None] == arms
        dummies = np.column_stack([alike, blocks[:, None] == blocks]).astype(float)
        between = (alike / np.maximum(alike.sum(axis=1, keepdims=True), 1)) @ whole
        return cls(
            whole=whole,
            within=np.eye(count) - dummies @ np.linalg.pinv(dummies),
            between=between,
            df=count - _rank(x),
            between_df=_rank(between),
        )


def _rank(matrix: Floats) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=1e-9)) if matrix.size else 0


def noise_of(of: Residuals, y: Floats) -> Noise:
    """The noise of *y* around the model."""
    if of.df <= 0:
        return Noise(np.zeros(len(y)), 0)
    fitted = y - of.whole @ y
    level = np.maximum(fitted, np.min(y) / 2.0) if (y > 0).all() else np.ones(len(y))
    lack = _lack_of_fit(of, y, level)
    if lack is not None:
        return Noise(np.full(len(y), lack), of.between_df)
    whole = _share(of.whole, y, level)
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


def _lack_of_fit(of: Residuals, y: Floats, level: Floats) -> float | None:
    """Standard deviation of arms around the model; None where boots explain it."""
    if of.between_df < 1 or of.df <= of.between_df:
        return None
    pure, between = _share(of.within, y, level), _share(of.between, y, level)
    if pure.df < 1 or between.share <= NOTHING:
        return None
    f = between.share / pure.share if pure.share > 0 else np.inf
    if special.fdtrc(between.df, pure.df, f) >= LACK_OF_FIT:
        return None
    return float(np.sqrt(np.square(of.between @ y).sum() / of.between_df))
