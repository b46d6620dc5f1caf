"""What is known of each candidate, of none of them and of more than one. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mitigauge.tracking.bisect.cells import Cells
from mitigauge.tracking.bisect.likelihood import Floats, Whole
from mitigauge.tracking.bisect.model import Posterior, Question


@dataclass(frozen=True, slots=True)
class RevertEvidence:
    """Of each candidate without which the last end was booted, whose step lies in ``segments``.

    ``left``: the probability that it changed the level, and that the last end keeps the change, or
    a good part of it, without it. ``rise``: its step then, ``stays``: how much of it is left.
    ``inexact``: the probability that its revert takes the change away, but does not meet the level
    of before, being off by ``off``; :attr:`Evidence.singles` has it too.
    """

    candidates: tuple[int, ...]
    segments: Whole
    left: Floats
    rise: Floats
    stays: Floats
    inexact: Floats
    off: Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    """Probabilities by segment.

    ``measured``: the places that were booted, sorted; segment s has the cells after measured place
    s − 1 up to measured place s. ``singles``, ``rise``, ``rise_variance``: by segment, the
    probability of a step there, its mean and variance. ``pairs``, ``first``, ``second``: the same
    for two steps, ``[segment, segment]``. Effects are upwards where worse. ``deviation`` is the
    standard deviation of a boot, ``point`` is h, ``floor`` the least effect of a culprit.
    """

    cells: Cells
    measured: tuple[int, ...]
    weight: Floats
    singles: Floats
    pairs: Floats
    none: float
    rise: Floats
    rise_variance: Floats
    first: Floats
    second: Floats
    reverts: RevertEvidence
    deviation: float
    point: float
    floor: float
    boots: int

    @property
    def several(self) -> float:
        """Probability that more than one change keeps the last end where it is."""
        return float(self.pairs.sum() + self.reverts.left.sum())

    @property
    def left(self) -> Floats:
        """By segment: a step there that the last end keeps without its candidate."""
        by_segment = np.zeros_like(self.singles)
        np.add.at(by_segment, self.reverts.segments, self.reverts.left)
        return by_segment

    def segment_of(self, cell: int) -> int:
        """The segment of *cell*."""
        return int(np.searchsorted(self.measured, cell))

    def share(self, cell: int) -> float:
        """The part of its segment's prior weight that *cell* has."""
        whole = float(self.weight[self.segment_of(cell)])
        return self.cells.weights[cell - 1] / whole if whole > 0 else 0.0

    def single(self, cell: int) -> float:
        """Probability that the change is in *cell* and nowhere else."""
        return float(self.singles[self.segment_of(cell)]) * self.share(cell)


def posterior_of(question: Question, evidence: Evidence) -> Posterior:
    """*evidence* by candidate and with the metric's own sign."""
    inclusion = evidence.pairs.sum(axis=0) + evidence.pairs.sum(axis=1) + evidence.left
    several = evidence.several
    single, among = [0.0] * question.last, [0.0] * question.last
    total = max(math.fsum(question.priors), 1e-300)
    for cell, candidates in enumerate(evidence.cells.candidates, 1):
        inside = evidence.cells.weights[cell - 1]
        share = evidence.share(cell) / inside if inside > 0 else 0.0
        segment = evidence.segment_of(cell)
        for candidate in candidates:
            part = share * question.priors[candidate - 1] / total
            single[candidate - 1] = float(evidence.singles[segment]) * part
            if several > 0:
                among[candidate - 1] = min(1.0, float(inclusion[segment]) * part / several)
    mean, half = _between_ends(evidence)
    sign = 1.0 if question.higher_is_worse else -1.0
    known = evidence.boots > 0
    return Posterior(
        candidates=tuple(single),
        none=evidence.none,
        several=several,
        among_several=tuple(among),
        effect=sign * mean if known else math.nan,
        interval=(sign * mean - half, sign * mean + half) if known else (math.nan, math.nan),
        deviation=evidence.deviation if known else math.nan,
    )


def _between_ends(evidence: Evidence) -> tuple[float, float]:
    """Mean and half the 95 % interval of the effect between the ends, given that there is one."""
    reverts, widest = evidence.reverts, float(np.max(evidence.rise_variance))
    masses = np.concatenate([evidence.singles, evidence.pairs.ravel(), reverts.left])
    pairs = (evidence.first + evidence.second).ravel()
    means = np.concatenate([evidence.rise, pairs, reverts.rise])
    whole = float(masses.sum())
    if whole <= 0:
        return 0.0, 0.0
    mean = float(masses @ means) / whole
    variances = np.concatenate(
        [evidence.rise_variance, np.full(pairs.size + reverts.rise.size, widest)]
    )
    variance = float(masses @ (variances + (means - mean) ** 2)) / whole
    return mean, 1.96 * math.sqrt(max(variance, 0.0))
