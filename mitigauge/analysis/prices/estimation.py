"""Prices out of measurements on a host: what its cases cost against what they do. Pure.

Each row is a case in an arm against its baseline: how many more events an operation has, by the
ledger, and how many nanoseconds more it takes, as measured. Prices are the weighted least squares
solution, w = 1 / error²; their covariance is (XᵀWX)⁻¹. Events that rows do not tell apart have no
price (Aitken, Proc. R. Soc. Edinb. 55, 1936).

Where rows lie further off the sum of the prices than their errors explain (an event costs one case
more than another, or the bill lacks one), that is an error of every price and of every prediction:
the weights are 1 / (error² + misfit²), with the misfit that makes the weighted squares of the
residuals as many as there are degrees of freedom (Paule and Mandel, J. Res. NBS 87, 1982).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitigauge.analysis.prices.definitions import Z95
from mitigauge.core.stats import special

Floats = NDArray[np.float64]

# Of the largest singular value: below it, events are not told apart.
CONDITION = 1e-9
# Halvings of the range of the misfit.
STEPS = 50


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
    misfit: float = 0.0
    """How far a case lies off the sum of its prices beside all errors, ns; standard deviation."""
    reach: float = Z95
    """Half of a 95 % interval in standard errors: Student's where the misfit is estimated."""

    def predict(self, change: Mapping[str, float]) -> tuple[float, float, float] | None:
        """ns an operation more and its 95 % interval; None where an event has no price."""
        if any(times and event not in self.events for event, times in change.items()):
            return None
        times = np.array([change.get(event, 0.0) for event in self.events])
        ns = float(times @ self.ns)
        error = float(np.sqrt(times @ self.covariance @ times + self.misfit**2))
        reach = self.reach * error
        return ns, ns - reach, ns + reach


def estimate(rows: Sequence[MeasuredChange]) -> Estimate:
    """The prices that *rows* tell. Raises ``ValueError`` for an error that is not above 0."""
    if any(row.error <= 0 for row in rows):
        raise ValueError("a measured change without an error cannot be weighed")
    events = sorted({event for row in rows for event, times in row.change.items() if times})
    table = np.array([[row.change.get(event, 0.0) for event in events] for row in rows])
    told, unknown = _identified(table.reshape(len(rows), len(events)))
    kept = [event for event, is_told in zip(events, told, strict=True) if is_told]
    # Rows with an event that cannot be priced say nothing of the others.
    usable = np.array([not any(row.change.get(events[i]) for i in unknown) for row in rows], bool)
    of = _Rows(
        table[:, told][usable],
        np.array([row.ns for row in rows])[usable],
        np.array([row.error for row in rows])[usable],
    )
    if not kept or np.linalg.matrix_rank(of.events) < len(kept):
        return Estimate([], np.zeros(0), np.zeros((0, 0)), events)
    misfit = of.misfit()
    ns, covariance = of.fitted(misfit)
    student: float = special.stdtrit(len(of.ns) - len(kept), 0.975)
    reach = float(student) if misfit else Z95
    return Estimate(kept, ns, covariance, [events[i] for i in unknown], misfit, reach)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is fitted: events by row, ns, and their errors."""

    events: Floats
    ns: Floats
    errors: Floats

    def fitted(self, misfit: float) -> tuple[Floats, Floats]:
        """Prices and their covariance."""
        weights = 1.0 / (self.errors**2 + misfit**2)
        information = (self.events * weights[:, None]).T @ self.events
        covariance = np.asarray(np.linalg.inv(information), dtype=np.float64)
        return covariance @ (self.events.T @ (weights * self.ns)), covariance

    def excess(self, misfit: float) -> float:
        """The weighted squares of the residuals beyond the degrees of freedom."""
        ns, _ = self.fitted(misfit)
        squares = (self.ns - self.events @ ns) ** 2 / (self.errors**2 + misfit**2)
        rows, events = self.events.shape
        excess: float = squares.sum() - (rows - events)
        return excess

    def misfit(self) -> float:
        """What explains the excess; 0 where the errors do, or no row is left to tell."""
        rows, events = self.events.shape
        if rows <= events or self.excess(0.0) <= 0:
            return 0.0
        low, high = 0.0, float(np.max(np.abs(self.ns)) + np.max(self.errors))
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.excess(middle) > 0 else (low, middle)
        return float((low + high) / 2)


def _identified(table: Floats) -> tuple[NDArray[np.bool_], list[int]]:
    """Which columns no combination of the others can stand for."""
    if not table.size:
        return np.zeros(table.shape[1], bool), list(range(table.shape[1]))
    scale = np.abs(table).max(axis=0)
    _, singular, rows = np.linalg.svd(table / np.where(scale > 0, scale, 1.0))
    null = rows[np.count_nonzero(singular > CONDITION * np.max(singular)) :]
    told = np.all(np.abs(null) < 1e-6, axis=0) if len(null) else np.ones(table.shape[1], bool)
    return told, np.flatnonzero(~told).tolist()
