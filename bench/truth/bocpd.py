"""Bayesian online change-point detection (Adams and MacKay, arXiv:0710.3742, 2007).

After each value there is a probability for every place at which the run it belongs to may have
begun. Values of a run are normal with unknown mean and variance (normal-inverse-gamma), so that
what comes next is Student's t. A change is said as soon as the probability that the run began after
the last change said (and has three values or more) is above `CERTAIN`; its place is the likeliest.
All series are followed side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from bench.truth.metric import MARGIN
from bench.truth.series import Places, Values

CERTAIN = 0.972
EXPECTED_RUN = 100.0
SHORTEST = 3
# The first values tell in which unit a series is; the prior is wide in it.
_FIRST = 20
_ROBUST = 1.4826
_KAPPA, _ALPHA, _BETA = 0.1, 1.0, 1.0


@dataclass(frozen=True, slots=True)
class Alarm:
    """A change at *place*, said when so many values were *seen*."""

    place: int
    seen: int


@dataclass(slots=True)
class _Runs:
    """Of each series and each place where its run may have begun."""

    log_p: Values
    mean: Values
    kappa: Values
    beta: Values
    alpha: Values

    def begin(self) -> None:
        """The next value may be the first one of a new run."""
        rows = len(self.log_p)
        hazard = 1.0 / EXPECTED_RUN if self.log_p.shape[1] else 1.0
        if self.log_p.shape[1]:
            self.log_p += np.log1p(-hazard)
        for name, first in (
            ("log_p", np.log(hazard)),
            ("mean", 0.0),
            ("kappa", _KAPPA),
            ("beta", _BETA),
            ("alpha", _ALPHA),
        ):
            column = np.full((rows, 1), first)
            setattr(self, name, np.concatenate([getattr(self, name), column], axis=1))

    def see(self, value: Values) -> None:
        """One value of each series."""
        off = np.square(value[:, None] - self.mean)
        self.log_p += _student(off, self.alpha, self.beta * (self.kappa + 1) / self.kappa)
        self.log_p -= logsumexp(self.log_p, axis=1, keepdims=True)
        self.beta += self.kappa * off / (2.0 * (self.kappa + 1.0))
        self.mean += (value[:, None] - self.mean) / (self.kappa + 1.0)
        self.kappa += 1.0
        self.alpha += 0.5


def _student(off: Values, alpha: Values, wide: Values) -> Values:
    """Log density of t with 2·alpha degrees of freedom and square scale wide/alpha."""
    return np.asarray(
        gammaln(alpha + 0.5)
        - gammaln(alpha)
        - 0.5 * np.log(2.0 * np.pi * wide)
        - (alpha + 0.5) * np.log1p(off / (2.0 * wide))
    )


def alarms(series: Sequence[Values]) -> list[list[Alarm]]:
    """What is said of each series while its values come in."""
    if not series:
        return []
    values = _standardised(series)
    rows, longest = values.shape
    runs = _Runs(*(np.zeros((rows, 0)) for _ in range(5)))
    last = np.zeros(rows, dtype=np.intp)
    said: list[list[Alarm]] = [[] for _ in series]
    for seen in range(1, longest + 1):
        runs.begin()
        runs.see(values[:, seen - 1])
        for row, place in _certain(runs.log_p, last, seen):
            if seen <= len(series[row]):
                said[row].append(Alarm(place, seen))
            last[row] = place
    return said


def _certain(log_p: Values, last: Places, seen: int) -> list[tuple[int, int]]:
    """Series whose run surely began after the last change that was said, and where."""
    places = np.arange(log_p.shape[1])
    late = (places > last[:, None] + MARGIN) & (places <= seen - SHORTEST)
    p = np.where(late, np.exp(log_p), 0.0)
    rows = np.flatnonzero(p.sum(axis=1) > CERTAIN)
    return [(int(row), int(p[row].argmax())) for row in rows]


def _standardised(series: Sequence[Values]) -> Values:
    """By the first values of each; short ones are continued, which what is said ignores."""
    longest = max(len(values) for values in series)
    table = np.zeros((len(series), longest))
    for row, values in enumerate(series):
        first = values[:_FIRST]
        middle = np.median(first)
        # Where more than half of them are the same value, that says nothing of their scatter.
        scale = _ROBUST * float(np.median(np.abs(first - middle))) or float(first.std())
        table[row, : len(values)] = (values - middle) / (scale or 1.0)
    return table
