"""Prices out of measurements on a host: what its cases cost against what they do. Pure.

Each row is a case in an arm against its baseline: how many more events an operation has, by the
ledger, and how many nanoseconds more it takes, as measured. Prices are the weighted least squares
solution, w = 1 / error²; their covariance is (XᵀWX)⁻¹. Events that rows do not tell apart have no
price (Aitken, Proc. R. Soc. Edinb. 55, 1936).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.prices.definitions import Z95

Floats = NDArray[np.float64]

# Of the largest singular value: below it, events are not told apart.
CONDITION = 1e-9


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """One arm's case against its baseline: events an operation more, ns more, standard error."""

    change: Mapping[str, float]
    ns: float
    error: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Prices of one host, ns an event, with their covariance."""

    events: Sequence[str]
    ns: Floats
    covariance: Floats
    unknown: Sequence[str]
    """Events that the measurements do not tell apart."""

    def predict(self, change: Mapping[str, float]) -> tuple[float, float, float] | None:
        """ns an operation more and its 95 % interval; None where an event has no price."""
        if any(times and event not in self.events for event, times in change.items()):
            return None
        times = np.array([change.get(event, 0.0) for event in self.events])
        ns = float(times @ self.ns)
        reach = Z95 * float(np.sqrt(times @ self.covariance @ times))
        return ns, ns - reach, ns + reach


def estimate(rows: Sequence[MeasuredChange]) -> Estimate:
    """The prices that *rows* tell. Raises ``ValueError`` for an error that is not above 0."""
    if any(row.error <= 0 for row in rows):
        raise ValueError("a measured change without an error cannot be weighed")
    events = sorted({event for row in rows for event, times in row.change.items() if times})
    table = np.array([[row.change.get(event, 0.0) for event in events] for row in rows])
    weights = np.array([1.0 / row.error for row in rows])
    told, unknown = _identified(table.reshape(len(rows), len(events)))
    kept = [event for event, is_told in zip(events, told, strict=True) if is_told]
    # Rows with an event that cannot be priced say nothing of the others.
    usable = np.array([not any(row.change.get(events[i]) for i in unknown) for row in rows], bool)
    weighted = (table[:, told] * weights[:, None])[usable]
    values = np.array([row.ns for row in rows])[usable] * weights[usable]
    if not kept or np.linalg.matrix_rank(weighted) < len(kept):
        empty = np.zeros((0, 0))
        return Estimate([], np.zeros(0), empty, events)
    covariance = np.linalg.inv(weighted.T @ weighted)
    ns = covariance @ weighted.T @ values
    return Estimate(kept, ns, covariance, [events[i] for i in unknown])


def _identified(table: Floats) -> tuple[NDArray[np.bool_], list[int]]:
    """Which columns no combination of the others can stand for."""
    if not table.size:
        return np.zeros(table.shape[1], bool), list(range(table.shape[1]))
    scale = np.abs(table).max(axis=0)
    _, singular, rows = np.linalg.svd(table / np.where(scale > 0, scale, 1.0))
    null = rows[np.count_nonzero(singular > CONDITION * np.max(singular)) :]
    told = np.all(np.abs(null) < 1e-6, axis=0) if len(null) else np.ones(table.shape[1], bool)
    return told, np.flatnonzero(~told).tolist()
