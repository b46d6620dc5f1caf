"""A rate counted in few trials, with an interval that never promises too much."""

from __future__ import annotations

from mitigauge.errors import InvalidInput
from mitigauge.stats import special


def rate_interval(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a proportion (Clopper and Pearson, Biometrika 26, 1934).

    Raises :class:`InvalidInput` unless 0 ≤ hits ≤ trials and trials > 0.
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise InvalidInput(
            f"{hits} of {trials} is no rate", hint="Count at least one trial, and hits among them."
        )
    tail = (1.0 - level) / 2.0
    low = float(special.betaincinv(hits, trials - hits + 1, tail)) if hits else 0.0
    high = float(special.betaincinv(hits + 1, trials - hits, 1.0 - tail)) if hits < trials else 1.0
    return low, high
