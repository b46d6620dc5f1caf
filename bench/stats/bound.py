"""How few blocks a sequential rule can take, whatever its boundaries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from scipy.stats import nct, t

from bench.stats.noise import BLOCKS
from mitigauge.core.stats.terms import ALPHA


def fewest_blocks(deviations: float, looks: Sequence[int]) -> float:
    """Lower bound of the mean blocks until a change of so many σ of a boot is found.

    One arm beside the baseline, Gaussian noise, at most ``BLOCKS`` blocks. A rule that keeps α
    over all its looks has stopped by look k in at most α of unchanged experiments. Of all
    such tests of the first k blocks that do not depend on location and scale, Student's at α
    is the most powerful (Lehmann & Romano, Testing Statistical Hypotheses, 6.4), so no rule
    stops earlier more often.
    """
    open_ = 1.0
    blocks = 0.0
    for before, look in itertools.pairwise([0, *(n for n in looks if n <= BLOCKS)]):
        blocks += open_ * (look - before)
        open_ = 1.0 - _power(deviations, look)
    return blocks


def _power(deviations: float, blocks: int) -> float:
    """Of a two-sided paired t test at α; two boots scatter √2 as much as one."""
    freedom = blocks - 1
    critical = t.isf(ALPHA / 2, freedom)
    shift = deviations / math.sqrt(2.0) * math.sqrt(blocks)
    # The other tail is below 1e-6 for what is asked here, and not computable further out.
    return float(nct.sf(critical, freedom, shift))
