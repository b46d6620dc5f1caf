"""Studies as they are asked for, gone on with, and ended. Nothing here commits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.access.roles import OPERATOR
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.jobs import service as jobs
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import JobKind
from mitigauge.jobs.tables import Job
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import service as runs
from mitigauge.measurement.selection.cells import spec_of_series
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.series.letter import BASE_COMMIT
from mitigauge.tracking.series.request import RequestKind
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision
from mitigauge.tracking.studies import repository
from mitigauge.tracking.studies.answers import answer_of
from mitigauge.tracking.studies.kernel_sets import first_sets, variant_sets
from mitigauge.tracking.studies.schemas import (
    Body,
    CountedKernels,
    KernelSet,
    PatchCosts,
    Selections,
    StudyView,
    Variants,
)
from mitigauge.tracking.studies.states import ENDED, StudyKind, StudyState
from mitigauge.tracking.studies.tables import Study

LONGEST_WHY = 2000
_TITLES: Final = {
    StudyKind.PATCH_COST: "what each patch costs",
    StudyKind.SELECTION: "selection",
    StudyKind.VARIANTS: "which revision costs least",
}
_MAY_RUN: Final = (
    RevisionState.APPROVED, RevisionState.BUILDING, RevisionState.MEASURING,
    RevisionState.NOTHING_RUNS_IT,
)  # fmt: skip


def ask(
    session: Session, revision: SeriesRevision, kind: StudyKind, *, asked_by: str = OPERATOR
) -> Job:
    """Ask something of a revision; what is over is done anew, what goes on goes on.

    Raises InvalidInput where it cannot be told of this revision, or its patches may not run.
    """
    label = f"{revision.series.name} {revision.label}"
    if revision.state not in _MAY_RUN:
        raise InvalidInput(
            f"{label} is {revision.state}: {revision.why}",
            hint=f"`mitigauge series approve {label}`, once somebody has looked at its patches.",
        )
    begun = _body(revision, kind)
    study = repository.of_revision(session, revision.id, kind, lock=True)
    if study is None:
        study = Study(revision_id=revision.id, kind=kind)
        session.add(study)
    if study.state is None or study.state in ENDED:
        study.state, study.why, study.answer = StudyState.WAITING, "it waits for a worker", []
        study.body, study.asked_by = begun, asked_by
        study.asked_at, study.ended_at = database_now(session), None
    session.flush()
    title = f"{label}: {_TITLES[kind]}"
    return jobs.ask(session, JobRequest(JobKind.STUDY, str(study.id), title, asked_by))


def _body(revision: SeriesRevision, kind: StudyKind) -> Body:
    """What a study begins with. Raises InvalidInput where nothing can be told."""
    series = revision.series
    if kind is not StudyKind.SELECTION:
        if not series.spec:
            raise InvalidInput(
                f"nobody has said by what {series.name} is measured",
                hint=f"`mitigauge series set {series.name} --spec NAME`.",
            )
        if kind is StudyKind.PATCH_COST:
            return PatchCosts(sets=first_sets(len(revision.patches)))
        return Variants(sets=variant_sets(_sized(revision), _others(revision)))
    spec = spec_of_series(series.spec)
    if spec is None:
        raise InvalidInput(
            f"no mitigation is known whose choice a series measured by {series.spec!r} may move",
            hint="A file of experiments/selection names it under `series`.",
        )
    every = list(range(1, len(revision.patches) + 1))
    kernels = [KernelSet(name="base", patches=[]), KernelSet(name="this", patches=every)]
    return Selections(spec=spec.name, title=spec.title, kernels=kernels)


def _sized(revision: SeriesRevision) -> tuple[str, int]:
    """Its label, and how many patches it has."""
    return revision.label, len(revision.patches)


def _others(revision: SeriesRevision) -> list[tuple[str, int]]:
    """Other revisions of other patches that may run on the same base, the newest first."""
    patches = {revision.patches_sha256}
    found = []
    for each in reversed(revision.series.revisions):
        is_known = each.patches_sha256 in patches
        if each.state in _MAY_RUN and _base(each) == _base(revision) and not is_known:
            patches.add(each.patches_sha256)
            found.append(_sized(each))
    return found


def _base(revision: SeriesRevision) -> tuple[str, str]:
    """What its kernels are built on; the commit, where that is what it names."""
    base = revision.base or revision.series.base
    return base, revision.base_commit if base == BASE_COMMIT else ""


_ASKED: Final = {
    RequestKind.WHICH_PATCH: StudyKind.PATCH_COST,
    RequestKind.SELECT: StudyKind.SELECTION,
    RequestKind.VARIANTS: StudyKind.VARIANTS,
}


def ask_by_mail(
    session: Session, revision: SeriesRevision, asked: RequestKind, asked_by: str
) -> None:
    """Ask what a mail asks. Raises as :func:`ask`."""
    ask(session, revision, _ASKED[asked], asked_by=asked_by)


def of_request(session: Session, revision: SeriesRevision, asked: RequestKind) -> Study | None:
    """The study that a mail asked for."""
    return repository.of_revision(session, revision.id, _ASKED[asked])


def ask_of_new(
    session: Session, revision: SeriesRevision, kinds: Collection[StudyKind], *, asked_by: str
) -> None:
    """Ask of a revision that is measured what each is asked; what cannot be told is left out."""
    for kind in kinds:
        if repository.of_revision(session, revision.id, kind) is None:
            with suppress(InvalidInput):
                ask(session, revision, kind, asked_by=asked_by)


def kinds_in(setting: str) -> list[StudyKind]:
    """Those that a setting names. Raises InvalidInput for another word."""
    words = [word.strip() for word in setting.split(",") if word.strip()]
    unknown = [word for word in words if word not in list(StudyKind)]
    if unknown:
        raise InvalidInput(
            f"MITIGAUGE_STUDIES: {unknown[0][:60]!r} is no study",
            hint=f"Known: {', '.join(StudyKind)}.",
        )
    return [StudyKind(word) for word in words]


def show(session: Session, revision: SeriesRevision) -> list[StudyView]:
    """All studies of a revision."""
    return [StudyView.model_validate(study) for study in repository.of_revisions(
        session, [revision.id])]  # fmt: skip


def find(session: Session, study_id: int) -> Study:
    """One study, locked. Raises NotFound."""
    study = repository.whole(session, study_id)
    if study is None:
        raise NotFound(f"there is no study {study_id}", hint="Its revision's page has all.")
    return study


def go_on(study: Study, state: StudyState, why: str) -> None:
    """Note what it does now."""
    study.state, study.why = state, clean_text(why)[:LONGEST_WHY]


def finish(session: Session, study: Study) -> None:
    """It is done: what it came to is said."""
    study.answer = [clean_text(line)[:LONGEST_WHY] for line in answer_of(study.body)]
    _end(session, study, StudyState.DONE, study.answer[0])


def end(session: Session, study: Study, state: StudyState, why: str) -> None:
    """It ends before it is done, and the experiment that it waits for with it."""
    if study.state in ENDED:
        return
    experiments: Sequence[int] = (
        study.body.experiments if isinstance(study.body, CountedKernels) else ()
    )
    for number in experiments[-1:]:
        if session.get_one(Experiment, number).state not in FINAL_STATES:
            runs.cancel(session, number)
    _end(session, study, state, why)


def _end(session: Session, study: Study, state: StudyState, why: str) -> None:
    go_on(study, state, why)
    study.ended_at = database_now(session)
    session.flush()


def lines_of(session: Session, revision_id: int) -> list[str]:
    """What the studies of a revision came to, as an answer to its thread says it; faults first."""
    studies = repository.of_revisions(session, [revision_id])
    return [
        line
        for study in sorted(studies, key=lambda each: not each.looks_worse)
        if study.state in ENDED
        for line in (study.answer or [f"{study.kind}: {study.state}, {study.why}"])
    ]


def is_waited_for(session: Session, revision_id: int) -> bool:
    """Whether a study of the revision is not over."""
    return bool(repository.open_of(session, revision_id))
