"""Many questions at once: Benjamini & Hochberg, J. R. Stat. Soc. B 57, 1995.

It keeps the false discovery rate for independent or positively dependent p.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mitigauge.core.stats.boot_means import Floats


def q_values(p: Sequence[float] | Floats) -> Floats:
    """q in the order of *p*; discoveries at a rate are those at or below it.

    A p that is not a number has no q, but counts as a question. Raises ``ValueError`` for
    a p outside 0…1.
    """
    # SciPy's statistics take most of a second and 44 MB to load; most commands never ask.
    from scipy.stats import false_discovery_control

    values = np.asarray(p, dtype=np.float64)
    unknown = np.isnan(values)
    # No p is larger than 1, so that none of the others changes its q.
    q: Floats = np.asarray(false_discovery_control(np.where(unknown, 1.0, values)))
    q[unknown] = np.nan
    return q
