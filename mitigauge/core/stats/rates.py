"""A rate counted in few trials, with an interval that never promises too much."""

from __future__ import annotations

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats import special


def rate_interval(
    hits: int, trials: int, *, groups: int | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Exact interval of a proportion (Clopper and Pearson, Biometrika 26, 1934).

    *groups*: how many of the trials are independent of each other, where those of one group may all
    come out alike, such as the cases of a host's day. The interval is that of so many trials with
    the same proportion: it holds however alike they are, and is too wide where they are not.

    Raises :class:`InvalidInput` unless 0 ≤ hits ≤ trials, trials > 0 and 1 ≤ groups ≤ trials.
    """
    independent = trials if groups is None else groups
    if trials < 1 or not 0 <= hits <= trials or not 1 <= independent <= trials:
        raise InvalidInput(
            f"{hits} of {trials} in {independent} groups is no rate",
            hint="Count at least one trial, and hits and groups among them.",
        )
    tail = (1.0 - level) / 2.0
    of = hits * independent / trials
    low = float(special.betaincinv(of, independent - of + 1, tail)) if hits else 0.0
    high = float(special.betaincinv(of + 1, independent - of, 1.0 - tail)) if hits < trials else 1.0
    return low, high
