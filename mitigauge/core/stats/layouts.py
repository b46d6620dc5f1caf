"""Kernels against kernels: builds that differ in layout alone are the replicates, not their boots.

Block b boots every arm in its layout number (b − 1) mod L. With u the effect of a layout on one
kernel (drawn anew for each kernel and layout),

    y[arm, b] = block[b] + arm + u[arm, layout(b)] + ε,

and all blocks of one layout share its u. Their mean over the blocks of a layout,

    ȳ[arm, l] = (mean of block) + arm + (u[arm, l] + mean of ε),

is again a block design, with a layout in place of a block and one error term in which layout and
boot both are. What is known of that error grows with layouts alone: (L − 1)·(arms − 1) degrees of
freedom, however many boots there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.terms import layout_of


def by_layout(y: Floats, present: Mask, blocks: Sequence[int], layouts: int) -> tuple[Floats, Mask]:
    """*y* ``[case, arm, block]`` and *present* ``[arm, block]`` with a column for each layout.

    A block counts where every arm that has any boot has one in it: else a layout's means would be
    of other blocks for one arm than for another.
    """
    with_boots: Mask = np.asarray(present.any(axis=1))
    complete: Mask = np.asarray(present[with_boots].all(axis=0))
    at = np.array([layout_of(block, layouts) for block in blocks], dtype=np.intp)
    means = np.full((*y.shape[:2], layouts), np.nan)
    for layout in range(layouts):
        columns = np.flatnonzero(complete & (at == layout))
        if columns.size:
            means[:, with_boots, layout] = y[:, with_boots][:, :, columns].mean(axis=2)
    return means, ~np.isnan(means[0])
