"""What is taken for likely before any boot, by segment. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.tracking.bisect.cells import Cells
from mitigauge.tracking.bisect.columns import Reverts, by_segment
from mitigauge.tracking.bisect.evidence import Evidence, RevertEvidence
from mitigauge.tracking.bisect.likelihood import LEAST_DEVIATION, Floats
from mitigauge.tracking.bisect.model import Question

NO_EVIDENCE = -1e300
# Of culprits: how often the last end stays slow without them (something else holds it there, or
# taking out the change does not take out what it did), and how often it only misses the old level.
LEFT_PRIOR, INEXACT_PRIOR = 0.04, 0.02
_NOTHING: Floats = np.zeros(0)
_NO_REVERTS = RevertEvidence(
    (), np.zeros(0, dtype=np.intp), _NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING
)


@dataclass(frozen=True, slots=True)
class Prior:
    """Prior probabilities by segment."""

    weight: Floats
    singles: Floats
    pairs: Floats
    none: float
    log_singles: Floats
    log_pairs: Floats

    @classmethod
    def of(cls, question: Question, cells: Cells, measured: Sequence[int]) -> Prior:
        weight = by_segment(cells, measured)
        pairs = np.triu(np.outer(weight, weight), 1)
        squares = np.zeros_like(weight)
        at = np.searchsorted(measured, np.arange(1, cells.last + 1))
        np.add.at(squares, at, _squares(question, cells))
        np.fill_diagonal(pairs, np.maximum(weight**2 - squares, 0.0) / 2)
        whole = float(pairs.sum())
        several = question.several_prior if whole > 1e-12 else 0.0
        pairs = pairs * (several / whole) if several else np.zeros_like(pairs)
        single = max(1.0 - question.none_prior - several, 0.0)
        singles = single * weight
        none = 1.0 - float(singles.sum()) - several
        return cls(weight, singles, pairs, none, log_of(singles), log_of(pairs))

    def of_reverts(self, reverts: Reverts) -> tuple[Floats, Floats, Floats]:
        """Logs: of singles where some are reverted, of reverts that fail, and of inexact ones."""
        singles = self.singles.copy()
        mass = self.singles[reverts.segments] * reverts.shares
        np.add.at(singles, reverts.segments, -(LEFT_PRIOR + INEXACT_PRIOR) * mass)
        return log_of(singles), log_of(LEFT_PRIOR * mass), log_of(INEXACT_PRIOR * mass)

    def evidence(self, cells: Cells, measured: tuple[int, ...], boots: int) -> Evidence:
        nothing, no_pairs = np.zeros_like(self.singles), np.zeros_like(self.pairs)
        return Evidence(
            cells=cells,
            measured=measured,
            weight=self.weight,
            singles=self.singles,
            pairs=self.pairs,
            none=self.none,
            rise=nothing,
            rise_variance=nothing,
            first=no_pairs,
            second=no_pairs,
            reverts=_NO_REVERTS,
            deviation=LEAST_DEVIATION,
            point=0.0,
            floor=0.0,
            boots=boots,
        )


def log_of(probabilities: Floats) -> Floats:
    """Their logarithms; next to none of what is impossible."""
    return np.where(probabilities > 0, np.log(np.maximum(probabilities, 1e-300)), NO_EVIDENCE)


def _squares(question: Question, cells: Cells) -> Floats:
    """Sum of the squares of the candidates' weights, by cell."""
    total = max(sum(question.priors), 1e-300)
    return np.array(
        [
            sum((question.priors[candidate - 1] / total) ** 2 for candidate in inside)
            for inside in cells.candidates
        ]
    )
