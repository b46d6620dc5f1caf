"""Bisections as they are begun, fed with what was measured, decided on, and ended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.access.roles import OPERATOR
from mitigauge.bisect import intake, model, repository
from mitigauge.bisect.asked import Asked, StepArm, arm_name, step_text
from mitigauge.bisect.decide import next_action
from mitigauge.bisect.evidence import posterior
from mitigauge.bisect.records import BisectionAnswer, FlameGraph, Source
from mitigauge.bisect.states import AnswerKind, BisectionKind, BisectionState
from mitigauge.bisect.tables import (
    Bisection,
    BisectionCandidate,
    BisectionPoint,
    BisectionStep,
)
from mitigauge.bisect.weights import Touch, priors
from mitigauge.catalog import Catalog
from mitigauge.clock import Clock
from mitigauge.database import database_now
from mitigauge.errors import Conflict, InvalidInput
from mitigauge.experiments.checks import check_text
from mitigauge.experiments.spec_model import MAX_ARMS, MAX_BLOCKS, cases_of
from mitigauge.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.experiments.tables import Experiment
from mitigauge.hostile import clean_text
from mitigauge.runs import service as runs

LONGEST_WHY = 2000
# Steps in a row that told nothing: then something is wrong that no further one would put right.
MOST_BARREN = 2
# Builds of each kernel that differ in layout alone, where time is real.
LAYOUTS = 3
_OUTSIDE = ("Documentation/", "LICENSES/", "MAINTAINERS", "CREDITS", "README", ".mailmap")


@dataclass(frozen=True, slots=True)
class Change:
    """A candidate before it is stored. *functions*: those that it touches, as far as is known."""

    name: str
    title: str
    message_id: str = ""
    people: Sequence[str] = ()
    files: Sequence[str] = ()
    functions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A point before it is stored. *release*: of a kernel that is there; empty: it is built."""

    mode: str
    release: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A bisection before it is stored: *places* are one more than *changes*."""

    kind: BisectionKind
    title: str
    asked: Asked
    changes: Sequence[Change]
    places: Sequence[Place]
    source: Source = field(default_factory=Source)
    patches_sha256: str | None = None


def begin(session: Session, draft: Draft, *, submitted_by: str = OPERATOR) -> Bisection:
    """Check and store it; nothing is built or booted yet.

    Raises InvalidInput where hosts, mode, workload, case or metric are not known, or the
    candidates are none, or too many.
    """
    figure = _figure(draft)
    weights = [0.0 if _outside(change.files) else 1.0 for change in draft.changes]
    bisection = Bisection(
        kind=draft.kind,
        title=clean_text(draft.title)[:300],
        state=BisectionState.RUNNING,
        why="it was just begun",
        environment=draft.asked.environment,
        hosts=list(draft.asked.hosts),
        counted=figure.counted,
        emulated=figure.emulated,
        workload=draft.asked.workload,
        parameters=dict(figure.parameters),
        case_title=figure.case_title,
        metric=figure.metric,
        unit=figure.unit,
        higher_is_worse=figure.higher_is_worse,
        minimum_effect=draft.asked.minimum_effect,
        confidence=draft.asked.confidence,
        budget_boots=draft.asked.budget_boots,
        budget_s=draft.asked.budget_hours * 3600,
        source=draft.source,
        patches_sha256=draft.patches_sha256,
        submitted_by=submitted_by,
        candidates=[
            _candidate(position, change, weight)
            for position, (change, weight) in enumerate(zip(draft.changes, weights, strict=True), 1)
        ],
        points=[
            BisectionPoint(position=position, mode=place.mode, release=place.release)
            for position, place in enumerate(draft.places)
        ],
    )
    question(bisection)
    session.add(bisection)
    session.flush()
    return bisection


def _candidate(position: int, change: Change, weight: float) -> BisectionCandidate:
    return BisectionCandidate(
        position=position,
        name=change.name,
        title=clean_text(change.title)[:300],
        message_id=change.message_id,
        people=[clean_text(each)[:200] for each in change.people][:50],
        files=[clean_text(each)[:300] for each in change.files][:200],
        functions=[clean_text(each)[:200] for each in change.functions][:200],
        prior=weight,
        prior_why="" if weight else "it touches nothing that is compiled",
    )


def _outside(files: Sequence[str]) -> bool:
    """Whether all that it touches is never compiled into a kernel."""
    return bool(files) and all(file.startswith(_OUTSIDE) for file in files)


@dataclass(frozen=True, slots=True)
class _Figure:
    """The one figure that is asked for."""

    parameters: Mapping[str, Any]
    case_title: str
    metric: str
    unit: str
    higher_is_worse: bool
    counted: bool
    emulated: bool


def _figure(draft: Draft) -> _Figure:
    """Check what is asked, as an experiment's spec is checked; the one case and metric."""
    asked, catalog = draft.asked, Catalog()
    ends = [
        StepArm(arm_name(at), place.mode, place.release or f"0-point-{at}")
        for at, place in ((0, draft.places[0]), (len(draft.places) - 1, draft.places[-1]))
    ]
    text = step_text(asked, ends, name="bisection", question="Do they differ?", blocks=4)
    spec, hosts = check_text(text, name="the bisection's first step", catalog=catalog)
    [comparison] = spec.comparisons
    workload = catalog.workloads[asked.workload]
    cases = cases_of(workload, comparison.workloads[0])
    if len(cases) != 1:
        raise InvalidInput(
            f"{len(cases)} cases of {asked.workload} are asked for; a bisection is of one",
            hint=f"Say which: --case {next(iter(workload.parameters), 'name')}=VALUE.",
        )
    metrics = workload.metrics_of(cases[0])
    primary = [name for name, metric in metrics.items() if metric.primary]
    name = asked.metric or (primary[0] if len(primary) == 1 else "")
    if name not in metrics:
        raise InvalidInput(
            f"{asked.workload} has no metric {name!r}" if name
            else f"{asked.workload} has {len(primary)} primary metrics",
            hint=f"Give --metric, one of: {', '.join(metrics)}.",
        )  # fmt: skip
    own = [hosts[host] for host in comparison.hosts]
    clocks = {host.clock for host in own}
    if len(clocks) != 1:
        raise InvalidInput(
            "some of these hosts have counted time and some real time",
            hint="A bisection is over hosts that are alike.",
        )
    return _Figure(
        cases[0], workload.title_of(cases[0]), name, metrics[name].unit,
        metrics[name].direction == "lower", clocks == {Clock.COUNTED},
        any(host.emulated for host in own),
    )  # fmt: skip


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


