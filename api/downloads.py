"""Downloads: what the pages of an experiment show, and its raw values, for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from api.database import Database, begin
from api.parameters import Id, MaybeIdQuery, Word
from api.problems import AS_JSON
from mitigauge.core.documents.csv_text import as_csv, as_json_lines
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.iterations import IterationLine, iterations
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.reporting.tables.downloads import MATRIX_COLUMNS, iteration_rows, matrix_rows

router = APIRouter(prefix="/api/experiments", tags=["downloads"])
CSV = "text/csv; charset=utf-8"
LINES = "application/x-ndjson"


def named_file(name: str) -> dict[str, str]:
    """Headers of what is kept as a file."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


@router.get(
    "/{experiment_id}/matrix.csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}}, **AS_JSON},
)
def matrix_as_csv(experiment_id: Id, session: Database) -> StreamingResponse:
    """Every cell of the matrices as a row."""
    view = views.show_experiment(session, experiment_id)
    return StreamingResponse(
        as_csv(MATRIX_COLUMNS, matrix_rows(view)),
        media_type=CSV,
        headers=named_file(f"experiment-{experiment_id}.csv"),
    )


@router.get("/{experiment_id}/matrix.json")
def matrix_as_json(experiment_id: Id, session: Database, response: Response) -> ExperimentView:
    """The experiment with its matrices, as a file."""
    response.headers.update(named_file(f"experiment-{experiment_id}.json"))
    return views.show_experiment(session, experiment_id)


@router.get(
    "/{experiment_id}/iterations.csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}}, **AS_JSON},
)
def iterations_as_csv(
    request: Request, experiment_id: Id, case: MaybeIdQuery = None, host: Word | None = None
) -> StreamingResponse:
    """Every value as a row, warm-ups and iterations that were taken again included."""
    lines = _iterations(request, experiment_id, case, host)
    return StreamingResponse(
        as_csv(IterationLine._fields, iteration_rows(lines)),
        media_type=CSV,
        headers=named_file(f"experiment-{experiment_id}-iterations.csv"),
    )


@router.get(
    "/{experiment_id}/iterations.jsonl",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {}}}, **AS_JSON},
)
def iterations_as_json(
    request: Request, experiment_id: Id, case: MaybeIdQuery = None, host: Word | None = None
) -> StreamingResponse:
    """The same, a line of JSON each."""
    lines = _iterations(request, experiment_id, case, host)
    return StreamingResponse(
        as_json_lines(iteration_rows(lines)),
        media_type=LINES,
        headers=named_file(f"experiment-{experiment_id}-iterations.jsonl"),
    )


def _iterations(
    request: Request, experiment_id: int, case: int | None, host: str | None
) -> Iterator[IterationLine]:
    """Values in a transaction of their own, which lasts until the answer is sent."""

    def lines() -> Iterator[IterationLine | None]:
        with begin(request.app) as session:
            found = iterations(session, experiment_id, case_id=case, host=host)
            yield None
            yield from found

    started = lines()
    # What is not there is said before the answer begins.
    next(started)
    return (line for line in started if line is not None)
