"""What a bisection does next, or its answer: the core asked, and what it says stored."""

from __future__ import annotations

import math

from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.spec_model import MAX_ARMS, MAX_BLOCKS
from mitigauge.tracking.bisect import model, service
from mitigauge.tracking.bisect.decision import next_action
from mitigauge.tracking.bisect.knowledge import flame_graph, history, question
from mitigauge.tracking.bisect.posterior import posterior, weigh
from mitigauge.tracking.bisect.records import BisectionAnswer, RevertRecord
from mitigauge.tracking.bisect.reverts import RevertEffect, revert_effects
from mitigauge.tracking.bisect.states import AnswerKind, BisectionState
from mitigauge.tracking.bisect.tables import Bisection


def decide(session: Session, bisection: Bisection) -> model.Measure | None:
    """What is measured next; None: there is an answer, which is stored.

    Stores what is known of each candidate by now.
    """
    asked, learnt = question(bisection), history(bisection)
    if all(prior == 0 for prior in asked.priors):
        _answer_same(session, bisection)
        return None
    _note(bisection, posterior(asked, learnt) if learnt.observed else None)
    action = next_action(asked, learnt)
    if isinstance(action, model.Measure):
        return _within_budget(session, bisection, action)
    _answered(session, bisection, action)
    return None


def _reverts(bisection: Bisection) -> list[RevertRecord]:
    """What each candidate's revert did on the last end."""
    asked, learnt = question(bisection), history(bisection)
    if not any(asked.priors):
        return []
    return [_record_of(effect) for effect in revert_effects(asked, learnt, weigh(asked, learnt))]


def _record_of(effect: RevertEffect) -> RevertRecord:
    change, off = effect.change, effect.off
    return RevertRecord(
        candidate=effect.candidate,
        outcome=effect.outcome,
        blocks=effect.blocks,
        change_percent=_percent(change.mean) or 0.0,
        change_low_percent=_percent(change.low) or 0.0,
        change_high_percent=_percent(change.high) or 0.0,
        off_percent=_percent(off.mean) if off else None,
        off_low_percent=_percent(off.low) if off else None,
        off_high_percent=_percent(off.high) if off else None,
    )


def _note(bisection: Bisection, known: model.Posterior | None) -> None:
    """Store what the boots say so far."""
    if known is None:
        return
    for candidate, probability in zip(bisection.candidates, known.candidates, strict=True):
        candidate.probability = _finite(probability)
    bisection.none_probability = _finite(known.none)
    bisection.several_probability = _finite(known.several)


def _within_budget(
    session: Session, bisection: Bisection, wanted: model.Measure
) -> model.Measure | None:
    """The step as it fits into what is left; None: nothing is, and that is the answer."""
    points = tuple(wanted.points[:MAX_ARMS])
    hosts = len(bisection.hosts)
    left = bisection.budget_boots - bisection.boots
    blocks = min(wanted.blocks, MAX_BLOCKS, left // len(points))
    out_of_time = bisection.seconds >= bisection.budget_s
    if blocks < 1 or out_of_time:
        what = "the time" if out_of_time else "the boots"
        ranked = sorted(bisection.candidates, key=lambda each: -(each.probability or 0.0))
        likely = [each.position for each in ranked if each.prior > 0][:3]
        _store_answer(session, bisection, BisectionAnswer(
            kind=AnswerKind.UNDECIDED,
            candidates=sorted(likely),
            confidence=_finite(sum(bisection.candidates[k - 1].probability or 0.0 for k in likely)),
            why=f"{what} that it may take {'is' if out_of_time else 'are'} spent",
            what_it_takes="Start it again with more --boots or --hours.",
        ))  # fmt: skip
        return None
    # Blocks are the sum over all hosts.
    each = max(1, math.ceil(blocks / hosts)) if hosts > 1 else blocks
    return model.Measure(points, each, wanted.why, wanted.purpose, wanted.verifies)


def _answer_same(session: Session, bisection: Bisection) -> None:
    _store_answer(session, bisection, BisectionAnswer(
        kind=AnswerKind.NONE_OF_THESE,
        confidence=1.0,
        why="no candidate changes the kernel: the binary is the same at both ends, but for its "
        "name",
    ))  # fmt: skip


def _answered(session: Session, bisection: Bisection, action: model.Answer) -> None:
    """Store the core's answer."""
    known = action.posterior
    if known is not None:
        _note(bisection, known)
    if isinstance(action, model.Culprit):
        low, high = action.interval
        answer = BisectionAnswer(
            kind=AnswerKind.FOUND, candidates=[action.candidate], confidence=action.confidence,
            effect_percent=_percent(action.effect), ci_low_percent=_percent(low),
            ci_high_percent=_percent(high), why=action.why,
            flame_graph=flame_graph(bisection, action.candidate),
            verified_by=[step.experiment_id for step in bisection.steps
                         if step.verifies == action.candidate],
        )  # fmt: skip
    elif isinstance(action, model.SeveralCulprits):
        answer = BisectionAnswer(
            kind=AnswerKind.SEVERAL, candidates=list(action.candidates),
            confidence=action.probability, why=action.why,
        )  # fmt: skip
    elif isinstance(action, model.NoneOfThese):
        answer = BisectionAnswer(
            kind=AnswerKind.NONE_OF_THESE, confidence=action.probability, why=action.why
        )  # fmt: skip
    elif isinstance(action, model.Refused):
        answer = BisectionAnswer(
            kind=AnswerKind.REFUSED, why=action.why, what_it_takes=action.what_it_takes
        )  # fmt: skip
    else:
        answer = BisectionAnswer(
            kind=AnswerKind.UNDECIDED, candidates=list(action.candidates),
            confidence=action.probability, why=action.why,
        )  # fmt: skip
    if answer.kind != AnswerKind.FOUND and known is not None:
        low, high = known.interval
        answer.effect_percent = _percent(known.effect)
        answer.ci_low_percent, answer.ci_high_percent = _percent(low), _percent(high)
    _store_answer(session, bisection, answer)


def _store_answer(session: Session, bisection: Bisection, answer: BisectionAnswer) -> None:
    answer.reverts = _reverts(bisection)
    bisection.answer = answer
    service.end(session, bisection, BisectionState.FINISHED, answer.why or str(answer.kind))


def _percent(log_effect: float) -> float | None:
    return _finite(100 * math.expm1(min(log_effect, 50.0))) if math.isfinite(log_effect) else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