def take_in(session: Session, bisection: Bisection, step: BisectionStep) -> None:
    """Store what a step's experiment, which is over, says of its points."""
    experiment = session.get_one(Experiment, step.experiment_id)
    rows = repository.boots_of(session, experiment.id, step.case_id, bisection.metric)
    read = intake.read(rows, step.points)
    step.observed, step.levels = read.values, read.levels
    step.outcome = intake.in_words(read, bisection.unit)
    step.boots = read.boots
    began = experiment.started_at or experiment.created_at
    ended = experiment.finished_at or database_now(session)
    step.measured_s = max((ended - began).total_seconds(), 0.0)
    step.taken_in_at = database_now(session)
    bisection.boots += step.boots
    bisection.seconds += step.measured_s
    places = {point.position: point for point in bisection.points}
    for point, why in read.skipped.items():
        places[point].skipped = why[:LONGEST_WHY]
    if experiment.state == ExperimentState.CANCELLED:
        end(session, bisection, BisectionState.CANCELLED,
            f"its experiment {experiment.id} was cancelled")  # fmt: skip
        return
    if not read.values and not read.skipped and _barren(bisection) >= MOST_BARREN:
        said = repository.faults_of(session, experiment.id) or "no boot gave a value"
        why = f"{MOST_BARREN} steps in a row told nothing; experiment {experiment.id}: {said}"
        end(session, bisection, BisectionState.FAILED, why)


def _barren(bisection: Bisection) -> int:
    """How many of the last steps gave neither values nor reasons to skip a point."""
    count = 0
    for step in reversed(bisection.steps):
        if step.observed or any(level.boots for level in step.levels):
            break
        if any(bisection.points[point].skipped for point in step.points):
            break
        count += 1
    return count


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
    if isinstance(action, model.Found):
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
    bisection.answer = answer
    end(session, bisection, BisectionState.FINISHED, answer.why or str(answer.kind))


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
    """Whether a step is profiled: one that verifies, and is the first to do so."""
    k = wanted.verifies
    return k is not None and {k - 1, k} <= set(wanted.points) and flame_graph(bisection, k) is None


