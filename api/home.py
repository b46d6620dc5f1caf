"""The first page: what runs, what is new, what waits for somebody."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.stored_pages import StoredPages
from mitigauge.reporting.home.schemas import HomeView
from mitigauge.reporting.home.service import show_home

router = APIRouter(prefix="/api/home", tags=["home"])


@router.get("", response_model=HomeView)
async def home(request: Request) -> Response:
    """The service at a glance, the same for everybody."""
    pages: StoredPages = request.app.state.pages
    return await pages.answer(request, "home", show_home)
