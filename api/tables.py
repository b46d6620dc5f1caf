"""Tables of an experiment: one address for every kind."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, Response
from sqlalchemy.orm import Session

from api.database import Database
from api.experiments import HAS_IT, TEXT_OR_CSV
from api.parameters import Id, MaybeIdQuery, NameInPath, Word
from api.stored_pages import StoredPages
from mitigauge.analysis.claims.repository import stamp as claims_stamp
from mitigauge.core.documents.table import TableView
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.pages.detail_schemas import DetailsView
from mitigauge.reporting.tables.kind import Form, Kind, TableQuery
from mitigauge.reporting.tables.kinds import DETAILS, kind_named

router = APIRouter(prefix="/api/experiments", tags=["experiments"])
Seconds = Annotated[
    float | None,
    Query(ge=0.001, le=86_400, description="figures in so many seconds; else the case's window"),
]
Figures = Annotated[
    bool, Query(description="of JSON: the figures that the table is made of, in its place")
]
Suffix = Literal["txt", "md", "csv", "json"]
FORMS: dict[str, Form] = {"txt": "text", "md": "markdown", "csv": "csv"}


def _query(
    case: MaybeIdQuery = None,
    host: Word | None = None,
    metric: Word | None = None,
    seconds: Seconds = None,
    figure: Word | None = None,
    arm: Word | None = None,
    function: Word | None = None,
    baseline: Word | None = None,
) -> TableQuery:
    """What is asked for, of the parameters that any kind takes."""
    return TableQuery(case, host, metric, seconds, figure, arm, function, baseline)


Asked = Annotated[TableQuery, Depends(_query)]


@router.get(
    "/{experiment_id}/tables/{kind}.{suffix}",
    response_class=PlainTextResponse,
    responses=TEXT_OR_CSV,
)
def table_file(
    experiment_id: Id,
    kind: NameInPath,
    suffix: Suffix,
    session: Database,
    query: Asked,
    figures: Figures = False,
) -> Response:
    """A table as text for a mailing list, as Markdown, as CSV, or as JSON."""
    chosen = kind_named(kind)
    if suffix == "json":
        read = chosen.checked_read if figures else chosen.view
        text = read(session, experiment_id, query).model_dump_json()
        return Response(text, media_type="application/json")
    return _written(chosen.write(session, experiment_id, query, FORMS[suffix]), FORMS[suffix])


@router.get("/{experiment_id}/tables/{kind}", response_model=TableView, responses=HAS_IT)
async def show_table(
    experiment_id: Id, kind: NameInPath, request: Request, query: Asked
) -> Response:
    """A table of any kind: matrix, counters, threads, loss, details, functions and others."""
    chosen = kind_named(kind)
    return await _page(request, chosen, experiment_id, query, as_view=True)


async def _page(
    request: Request, kind: Kind[Any], experiment_id: int, query: TableQuery, *, as_view: bool
) -> Response:
    pages: StoredPages = request.app.state.pages
    read = kind.view if as_view else kind.checked_read

    def stamp(session: Session) -> object:
        return run_rows.stamp(session, experiment_id), claims_stamp(session)

    return await pages.answer(
        request,
        ("table", as_view, kind.name, experiment_id, query),
        lambda session: read(session, experiment_id, query),
        stamp if kind.of_runs else None,
    )


def _written(text: str, form: Form) -> PlainTextResponse:
    media_type = "text/csv; charset=utf-8" if form == "csv" else None
    return PlainTextResponse(text, media_type=media_type)


@router.get(
    "/{experiment_id}/cases/{case_id}/details", response_model=DetailsView, responses=HAS_IT
)
async def show_details(
    experiment_id: Id, case_id: Id, request: Request, host: Word | None = None
) -> Response:
    """The figures of the table of details of one case on one host, for a page that draws them."""
    query = TableQuery(case=case_id, host=host)
    return await _page(request, DETAILS, experiment_id, query, as_view=False)
