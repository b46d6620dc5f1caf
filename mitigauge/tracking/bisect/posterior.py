"""How likely each hypothesis is after the boots.

Hypotheses are steps at a *segment*: the cells between two places that were measured, which no boot
tells apart. The likelihood is that of :mod:`mitigauge.tracking.bisect.likelihood`, averaged over
how much blocks and builds scatter; weights w make it Student's t with ``TAIL_FREEDOM`` degrees of
freedom, so that one wild boot decides nothing:

    w = (ν + 1) / (ν + E[ε²]/σ²)

with E[ε²] over all hypotheses by their probability (variational Bayes: Bishop, Pattern Recognition
and Machine Learning, chapter 10; t as a scale mixture: Lange, Little & Taylor, JASA 1989). A weight
that the likeliest hypothesis alone had given would defend that hypothesis against the boot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from mitigauge.tracking.bisect.cells import Cells, cells_of
from mitigauge.tracking.bisect.columns import Columns, usable
from mitigauge.tracking.bisect.evidence import Evidence, RevertEvidence, posterior_of
from mitigauge.tracking.bisect.likelihood import (
    BLOCK_RATIOS,
    BUILD_RATIOS,
    LEAST_DEVIATION,
    Boots,
    Fits,
    Floats,
    Gram,
    Scale,
    Whole,
    covariance_of,
    fit_none,
    fit_pairs,
    fit_reverts,
    fit_singles,
    gram_of,
)
from mitigauge.tracking.bisect.model import History, Posterior, Question
from mitigauge.tracking.bisect.prior import Prior

TAIL_FREEDOM = 4.0
# σ² of that t where the boots are normal with variance 1.
NORMAL_SCALE = 0.6906
PASSES = 5
# Share of the minimum effect by which a point may lie off its level: an odd layout, small changes.
POINT_SHARE = 0.25
# Of the least number of deviations between ends: what is less is no culprit's effect. Below 1, so
# that an effect at the limit is not cut in half.
FLOOR_SHARE = 0.5
# Of the largest difference: where so much of a change is left without its candidate, its revert
# fails.
LEFT_SHARE = 0.25
# A scatter of blocks whose log probability is so much less than the likeliest is left out.
LEAST_PART = 7.0


def posterior(question: Question, history: History) -> Posterior:
    """Probability by candidate, of none of them and of more than one; for pages."""
    return posterior_of(question, weigh(question, history))


def weigh(question: Question, history: History) -> Evidence:
    """The evidence of all boots; the prior where there is none."""
    cells = cells_of(question, history.skipped)
    observed = usable(question, history, cells)
    layout = Columns.of(question, history, cells, observed)
    prior = Prior.of(question, cells, layout.measured)
    if len(observed) < 2:
        return prior.evidence(cells, layout.measured, len(observed))
    return _Weighing(question, layout, prior, cells).evidence()


@dataclass(frozen=True, slots=True)
class _Fitted:
    """All hypotheses under one scatter of blocks and builds."""

    gram: Gram
    none: Fits
    singles: Fits
    pairs: Fits
    left: Fits
    inexact: Fits
    log_none: float
    log_singles: Floats
    log_pairs: Floats
    log_left: Floats
    log_inexact: Floats

    @property
    def log_whole(self) -> float:
        logs = (self.log_singles, self.log_pairs.ravel(), self.log_left, self.log_inexact)
        return _log_sum((self.log_none, *(_log_sum(each) for each in logs if each.size)))


@dataclass(slots=True)
class _Weighing:
    question: Question
    layout: Columns
    prior: Prior
    cells: Cells

    def evidence(self) -> Evidence:
        boots = self.layout.boots
        weights = np.ones(boots.y.size)
        noise = _first_noise(boots)
        builds = BUILD_RATIOS if boots.builds is not None else (0.0,)
        ratios = [(block, build) for block in BLOCK_RATIOS for build in builds]
        for passed in range(PASSES + 1):
            scale = self._scale(weights, noise)
            fitted = [self._fit(weights, scale, block, build) for block, build in ratios]
            likely = np.array([item.log_whole for item in fitted])
            evidence = self._average(fitted, scale)
            noise = evidence.deviation**2 * NORMAL_SCALE
            if passed == PASSES:
                break
            if passed == 0:
                kept = [ratios[at] for at in np.flatnonzero(likely > likely.max() - LEAST_PART)]
            # All ratios at the first and the last pass, the likeliest alone between them.
            at = int(np.argmax(likely))
            ratios = kept if passed == PASSES - 1 else [ratios[at]]
            weights = self._weights(evidence, fitted[at], weights, noise)
        return evidence

    def _scale(self, weights: Floats, noise: float) -> Scale:
        """The effects' scale from the difference between the outermost places."""
        contrast = _contrast(self.layout.boots, weights, len(self.layout.measured))
        largest = max(contrast, self.question.minimum_effect)
        floor = max(
            self.question.minimum_effect,
            FLOOR_SHARE * self.question.minimum_deviations * math.sqrt(noise / NORMAL_SCALE),
        )
        return Scale(
            ratio=max(largest**2 / noise, 4.0),
            point=min((POINT_SHARE * self.question.minimum_effect) ** 2 / noise, 1e6),
            floor=floor,
            left=max(floor, LEFT_SHARE * largest),
        )

    def _fit(self, weights: Floats, scale: Scale, block: float, build: float) -> _Fitted:
        boots, prior = self.layout.boots, self.prior
        count, steps = boots.y.size, self.layout.steps
        gram = gram_of(boots, covariance_of(boots, weights, block, build, scale.point))
        none = fit_none(gram, count)
        singles = fit_singles(gram, steps, count, scale)
        pairs = fit_pairs(gram, steps, count, scale)
        reverts = self.layout.reverts
        left, inexact = fit_reverts(gram, reverts.steps, reverts.ends, count, scale)
        before, before_left, before_inexact = prior.of_reverts(reverts)
        # Both in one segment: no boot lies between them, so they are one step.
        together = np.diag(singles.log_likelihood)
        log_none = float(none.log_likelihood[0]) + math.log(max(prior.none, 1e-300))
        return _Fitted(
            gram=gram,
            none=none,
            singles=singles,
            pairs=pairs,
            left=left,
            inexact=inexact,
            log_none=log_none,
            log_singles=singles.log_likelihood + before,
            log_pairs=np.triu(pairs.log_likelihood, 1) + together + prior.log_pairs,
            log_left=left.log_likelihood + before_left,
            log_inexact=inexact.log_likelihood + before_inexact,
        )

    def _average(self, fitted: Sequence[_Fitted], scale: Scale) -> Evidence:
        """Over the scatters of blocks and builds."""
        whole = _log_sum(item.log_whole for item in fitted)
        size, reverts = self.prior.singles.size, self.layout.reverts
        singles, rise, square = np.zeros((3, size))
        pairs, first, second = np.zeros((3, size, size))
        left, left_rise, stays, inexact, off = np.zeros((5, len(reverts.candidates)))
        none = noise = 0.0
        for item in fitted:
            single = np.exp(item.log_singles - whole)
            pair = np.exp(item.log_pairs - whole)
            nothing = math.exp(item.log_none - whole)
            fails, misses = np.exp(item.log_left - whole), np.exp(item.log_inexact - whole)
            mean = item.singles.effects[0]
            singles += single
            rise += single * mean
            square += single * (item.singles.variance + mean**2)
            step, rest = item.inexact.effects
            np.add.at(singles, reverts.segments, misses)
            np.add.at(rise, reverts.segments, misses * step)
            np.add.at(square, reverts.segments, misses * (item.inexact.variance + step**2))
            inexact += misses
            off += misses * rest
            step, rest = item.left.effects
            left += fails
            left_rise += fails * step
            stays += fails * rest
            pairs += pair
            one, two = _split(item)
            first += pair * one
            second += pair * two
            none += nothing
            noise += nothing * float(item.none.noise[0])
            noise += float(single @ item.singles.noise)
            noise += float((fails + misses) @ item.left.noise)
            pair_noise = np.where(_upper(size), item.pairs.noise, item.singles.noise[:, None])
            noise += float((pair * pair_noise).sum())
        some, some_pairs = np.maximum(singles, 1e-300), np.maximum(pairs, 1e-300)
        total = none + float(singles.sum()) + float(pairs.sum()) + float(left.sum())
        rise = rise / some
        return Evidence(
            cells=self.cells,
            measured=self.layout.measured,
            weight=self.prior.weight,
            singles=singles / total,
            pairs=pairs / total,
            none=none / total,
            rise=rise,
            rise_variance=np.maximum(square / some - rise**2, 0.0),
            first=first / some_pairs,
            second=second / some_pairs,
            reverts=RevertEvidence(
                candidates=reverts.candidates,
                segments=reverts.segments,
                left=left / total,
                rise=left_rise / np.maximum(left, 1e-300),
                stays=stays / np.maximum(left, 1e-300),
                inexact=inexact / total,
                off=off / np.maximum(inexact, 1e-300),
            ),
            deviation=math.sqrt(noise / total / NORMAL_SCALE),
            point=scale.point,
            floor=scale.floor,
            boots=self.layout.boots.y.size,
        )

    def _weights(self, evidence: Evidence, best: _Fitted, weights: Floats, noise: float) -> Floats:
        """w of each boot, from what is left of it under all hypotheses together."""
        level, scatter = _levels(evidence, self.layout)
        columns = self.layout.boots.columns
        gram = best.gram
        y = self.layout.boots.y - level[columns]
        count = y.size
        inverse = cho_solve((gram.root, True), np.eye(count), check_finite=False)
        ones = inverse.sum(axis=1)
        residual = (inverse @ y - ones * (ones @ y) / ones.sum()) / weights
        left = (1.0 - np.diag(inverse) / weights) / weights * noise
        squares = residual**2 + np.maximum(left, 0.0) + scatter[columns]
        return np.asarray((TAIL_FREEDOM + 1) / (TAIL_FREEDOM + squares / noise))


