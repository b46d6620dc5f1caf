"""What threads did by name while loads ran, over the arms of an experiment."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, Response

from api.database import Database
from api.experiments import HAS_IT, TEXT_OR_CSV, written
from api.parameters import Id, MaybeIdQuery, Word
from api.stored_pages import StoredPages
from mitigauge.claims.repository import stamp as claims_stamp
from mitigauge.documents.forms import Form
from mitigauge.letters.report.service import threads_beside
from mitigauge.runs import repository as run_rows
from mitigauge.tables import thread_text
from mitigauge.tables.thread_schemas import ThreadsView

router = APIRouter(prefix="/api/experiments", tags=["experiments"])
Seconds = Annotated[
    float | None,
    Query(ge=0.001, le=86_400, description="figures in so many seconds; else the case's window"),
]


@router.get("/{experiment_id}/threads", response_model=ThreadsView, responses=HAS_IT)
async def show_threads(
    experiment_id: Id, request: Request, case: MaybeIdQuery = None, host: Word | None = None
) -> Response:
    """Wake-ups, run time and wait time by thread name, of every case that tells or of one."""
    pages: StoredPages = request.app.state.pages
    return await pages.answer(
        request,
        ("threads", experiment_id, case, host),
        lambda session: threads_beside(session, experiment_id, case_id=case, host=host),
        lambda session: (run_rows.stamp(session, experiment_id), claims_stamp(session)),
    )


@router.get(
    "/{experiment_id}/threads/report", response_class=PlainTextResponse, responses=TEXT_OR_CSV
)
def threads_report(
    experiment_id: Id,
    session: Database,
    case: MaybeIdQuery = None,
    host: Word | None = None,
    seconds: Seconds = None,
    format: Form = "text",  # noqa: A002
) -> PlainTextResponse:
    """The same as text for a mailing list, as Markdown, or as CSV (in 5 s, if nothing is said)."""
    view = threads_beside(session, experiment_id, case_id=case, host=host)
    return written(thread_text.thread_forms(seconds), view, format)
