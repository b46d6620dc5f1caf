"""The additive model y = block + arm + ε, ε pooled over the arms, by least squares.

Blocks are eliminated first (Bose's reduced normal equations for an incomplete
block design): with N[arm, block] = 1 where a boot counts, r the boots of each
arm and k those of each block,

    C = diag(r) − N diag(1/k) Nᵀ,     C·effect = q = arm totals − block means,

and, the baseline's effect set to 0, the others' covariance is σ² times the
inverse of C without the baseline's row and column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.core.stats.boot_means import Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BlockFit:
    """Effects against arm 0, the baseline, for cases that share one pattern of boots.

    ``contrasts`` are the rows of the other arms that boots connect to the baseline;
    the arrays below follow it. ``sigma`` is NaN where ``df`` is 0.
    """

    contrasts: NDArray[np.intp]
    effects: Floats  # [case, contrast]
    sigma: Floats  # [case]: standard deviation of a boot
    unit_errors: Floats  # [contrast]: standard error for sigma = 1
    correlation: Floats  # [contrast, contrast]
    df: int
    own_errors: Floats
    """[case, contrast]: standard errors by the differences of the two arms in a block alone, which
    hold however far other arms scatter; NaN with fewer than two such blocks."""
    own_df: NDArray[np.intp]
    """[contrast]: their degrees of freedom."""

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the effects, ``[case, contrast]``."""
        return self.sigma[:, None] * self.unit_errors[None, :]


def fit_blocks(y: Floats, present: Mask) -> BlockFit:
    """Fit *y* ``[case, arm, block]`` where *present* ``[arm, block]`` says which boots count."""
    arms, blocks = _connected_to_baseline(present)
    if arms.size < 2:
        nothing = np.empty((y.shape[0], 0))
        return BlockFit(
            np.empty(0, dtype=np.intp),
            nothing,
            np.full(y.shape[0], np.nan),
            np.empty(0),
            np.empty((0, 0)),
            0,
            nothing,
            np.empty(0, dtype=np.intp),
        )
    there = present[np.ix_(arms, blocks)].astype(np.float64)
    values = np.where(there > 0, y[:, arms][:, :, blocks], 0.0)
    per_block = there.sum(axis=0)
    # Within-block deviations: the block terms are gone, and large units lose no digits.
    centred = (values - (values.sum(axis=1) / per_block)[:, None, :]) * there
    information = np.diag(there.sum(axis=1)) - (there / per_block) @ there.T
    inverse = np.linalg.inv(information[1:, 1:])
    effects = centred.sum(axis=2)[:, 1:] @ inverse
    df = int(there.sum()) - blocks.size - (arms.size - 1)
    errors = np.sqrt(np.diag(inverse))
    own_errors, own_df = _own_errors(values, there)
    return BlockFit(
        contrasts=arms[1:],
        effects=effects,
        sigma=_residual_sigma(centred, effects, there, per_block, df),
        unit_errors=errors,
        correlation=inverse / np.outer(errors, errors),
        df=df,
        own_errors=own_errors,
        own_df=own_df,
    )


def _own_errors(values: Floats, there: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Standard errors of the paired differences to arm 0, and their degrees of freedom."""
    together = there[1:] * there[:1]
    count = together.sum(axis=1)
    differences = (values[:, 1:] - values[:, :1]) * together
    mean = differences.sum(axis=2) / np.maximum(count, 1.0)
    squares = np.square((differences - mean[:, :, None]) * together).sum(axis=2)
    known = np.where(count > 1, count, np.nan)
    errors: Floats = np.sqrt(squares / (known - 1.0) / known)
    return errors, np.maximum(count - 1, 0).astype(np.intp)


def _residual_sigma(
    centred: Floats, effects: Floats, there: Floats, per_block: Floats, df: int
) -> Floats:
    if df == 0:
        return np.full(centred.shape[0], np.nan)
    arm_effects = np.concatenate([np.zeros((effects.shape[0], 1)), effects], axis=1)
    of_block = (arm_effects @ there) / per_block
    fitted = (arm_effects[:, :, None] - of_block[:, None, :]) * there
    squares: Floats = np.square(centred - fitted).sum(axis=(1, 2))
    return np.sqrt(squares / df)


def _connected_to_baseline(
    present: Mask,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Arms and blocks that a chain of shared blocks ties to arm 0; others cannot be compared."""
    arms = np.flatnonzero(present[:1].any(axis=1))
    while True:
        blocks = np.flatnonzero(present[arms].any(axis=0))
        reached = np.flatnonzero(present[:, blocks].any(axis=1))
        if reached.size == arms.size:
            return arms, blocks
        arms = reached
