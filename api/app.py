"""The application: routes, errors, security headers, and the built dashboard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy import Engine
from starlette.exceptions import HTTPException

from api import boots, experiments, health, hosts, problems, profiles
from api.problems import ProblemView
from mitigauge.database import get_engine
from mitigauge.settings import get_settings

# The dashboard needs nothing from elsewhere; names from kernels and mails are hostile text.
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
        "form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
NOT_BUILT = """<!doctype html><html lang="en"><title>Mitigauge</title>
<h1>The dashboard is not built</h1>
<p>Run <code>make setup</code>, then load this page again. The API is at <code>/api</code>.</p>
</html>"""


def create_app(engine: Engine | None = None, *, web_root: Path | None = None) -> FastAPI:
    """The service over *engine* (default: the configured database)."""
    app = FastAPI(
        title="Mitigauge",
        summary="What a kernel change or a CPU mitigation costs, proven boot by boot.",
        version="1",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={"4XX": {"model": ProblemView}, "5XX": {"model": ProblemView}},
    )
    app.state.engine = engine if engine is not None else get_engine()
    app.state.ready = False
    problems.install(app)
    app.middleware("http")(_secured)
    for module in (health, experiments, boots, hosts, profiles):
        app.include_router(module.router)
    _mount_dashboard(app, web_root or get_settings().web_root)
    return app


async def _secured(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def _mount_dashboard(app: FastAPI, web_root: Path) -> None:
    assets = web_root / "assets"
    if assets.is_dir():
        app.mount("/assets", StaticFiles(directory=assets), name="assets")

    @app.get("/{path:path}", include_in_schema=False)
    def dashboard(path: str) -> Response:
        """Any page of the dashboard: it finds its own way from the URL."""
        if path.startswith("api/"):
            raise HTTPException(404, f"there is nothing at /{path}")
        file = (web_root / path).resolve()
        if path and file.is_file() and file.is_relative_to(web_root.resolve()):
            return FileResponse(file)
        index = web_root / "index.html"
        if not index.is_file():
            return HTMLResponse(NOT_BUILT, status_code=503)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})
