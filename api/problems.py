"""Errors as answers: every no has a status, a message and the way out."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from mitigauge.errors import MitigaugeError
from mitigauge.experiments.schemas import View


class ProblemView(View):
    """How the API says no: what is wrong, and the way out."""

    error: str
    message: str
    hint: str = ""


def install(app: FastAPI) -> None:
    """Make the app answer all its errors as :class:`ProblemView`."""

    @app.exception_handler(MitigaugeError)
    async def known(_: Request, error: MitigaugeError) -> JSONResponse:
        return problem(error.status, type(error).__name__, error.message, error.hint)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        lines = [
            f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors()
        ]
        return problem(
            422, "InvalidInput", "\n".join(lines), "See /api/openapi.json for what is taken."
        )

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, "HTTP", str(error.detail), "See /api/openapi.json.")

    @app.exception_handler(OperationalError)
    async def database_away(_: Request, error: OperationalError) -> JSONResponse:
        first = str(error.orig).strip().splitlines()[0] if error.orig else "no detail"
        return problem(
            503, "NotReady", f"the database does not answer: {first}", "Try again in a moment."
        )


def problem(status: int, error: str, message: str, hint: str) -> JSONResponse:
    """One refusal."""
    view = ProblemView(error=error, message=message, hint=hint)
    return JSONResponse(view.model_dump(), status_code=status)
