"""Many questions at once: Holm for revision contrasts, Benjamini–Hochberg for exploratory metrics.

Holm, Scand. J. Stat. 6, 1979: keeps the family-wise error under any dependence.
Benjamini & Hochberg, J. R. Stat. Soc. B 57, 1995: keeps the false discovery rate
for independent or positively dependent p.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mitigauge.errors import InvalidInput
from mitigauge.stats.boot_means import Floats


def holm(p: Sequence[float]) -> Floats:
    """Holm-adjusted p in the order given; reject those at or below the family's α.

    Raises :class:`InvalidInput` for a p outside 0…1.
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(values.size, 0, -1)
    return _back(np.minimum(np.maximum.accumulate(scaled), 1.0), order)


def benjamini_hochberg(p: Sequence[float]) -> Floats:
    """q values in the order given; discoveries at rate q are those at or below q.

    Raises :class:`InvalidInput` for a p outside 0…1.
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    return _back(np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0), order)


def _checked(p: Sequence[float]) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    wrong = values[~((values >= 0) & (values <= 1))]
    if wrong.size:
        raise InvalidInput(
            f"p = {wrong[0]} is no probability", hint="Leave out what has no p value."
        )
    return values


def _back(in_order: Floats, order: np.typing.NDArray[np.intp]) -> Floats:
    result = np.empty_like(in_order)
    result[order] = in_order
    return result