def _split(item: _Fitted) -> tuple[Floats, Floats]:
    """Effects of pairs; half the single's each where both lie in one segment."""
    one, two = item.pairs.effects
    halves = item.singles.effects[0] / 2
    upper = _upper(halves.size)
    return np.where(upper, one, halves[:, None]), np.where(upper, two, halves[:, None])


def _upper(size: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return np.triu(np.ones((size, size), dtype=np.bool_), 1)


def _log_sum(logs: Iterable[float]) -> float:
    """log Σ exp, without overflow."""
    values = np.fromiter(logs, dtype=np.float64)
    largest = float(np.max(values))
    return largest + math.log(float(np.exp(values - largest).sum()))


def _levels(evidence: Evidence, layout: Columns) -> tuple[Floats, Floats]:
    """Mean and variance of each column's level over all hypotheses."""
    steps, reverts, beliefs = layout.steps, layout.reverts, evidence.reverts
    by_single = evidence.rise[:, None] * steps
    by_left = beliefs.rise[:, None] * reverts.steps + beliefs.stays[:, None] * reverts.ends
    one, two = evidence.first[:, :, None], evidence.second[:, :, None]
    by_pair = one * steps[:, None, :] + two * steps[None, :, :]
    mean = evidence.singles @ by_single + beliefs.left @ by_left
    # What singles say of an inexact revert lacks what it is off by.
    mean = mean + (beliefs.inexact * beliefs.off) @ reverts.ends
    mean = mean + np.einsum("st,stc->c", evidence.pairs, by_pair)
    square = evidence.singles @ by_single**2 + beliefs.left @ by_left**2
    square = square + (beliefs.inexact * beliefs.off**2) @ reverts.ends
    square = square + np.einsum("st,stc->c", evidence.pairs, by_pair**2)
    return mean, np.maximum(square - mean**2, 0.0)


def _first_noise(boots: Boots) -> float:
    """A first σ²: what is left of the boots without the means of blocks and columns."""
    even = np.ones(boots.y.size)
    y = boots.y - _means(boots.y, boots.blocks, even)
    rest = y - _means(y, boots.columns, even)
    freedom = max(boots.y.size - len(set(boots.blocks.tolist())) - boots.width + 1, 1)
    return max(float(rest @ rest) / freedom, LEAST_DEVIATION**2)


def _contrast(boots: Boots, weights: Floats, places: int) -> float:
    """The difference between the first and the last place that was measured, without blocks."""
    if not places:
        return 0.0
    y = boots.y - _means(boots.y, boots.blocks, weights)
    means = _means(y, boots.columns, weights)
    first, last = boots.columns == 0, boots.columns == places - 1
    return abs(float(means[last][0] - means[first][0]))


def _means(values: Floats, groups: Whole, weights: Floats) -> Floats:
    """Of each value's group, its weighted mean."""
    whole = np.bincount(groups, weights=weights)
    return np.asarray(
        (np.bincount(groups, weights=weights * values) / np.maximum(whole, 1e-300))[groups]
    )
