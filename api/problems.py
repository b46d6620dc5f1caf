"""Errors as answers: every no has a status, a message and the way out, and is short."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from pydantic import Field
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from mitigauge.core.actor import known_actor
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.view import View
from mitigauge.storage.database.engine import in_words, is_away

log = logging.getLogger(__name__)

# However long what was asked, the answer to it is not.
LONGEST_MESSAGE = 4_000
LONGEST_HINT = 1_000
MOST_FAULTS = 20
TRY_AGAIN_S = 2


class ProblemView(View):
    """How the API says no: what is wrong, and the way out."""

    error: str
    message: str
    hint: str = ""
    request_id: str = Field("", description="by which the service's log names the request")


# For routes that answer something else than JSON: what they refuse with is JSON all the same.
AS_JSON: dict[int | str, dict[str, Any]] = {
    family: {
        "description": "a refusal",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemView"}}},
    }
    for family in ("4XX", "5XX")
}


def install(app: FastAPI) -> None:
    """Make the app answer all its errors as :class:`ProblemView`."""

    @app.exception_handler(MitigaugeError)
    async def known(_: Request, error: MitigaugeError) -> JSONResponse:
        return refusal(error)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        lines = [
            f"{'.'.join(str(part)[:100] for part in fault['loc'])}: {fault['msg'][:300]}"
            for fault in error.errors()[:MOST_FAULTS]
        ]
        return problem(
            422, "InvalidInput", "\n".join(lines), "See /api/openapi.json for what is taken."
        )

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, "HTTP", str(error.detail), "See /api/openapi.json.")
        if error.status_code == 405:
            answer.headers["Allow"] = ", ".join(methods_at(app, request.url.path))
        return answer

    @app.exception_handler(DBAPIError)
    async def database_refused(_: Request, error: DBAPIError) -> JSONResponse:
        if is_away(error):
            return away(f"the database does not answer: {in_words(error)}")
        log.error("the database refused a statement", exc_info=error)
        return unexpected()

    @app.exception_handler(PoolTimeout)
    async def database_busy(_: Request, __: PoolTimeout) -> JSONResponse:
        return away("every connection to the database is in use")


def methods_at(app: FastAPI, path: str) -> list[str]:
    """The methods that the API answers at *path*."""
    found: set[str] = set()
    for route in iter_route_contexts(app.routes):
        if (route.path or "").startswith("/api/") and route.path_regex.match(path):
            found |= route.methods or set()
    return sorted(found)


def refusal(error: MitigaugeError) -> JSONResponse:
    """An error that people are meant to read, as an answer."""
    answer = problem(error.status, type(error).__name__, error.message, error.hint)
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def away(message: str) -> JSONResponse:
    """The answer while something that we need is missing."""
    answer = problem(503, "NotReady", message, "Try again in a moment.")
    answer.headers["Retry-After"] = str(TRY_AGAIN_S)
    return answer


def unexpected() -> JSONResponse:
    """The answer to an error of ours, without anything of our inside."""
    return problem(
        500,
        "Internal",
        "the service failed at this; its log says where",
        "Try again, and report it if that fails as well.",
    )


def problem(status: int, error: str, message: str, hint: str) -> JSONResponse:
    """One refusal."""
    actor = known_actor()
    view = ProblemView(
        error=error,
        message=bounded(message, LONGEST_MESSAGE),
        hint=bounded(hint, LONGEST_HINT),
        request_id=actor.request_id if actor else "",
    )
    return JSONResponse(view.model_dump(), status_code=status)


def bounded(text: str, longest: int) -> str:
    """*text* cleaned, and cut with a note of that."""
    if len(text) <= longest:
        return clean_text(text)
    return clean_text(text[:longest]) + f" … ({len(text)} characters in all)"
