"""One search over everything."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.stored_pages import StoredPages
from mitigauge.reporting.search import service
from mitigauge.reporting.search.schemas import LARGEST_LIMIT, LONGEST, MOST_OF_A_KIND, SearchView

router = APIRouter(prefix="/api/search", tags=["search"])


@router.get("", response_model=SearchView)
async def search(
    request: Request,
    q: Annotated[str, Query(max_length=LONGEST, description="words, or a number: 17 or #17")],
    limit: Annotated[int, Query(ge=1, le=LARGEST_LIMIT, description="of a kind")] = MOST_OF_A_KIND,
) -> Response:
    """What has each of the words: the newest few of each kind, with how many there are."""
    pages: StoredPages = request.app.state.pages
    return await pages.answer(
        request,
        ("search", tuple(q.split()), limit),
        lambda session: service.search(session, q, limit=limit),
    )
