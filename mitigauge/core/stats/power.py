"""The smallest effect an experiment could have seen: its power, told beforehand or afterwards."""

from __future__ import annotations

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.terms import POWER


def detectable_shift(
    standard_error: Floats, *, critical: float, df: int, power: float = POWER
) -> Floats:
    """The true difference that crosses *critical* with probability *power*.

    |T| with noncentrality δ = shift/standard error is compared with the critical
    value; the far tail is left out, which changes nothing at any power worth having.
    """
    noncentrality = special.nctdtrinc(df, 1.0 - power, critical)
    if not np.isfinite(noncentrality):
        # Beyond the routine's range: t_df(power) above the critical value, a little more.
        noncentrality = critical + special.stdtrit(df, power)
    return np.asarray(noncentrality * standard_error)
