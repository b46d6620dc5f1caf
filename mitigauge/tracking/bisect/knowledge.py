"""What a stored bisection asks of the core and has learnt, in the core's words. No SQL."""

from __future__ import annotations

import math

from mitigauge.core.stats.terms import LAYOUTS
from mitigauge.tracking.bisect import model
from mitigauge.tracking.bisect.question import Question, arm_name
from mitigauge.tracking.bisect.records import FlameGraph
from mitigauge.tracking.bisect.states import BisectionKind
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep


def layouts_of(bisection: Bisection) -> int:
    """In how many layouts each kernel is booted: alignment moves no counted time, nor modes."""
    alike = bisection.counted or bisection.kind == BisectionKind.ARMS
    return 1 if alike else LAYOUTS


def can_revert(bisection: Bisection) -> bool:
    """Whether the last end can be offered without one candidate."""
    return bisection.kind != BisectionKind.ARMS and len(bisection.candidates) > 1


def question(bisection: Bisection) -> model.Question:
    """What the core is asked. Raises InvalidInput for too many or no candidates.

    Boots that gave no value are spent all the same.
    """
    valued = sum(len(step.observed) for step in bisection.steps)
    lost = (bisection.boots or 0) - valued
    return model.Question(
        priors=tuple(candidate.prior for candidate in bisection.candidates),
        higher_is_worse=bisection.higher_is_worse,
        minimum_effect=bisection.minimum_effect,
        budget_boots=max(bisection.budget_boots - lost, 1),
        confidence=bisection.confidence,
        revert=can_revert(bisection),
    )


def history(bisection: Bisection) -> model.History:
    """All that was learnt so far."""
    observed, verified = [], {}
    for step in bisection.steps:
        for value in step.observed:
            group = f"{value.host}/{step.number}/{value.block}"
            observed.append(model.Observed(value.point, group, math.log(value.value), value.layout))
            if step.verifies is not None:
                verified[group] = step.verifies
    skipped = {point.position: point.skipped for point in bisection.points if point.skipped}
    return model.History(tuple(observed), skipped, verified)


def current_step(bisection: Bisection) -> BisectionStep | None:
    """The step whose experiment was not taken in yet."""
    return next((step for step in bisection.steps if step.taken_in_at is None), None)


def flame_graph(bisection: Bisection, candidate: int) -> FlameGraph | None:
    """The last step that profiled a candidate beside its parent."""
    for step in reversed(bisection.steps):
        both = {candidate - 1, candidate} <= {value.point for value in step.observed}
        if step.profiled and both:
            host = next(value.host for value in step.observed if value.point == candidate)
            return FlameGraph(
                experiment_id=step.experiment_id, case_id=step.case_id, host=host,
                a=arm_name(candidate - 1), b=arm_name(candidate),
            )  # fmt: skip
    return None


def wants_profile(bisection: Bisection, wanted: model.Measure) -> bool:
    """Whether a step is profiled: the first one that verifies a candidate."""
    k = wanted.verifies
    return k is not None and {k - 1, k} <= set(wanted.points) and flame_graph(bisection, k) is None


def asked_of(bisection: Bisection) -> Question:
    """What it asks, as its steps' specs need it."""
    return Question(
        hosts=tuple(bisection.hosts),
        workload=bisection.workload,
        parameters=bisection.parameters,
        metric=bisection.metric,
        environment=bisection.environment,
    )
