"""What the boots say of each candidate."""

from __future__ import annotations

import math

from mitigauge.bisect.model import History, Posterior, Question


def posterior(question: Question, history: History) -> Posterior:
    """Probability by candidate, of none of them and of more than one."""
    del history
    weight = sum(question.priors) or 1.0
    share = (1 - question.none_prior - question.several_prior) / weight
    return Posterior(
        candidates=tuple(share * prior for prior in question.priors),
        none=question.none_prior,
        several=question.several_prior,
        among_several=tuple(0.0 for _ in question.priors),
        effect=math.nan,
        interval=(math.nan, math.nan),
        deviation=math.nan,
    )
