"""Patch series: their revisions, what differs between them, and the line of their verdicts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import PlainTextResponse

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import Id, NameInPath, Word
from api.problems import AS_JSON
from mitigauge.access.roles import Right
from mitigauge.core.settings import get_settings
from mitigauge.jobs import views
from mitigauge.jobs.schemas import JobView
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import listing, service
from mitigauge.tracking.series.order_service import ask_revision
from mitigauge.tracking.series.revision_line import SeriesLine, line
from mitigauge.tracking.series.schemas import (
    Approval,
    RevisionView,
    SeriesHead,
    SeriesView,
    StartRequest,
)
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.studies import service as studies
from mitigauge.tracking.studies.schemas import StudyView
from mitigauge.tracking.studies.states import StudyKind

router = APIRouter(prefix="/api/series", tags=["series"])


@router.get("")
def list_series(
    session: Database,
    find: Annotated[Word, Query(description="words, each in name or title")] = "",
    state: Annotated[
        list[RevisionState], Query(description="of the newest revision, any of them; none: all")
    ] = [],  # noqa: B006
) -> list[SeriesHead]:
    """The newest series, each with where its newest revision stands."""
    return listing.heads(session, find, state)


@router.get("/{name}")
def show_series(name: NameInPath, session: Database) -> SeriesView:
    """One series with its revisions, the first one first."""
    return listing.view_of(session, service.find(session, name))


@router.get("/{name}/line")
def show_line(name: NameInPath, session: Database) -> SeriesLine:
    """What was said of each case and mode, revision by revision; the worst first."""
    return line(session, service.find(session, name))


@router.get("/{name}/revision")
def show_revision(name: NameInPath, session: Database, label: Word = "") -> RevisionView:
    """One revision whole: `v3`, or `v3+fix-7`; without a label the newest."""
    return listing.revision_view(session, service.find_revision(session, name, label))


@router.get(
    "/{name}/{revision}/patches/{position}", response_class=PlainTextResponse, responses={**AS_JSON}
)
def show_revision_patch(
    name: NameInPath, revision: NameInPath, position: Id, session: Database
) -> str:
    """A patch of a revision, from 1, as it is applied."""
    blobs = blob_store(get_settings())
    return service.patch_text(session, name, revision, position, blobs)


@router.post("/{name}/{revision}/approve", dependencies=[Depends(needs(Right.APPROVE))])
def approve_revision(
    name: NameInPath,
    revision: NameInPath,
    approval: Approval,
    session: Database,
    caller: Known,
) -> RevisionView:
    """Say that a revision's patches, those of that digest, may run on our hosts."""
    found = service.approve_seen(session, name, revision, approval.digest, caller.subject)
    return RevisionView.model_validate(found)


@router.post(
    "/{name}/{revision}/start", status_code=202, dependencies=[Depends(needs(Right.SUBMIT))]
)
def start_revision(
    name: NameInPath,
    revision: NameInPath,
    session: Database,
    caller: Known,
    wanted: StartRequest | None = None,
) -> JobView:
    """Have an approved revision built and measured.

    Cases that are known to run nothing of what it changes are left out, unless `all_cases` is
    true.
    """
    found = service.find_revision(session, name, revision, lock=True)
    all_cases = wanted is not None and wanted.all_cases
    job = ask_revision(session, found, asked_by=caller.subject, all_cases=all_cases)
    return views.view_job(session, job.id)


@router.get("/{name}/{revision}/studies")
def show_studies(name: NameInPath, revision: NameInPath, session: Database) -> list[StudyView]:
    """What a revision was asked beside its experiment, and what came of it."""
    return studies.show(session, service.find_revision(session, name, revision))


@router.post(
    "/{name}/{revision}/studies/{kind}",
    status_code=202,
    dependencies=[Depends(needs(Right.SUBMIT))],
    openapi_extra=UNREAD_BODY,
)
def ask_study(
    name: NameInPath, revision: NameInPath, kind: StudyKind, session: Database, caller: Known
) -> JobView:
    """Ask what each patch costs, which mitigation is chosen, or which revision costs least.

    What is over is done anew; what goes on goes on. A body is not read.
    """
    found = service.find_revision(session, name, revision, lock=True)
    job = studies.ask(session, found, kind, asked_by=caller.subject)
    return views.view_job(session, job.id)
