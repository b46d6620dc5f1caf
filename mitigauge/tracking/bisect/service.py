"""Bisections as they are begun, fed with what was measured, and ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import OPERATOR
from mitigauge.core.errors import Conflict
from mitigauge.core.hostile_text import clean_text
from mitigauge.jobs import service as jobs
from mitigauge.jobs.blame import MOST_TRIES, pause_s
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import JobKind
from mitigauge.jobs.tables import Job
from mitigauge.measurement.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import service as runs
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.bisect import intake, model, repository
from mitigauge.tracking.bisect.draft import Change, Draft, check_candidates, figure_of, is_outside
from mitigauge.tracking.bisect.knowledge import current_step, question
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.bisect.tables import (
    Bisection,
    BisectionCandidate,
    BisectionPoint,
    BisectionStep,
)
from mitigauge.tracking.bisect.weights import unreached_in_words, weight_of

LONGEST_WHY = 2000
# Steps in a row that told nothing: then something is wrong that no further one would put right.
MOST_BARREN = 2


def begin(session: Session, draft: Draft, *, submitted_by: str = OPERATOR) -> Bisection:
    """Check and store it, and have a worker take it on; nothing is built or booted yet.

    Raises InvalidInput where hosts, mode, workload, case or metric are not known, or there are
    fewer than two candidates, and Conflict while one goes on that searches the same.
    """
    check_candidates(draft)
    bisection = _of_draft(draft, submitted_by)
    question(bisection)
    _require_no_other(session, bisection)
    session.add(bisection)
    session.flush()
    audit.record(
        session,
        Action.BISECTION_START,
        _subject(bisection),
        after={"title": bisection.title, "hosts": bisection.hosts, "owner": submitted_by},
    )
    ask(session, bisection)
    return bisection


def _require_no_other(session: Session, bisection: Bisection) -> None:
    other = repository.running_alike(session, bisection)
    if other is not None:
        raise Conflict(
            f"bisection {other} is running and searches the same: {bisection.title}",
            hint=f"`mitigauge bisect wait {other}` follows it, `mitigauge bisect cancel {other}` "
            "ends it.",
        )


def _of_draft(draft: Draft, submitted_by: str) -> Bisection:
    figure = figure_of(draft)
    weights = [0.0 if is_outside(change.files) else 1.0 for change in draft.changes]
    return Bisection(
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
        profile_sha256=draft.profile_sha256,
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


def ask(session: Session, bisection: Bisection) -> Job:
    """Have a worker take it on, where none does."""
    return jobs.ask(
        session,
        JobRequest(JobKind.BISECTION, str(bisection.id), bisection.title, bisection.submitted_by),
    )


def _candidate(position: int, change: Change, weight: float) -> BisectionCandidate:
    return BisectionCandidate(
        position=position,
        name=change.name,
        title=clean_text(change.title)[:300],
        message_id=change.message_id,
        people=[clean_text(each)[:200] for each in change.people][:50],
        files=[clean_text(each)[:300] for each in change.files][:200],
        prior=weight,
        prior_why="" if weight else "it touches nothing that is compiled",
    )


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


def weigh_anew(bisection: Bisection, unreached: Mapping[int, str] = MappingProxyType({})) -> bool:
    """Weigh candidates by the kernels that are built and by exact counts.

    Where two points have the same binary, nothing between them is to blame. *unreached*, of which
    the case runs none, weigh less: see :mod:`mitigauge.tracking.bisect.unreached`. Returns whether
    a candidate cannot be it any more.
    """
    changed = False
    for is_same, candidate in zip(_same_binaries(bisection), bisection.candidates, strict=True):
        why = unreached.get(candidate.position, "")
        if not is_same and candidate.prior > 0:
            candidate.prior_why = unreached_in_words(why)
        elif candidate.prior > 0:
            candidate.prior_why = "the binary is the same with and without it"
            changed = True
        stays_out = is_same or candidate.prior == 0
        candidate.prior = weight_of(same_binary=stays_out, unreached=why)
    return changed


def _same_binaries(bisection: Bisection) -> list[bool]:
    """By candidate: whether it lies between two points of the same binary."""
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
    return same


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


def put_off(session: Session, bisection_id: int, why: str) -> None:
    """Note that our side failed: it is tried again, later and later, and then ended."""
    bisection = session.get_one(Bisection, bisection_id, with_for_update=True)
    if bisection.state != BisectionState.RUNNING:
        return
    bisection.failures += 1
    bisection.again_at = database_now(session) + timedelta(seconds=pause_s(bisection.failures))
    if bisection.failures >= MOST_TRIES:
        tried = f"our side failed {bisection.failures} times, the last time by this"
        end(session, bisection, BisectionState.FAILED, f"{tried}: {why}")


def end(session: Session, bisection: Bisection, state: BisectionState, why: str) -> None:
    """End it."""
    audit.record(
        session,
        Action.BISECTION_END,
        _subject(bisection),
        before={"state": bisection.state},
        after={"state": state, "why": why},
    )
    bisection.state, bisection.why = state, clean_text(why)[:LONGEST_WHY]
    bisection.finished_at = database_now(session)
    session.flush()


def cancel(session: Session, bisection_id: int, *, by: str = OPERATOR) -> Bisection:
    """Stop it, the job that takes it on, and the experiment that it waits for.

    Raises NotFound, and Conflict once over.
    """
    bisection = repository.whole(session, bisection_id, lock=True)
    if bisection.state != BisectionState.RUNNING:
        raise Conflict(
            f"bisection {bisection_id} is {bisection.state}", hint="There is nothing to cancel."
        )
    audit.record(session, Action.BISECTION_CANCEL, _subject(bisection), after={"by": by})
    end(session, bisection, BisectionState.CANCELLED, f"{by} cancelled it")
    jobs.cancel_open(session, JobKind.BISECTION, str(bisection_id), by)
    _stop_step(session, bisection)
    return bisection


def _subject(bisection: Bisection) -> Subject:
    return Subject(SubjectKind.BISECTION, bisection.id)


def fail(session: Session, bisection_id: int, why: str) -> None:
    """Our side gave it up: it ends, and the experiment that it waits for with it."""
    bisection = repository.whole(session, bisection_id, lock=True)
    end(session, bisection, BisectionState.FAILED, why)
    _stop_step(session, bisection)


def _stop_step(session: Session, bisection: Bisection) -> None:
    """Cancel the experiment that it waits for, where there is one."""
    step = current_step(bisection)
    if step is not None:
        experiment = session.get_one(Experiment, step.experiment_id)
        if experiment.state not in FINAL_STATES:
            runs.cancel(session, step.experiment_id)
