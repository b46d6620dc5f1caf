"""Weekly reports of the fleet, as they were made."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from api.database import Database
from api.problems import AS_JSON
from mitigauge.core.settings import get_settings
from mitigauge.reporting.letters.weekly import service
from mitigauge.reporting.letters.weekly.views import WeeklyLine, WeeklyView
from mitigauge.reporting.letters.weekly.week import Week

router = APIRouter(prefix="/api/weekly", tags=["weekly"])

WeekInPath = Annotated[str, Path(max_length=8, pattern=r"^[12]\d{3}-W[0-5]\d$")]
Form = Annotated[Literal["text", "markdown", "html", "json", "mail"], Query(alias="format")]
TYPES = {
    "text": "text/plain; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "mail": "message/rfc822",
}
ENDINGS = {"text": "txt", "markdown": "md", "html": "html", "json": "json", "mail": "eml"}


@router.get("")
def list_weekly(session: Database) -> list[WeeklyLine]:
    """Reports that were made, the newest week first."""
    return service.listed(session)


@router.get("/{week}")
def show_weekly(week: WeekInPath, session: Database) -> WeeklyView:
    """One week's report, arranged for reading."""
    return service.show_week(session, Week.parse(week))


@router.get("/{week}/report", response_class=Response, responses={**AS_JSON})
def weekly_file(week: WeekInPath, session: Database, form: Form = "text") -> Response:
    """The report as a file: text, Markdown, HTML, JSON, or a mail."""
    report = service.find(session, Week.parse(week))
    # A file, never a page of ours: what stands in it came from hosts and specs.
    name = f'attachment; filename="weekly-{week}.{ENDINGS[form]}"'
    return Response(
        report.rendered(form, base=get_settings().public_url.rstrip("/")),
        media_type=TYPES[form],
        headers={"Content-Disposition": name},
    )