def asked_of(bisection: Bisection) -> Asked:
    """What it asks, as its steps' specs need it."""
    return Asked(
        hosts=tuple(bisection.hosts),
        workload=bisection.workload,
        parameters=bisection.parameters,
        metric=bisection.metric,
        environment=bisection.environment,
    )


def store_step(
    session: Session, bisection: Bisection, wanted: model.Measure, experiment_id: int,
    *, profiled: bool,
) -> BisectionStep:  # fmt: skip
    """Note a step beside its experiment, in the transaction that submits it."""
    step = BisectionStep(
        number=len(bisection.steps) + 1,
        points=list(wanted.points),
        blocks=wanted.blocks,
        purpose=wanted.purpose,
        why=wanted.why,
        verifies=wanted.verifies,
        profiled=profiled,
        experiment_id=experiment_id,
        case_id=repository.case_of(session, experiment_id),
        taken_in_at=None,
        observed=[],
        levels=[],
    )
    bisection.steps.append(step)
    bisection.why = f"step {step.number}: {wanted.why}"
    session.flush()
    return step


def note_same_binaries(bisection: Bisection) -> bool:
    """Weigh candidates anew by the kernels that are built; whether that changed anything.

    Where two points have the same binary, nothing between them is to blame.
    """
    built = [
        (point.position, point.kernel.content_digest)
        for point in bisection.points
        if point.kernel is not None and point.without is None and point.kernel.content_digest
    ]
    same = [False] * len(bisection.candidates)
    last: dict[str, int] = {}
    for position, digest in built:
        for between in range(last.get(digest, position), position):
            same[between] = True
        last[digest] = position
    touches = [
        Touch(is_same or candidate.prior == 0, frozenset(candidate.functions))
        for is_same, candidate in zip(same, bisection.candidates, strict=True)
    ]
    changed = False
    for candidate, is_same, weight in zip(bisection.candidates, same, priors(touches), strict=True):
        if is_same and candidate.prior > 0:
            candidate.prior_why = "the binary is the same with and without it"
            changed = True
        candidate.prior = weight
    return changed


def skip(bisection: Bisection, point: int, why: str) -> None:
    """Measure a point no more, and say why."""
    bisection.points[point].skipped = clean_text(why)[:LONGEST_WHY]


def revert_point(bisection: Bisection, without: int) -> BisectionPoint:
    """The point after the last end: that end without one candidate. Another one's is replaced."""
    position = len(bisection.candidates) + 1
    found = next((p for p in bisection.points if p.position == position), None)
    if found is None:
        found = BisectionPoint(position=position, mode=bisection.points[-1].mode, without=without)
        bisection.points.append(found)
    elif found.without != without:
        found.without, found.kernel_id, found.kernel, found.skipped = without, None, None, ""
    return found


def end(session: Session, bisection: Bisection, state: BisectionState, why: str) -> None:
    """End it."""
    bisection.state, bisection.why = state, clean_text(why)[:LONGEST_WHY]
    bisection.finished_at = database_now(session)
    session.flush()


def cancel(session: Session, bisection_id: int) -> Bisection:
    """Stop it, and the experiment that it waits for. Raises NotFound, and Conflict once over."""
    bisection = repository.whole(session, bisection_id, lock=True)
    if bisection.state != BisectionState.RUNNING:
        raise Conflict(
            f"bisection {bisection_id} is {bisection.state}", hint="There is nothing to cancel."
        )
    end(session, bisection, BisectionState.CANCELLED, "a person cancelled it")
    step = current_step(bisection)
    if step is not None:
        experiment = session.get_one(Experiment, step.experiment_id)
        if experiment.state not in FINAL_STATES:
            runs.cancel(session, step.experiment_id)
    return bisection


def _percent(log_effect: float) -> float | None:
    return _finite(100 * math.expm1(min(log_effect, 50.0))) if math.isfinite(log_effect) else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
