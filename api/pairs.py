"""Two experiments as one matrix."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.experiments import HAS_IT
from api.parameters import IdQuery, Word
from api.stored_pages import StoredPages
from mitigauge.reporting.pages import experiment_pair as views
from mitigauge.reporting.pages.experiment_pair import LARGEST_PAGE, MOST_PAIRS, PAGE_SIZE, PairQuery
from mitigauge.reporting.pages.pair_schemas import PairSort, PairView

router = APIRouter(prefix="/api/pairs", tags=["experiments"])


@router.get("", response_model=PairView, responses=HAS_IT)
async def show_pair(
    request: Request,
    a: IdQuery,
    b: IdQuery,
    find: Annotated[Word, Query(description="words, each in case, metric, arm or host")] = "",
    workload: Word = "",
    only: Annotated[Literal["", "differs"], Query(description="rows that differ alone")] = "",
    hosts: Annotated[
        list[Word], Query(max_length=MOST_PAIRS, description="a host of a, a colon, a host of b")
    ] = [],  # noqa: B006
    sort: PairSort = PairSort.DIFFERENCE,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = PAGE_SIZE,
) -> Response:
    """Rows that experiments a and b have in common: both effects and their difference.

    All common rows are judged together, whatever is filtered.
    """
    query = PairQuery(
        find, workload, only == "differs", sort, views.host_pairs(hosts), offset, limit
    )
    pages: StoredPages = request.app.state.pages
    return await pages.answer(
        request,
        ("pair", a, b, query),
        lambda session: views.show_pair(session, a, b, query),
        lambda session: views.pair_stamp(session, a, b),
    )
