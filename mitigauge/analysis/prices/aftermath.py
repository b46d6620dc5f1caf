"""What an event costs those who run behind it, fitted to timings of working sets. Pure.

Behind the event run so many branches, each in a place of its own. The difference that the event
makes is *once + ns x min(branches, ceiling)* for each kind of branch: least squares of the errors
in parts of what was measured, over processes; its 95 % interval is that of 400 bootstrap samples
of the processes of each number (Efron, Annals of Statistics 7, 1979). Mixed sets are predicted by
the sum over kinds, and are not used for the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.prices.definitions import (
    DIGITS,
    Aftermath,
    BranchKind,
    Refill,
    WorkingSet,
)
from mitigauge.analysis.prices.probe import BILLED, FEWEST, trimmed_interval

Doubles = NDArray[np.float64]
# Events whose aftermath is timed; what this machine refuses is left out.
EVENTS = ("ibpb", "ibpb-msr", "bhb-long", "branch-eviction")
MIXED = "mixed"
# Branches behind the event of the fit, and of the mixed sets that it is tried on.
SIZES = (16, 64, 256, 1024, 4096)
MIXED_SIZES = (48, 192, 768, 3072)
SAMPLES = 400
# Differences below it are as good as equal, ns.
LEAST_NS = 20.0

Followed = tuple[str, int]
"""Kind of branch (or :data:`MIXED`) and number of them."""


def followed() -> list[Followed]:
    """Every working set that is timed behind an event."""
    fit = [(kind.value, size) for kind in BranchKind for size in SIZES]
    return fit + [(MIXED, size) for size in MIXED_SIZES]


def aftermath_of(event: str, timed: Mapping[Followed, Sequence[float]]) -> Aftermath | None:
    """The aftermath of *event* from the differences of processes, ns; None: too few processes."""
    if any(len(timed.get(each, ())) < FEWEST for each in followed()):
        return None
    fits = {kind: _fit(kind, timed) for kind in BranchKind}
    once = float(np.mean([at for at, _ in fits.values()]))
    refills = tuple(refill for _, refill in fits.values())
    bare = Aftermath(event=BILLED.get(event, event), once=round(once, DIGITS), refills=refills)
    sets = tuple(_working_set(bare, size, timed[MIXED, size]) for size in MIXED_SIZES)
    return bare.model_copy(update={"working_sets": sets})


def _working_set(of: Aftermath, size: int, timed: Sequence[float]) -> WorkingSet:
    branches = dict.fromkeys(BranchKind, size // len(BranchKind))
    measured = trimmed_interval(timed)
    return WorkingSet(
        branches=branches,
        predicted=round(of.once + of.of(branches)[0], DIGITS),
        measured=round(measured.mean, DIGITS),
        low=round(measured.low, DIGITS),
        high=round(measured.high, DIGITS),
    )


def _fit(kind: BranchKind, timed: Mapping[Followed, Sequence[float]]) -> tuple[float, Refill]:
    """What it costs once, and each branch."""
    rows = [np.asarray(timed[kind.value, size], dtype=np.float64) for size in SIZES]
    ceiling, (once, slope) = _best(rows)
    draws = np.random.default_rng(len(rows[0]))
    slopes = [
        _line([draws.choice(row, len(row)) for row in rows], ceiling)[0][1] for _ in range(SAMPLES)
    ]
    low, high = np.quantile(slopes, [0.025, 0.975])
    return once, Refill(
        branches=kind,
        ns=round(slope, DIGITS),
        low=round(min(float(low), slope), DIGITS),
        high=round(max(float(high), slope), DIGITS),
        ceiling=ceiling,
    )


def _best(rows: Sequence[Doubles]) -> tuple[int, tuple[float, float]]:
    """The ceiling with the least error, and its line."""
    tried = [(ceiling, *_line(rows, ceiling)) for ceiling in SIZES[1:]]
    ceiling, line, _ = min(tried, key=lambda each: each[2])
    return ceiling, line


def _line(rows: Sequence[Doubles], ceiling: int) -> tuple[tuple[float, float], float]:
    """Once and slope of the line, and the sum of its squared errors."""
    means = np.array([np.median(row) for row in rows])
    weights = 1.0 / np.maximum(np.abs(means), LEAST_NS)
    x = np.minimum(np.array(SIZES, dtype=np.float64), ceiling)
    columns = np.column_stack([np.ones_like(x), x]) * weights[:, None]
    found, *_ = np.linalg.lstsq(columns, means * weights, rcond=None)
    squares = float(np.sum((columns @ found - means * weights) ** 2))
    return (float(found[0]), float(found[1])), squares
