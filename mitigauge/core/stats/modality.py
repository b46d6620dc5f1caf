"""A warning when values fall into two groups: a mean then describes neither.

The values are cut in two where that explains most of their variance (Fisher's
exact partition, JASA 53, 1958), each part holding at least 15 % and three values.
An even spread, the hardest single group to tell from two, reaches the shares
below in 1 % of samples; a normal one stays under them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.core.stats.boot_means import Floats

SMALLEST_SAMPLE = 8
_SMALLEST_PART = 0.15
# Share of variance that the best cut explains in 1 % of samples of an even spread, by size
# (40,000 samples each, seed 11).
_SIZES = np.array([8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512, 2048])
_SHARES = np.array([
    *(0.958, 0.943, 0.927, 0.906, 0.893, 0.877, 0.861),
    *(0.842, 0.830, 0.815, 0.807, 0.790, 0.778, 0.764),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class TwoGroups:
    """Centres of the two groups, and how many values are in each."""

    low: float
    high: float
    lower: int
    upper: int

    def __str__(self) -> str:
        return f"two groups ({self.lower} and {self.upper})"


def two_groups(values: Sequence[float]) -> TwoGroups | None:
    """The two groups that *values* fall into, or ``None`` where one describes them.

    Fewer than 8 values never warn. Hand in values of one arm whose block effects
    do not matter or have been taken out; drift would look like two groups.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    size = ordered.size
    if size < SMALLEST_SAMPLE:
        return None
    # Squares of very large or small values are no numbers, those of their shares are.
    magnitude = float(np.abs(ordered).max())
    if magnitude == 0.0:
        return None
    ordered /= magnitude
    centred = ordered - ordered.mean()
    total = float(np.square(centred).sum())
    if total == 0.0:
        return None
    part = max(3, int(np.ceil(_SMALLEST_PART * size)))
    explained = _explained_by_cut(centred)[part - 1 : size - part]
    cut = int(np.argmax(explained)) + part
    if explained[cut - part] / total <= np.interp(np.log(size), np.log(_SIZES), _SHARES):
        return None
    return TwoGroups(
        low=float(ordered[:cut].mean()) * magnitude,
        high=float(ordered[cut:].mean()) * magnitude,
        lower=cut,
        upper=size - cut,
    )


def _explained_by_cut(centred: Floats) -> Floats:
    """Sum of squares between the parts for a cut after each value but the last."""
    below = np.arange(1, centred.size)
    sums = np.cumsum(centred)[:-1]
    between: Floats = np.square(sums) * (1.0 / below + 1.0 / (centred.size - below))
    return between
