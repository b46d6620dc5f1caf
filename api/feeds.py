"""Lists as feeds: what is new, for whoever reads feeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from api.database import Database
from api.experiments import HAS_IT, asked_filter
from api.problems import AS_JSON
from api.regressions import asked_filter as regressions_asked
from mitigauge.core.documents.atom import MEDIA_TYPE, Feed, FeedEntry, render
from mitigauge.core.documents.parts import counted
from mitigauge.core.settings import get_settings
from mitigauge.measurement.experiments.filter import ExperimentFilter
from mitigauge.reporting.letters.weekly import service as weekly
from mitigauge.reporting.letters.weekly.views import WeeklyLine
from mitigauge.reporting.pages import experiments
from mitigauge.reporting.pages.schemas import ExperimentSummary
from mitigauge.tracking.regressions import service as regressions
from mitigauge.tracking.regressions.repository import RegressionFilter
from mitigauge.tracking.regressions.schemas import RegressionSummary
from mitigauge.tracking.series import listing
from mitigauge.tracking.series.schemas import SeriesHead

router = APIRouter(prefix="/api/feeds", tags=["feeds"])

MOST: Final = 100
ATOM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {MEDIA_TYPE: {}}},
    **HAS_IT,
    **AS_JSON,
}


@router.get("/regressions.atom", response_class=Response, responses=ATOM)
def feed_regressions(
    request: Request,
    session: Database,
    wanted: Annotated[RegressionFilter, Depends(regressions_asked)],
) -> Response:
    """Regressions, those that changed last first; filtered as their list."""
    page = regressions.list_regressions(session, wanted, limit=regressions.LARGEST_PAGE)
    return _answer(
        request, "Regressions", "/regressions", (_regression(each) for each in page.regressions)
    )


def _regression(of: RegressionSummary) -> FeedEntry:
    effect = "from 0" if of.effect_percent is None else f"{of.effect_percent:+.1f} %"
    emulated = " [emulated]" if of.emulated else ""
    whose = f"{of.owner}'s" if of.owner else "nobody's"
    return FeedEntry(
        path=f"/regressions/{of.id}",
        title=f"{of.case}: {effect}{emulated}",
        summary=f"{of.state}, {whose}. {of.metric_title} in {of.mode} on {of.host_class}, against "
        f"{of.before}.",
        updated=of.changed_at,
    )


@router.get("/experiments.atom", response_class=Response, responses=ATOM)
def feed_experiments(
    request: Request,
    session: Database,
    wanted: Annotated[ExperimentFilter, Depends(asked_filter)],
) -> Response:
    """Experiments, those that changed last first; filtered as their list."""
    page = experiments.list_experiments(session, wanted, limit=MOST)
    return _answer(
        request, "Experiments", "/experiments", (_experiment(each) for each in page.experiments)
    )


def _experiment(of: ExperimentSummary) -> FeedEntry:
    emulated = " [emulated]" if of.emulated else ""
    said = [f"{of.state}, {of.boots_done} of {counted(of.boots_total, 'boot')}.", of.headline]
    return FeedEntry(
        path=f"/experiments/{of.id}",
        title=f"{of.id}: {of.name}{emulated}",
        summary=" ".join([of.question, *filter(None, said)]),
        updated=of.finished_at or of.started_at or of.created_at,
        by=of.submitted_by,
    )


@router.get("/series.atom", response_class=Response, responses=ATOM)
def feed_series(request: Request, session: Database) -> Response:
    """Series, those with the newest revision first."""
    found = (_series(each) for each in listing.heads(session) if each.received_at is not None)
    return _answer(request, "Patch series", "/series", found)


def _series(of: SeriesHead) -> FeedEntry:
    why = f": {of.why}" if of.why else ""
    at = of.received_at
    assert at is not None
    return FeedEntry(
        path=f"/series/{quote(of.name, safe='')}",
        title=f"{of.name} {of.newest}: {of.title}",
        summary=f"{of.state or 'no revision'}{why}",
        updated=at,
    )


@router.get("/weekly.atom", response_class=Response, responses=ATOM)
def feed_weekly(request: Request, session: Database) -> Response:
    """Reports of weeks that are over, the newest first."""
    found = (_week(each) for each in weekly.listed(session) if each.complete)
    return _answer(request, "Weekly reports", "/?tab=weeks", found)


def _week(of: WeeklyLine) -> FeedEntry:
    return FeedEntry(
        path=f"/weekly/{of.week}",
        title=f"{of.week}: {counted(of.new_worse, 'comparison')} newly worse",
        summary=f"{of.in_words}: of comparisons {of.new_worse} newly worse, {of.new_better} newly "
        f"better, {of.open_worse} worse as before.",
        updated=of.made_at,
    )


def _answer(request: Request, title: str, page: str, entries: Iterable[FeedEntry]) -> Response:
    """The feed, or 304 where the reader has it."""
    newest = sorted(entries, key=_when, reverse=True)[:MOST]
    asked = f"?{request.url.query}" if request.url.query else ""
    feed = Feed(f"Mitigauge: {title}", page, request.url.path + asked, newest)
    body = render(feed, _base(request))
    etag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=MEDIA_TYPE, headers=headers)


def _when(of: FeedEntry) -> datetime:
    return of.updated


def _base(request: Request) -> str:
    """The dashboard's address: as the settings say, else as the request was addressed."""
    configured = get_settings().public_url.rstrip("/")
    return configured or str(request.base_url).rstrip("/")
