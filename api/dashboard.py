"""The built dashboard: files without data, for whoever asks under an allowed name."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from api.problems import methods_at

NOT_BUILT = """<!doctype html><html lang="en"><title>Mitigauge</title>
<h1>The dashboard is not built</h1>
<p>Run <code>make setup</code>, then load this page again. The API is at <code>/api</code>.</p>
</html>"""


def mount(app: FastAPI, web_root: Path) -> None:
    """Answer everything outside of ``/api`` from *web_root*; pages find their own way."""
    assets = web_root / "assets"
    if assets.is_dir():
        app.mount("/assets", StaticFiles(directory=assets), name="assets")

    @app.get("/{path:path}", include_in_schema=False)
    def dashboard(path: str, request: Request) -> Response:
        """Any page of the dashboard: it finds its own way from the URL."""
        if path == "api" or path.startswith("api/"):
            raise _nothing_at(path, app, request)
        # By the directory's own names: what is asked for never becomes a path.
        files = {file.name: file for file in web_root.iterdir()} if web_root.is_dir() else {}
        file = files.get(path)
        if file is not None and file.is_file():
            return FileResponse(file)
        index = files.get("index.html")
        if index is None:
            return HTMLResponse(NOT_BUILT, status_code=503)
        return FileResponse(index, headers={"Cache-Control": "no-cache"})


def _nothing_at(path: str, app: FastAPI, request: Request) -> HTTPException:
    if methods_at(app, f"/{path}"):
        return HTTPException(405, f"{request.method} is not answered at /{path}")
    return HTTPException(404, f"there is nothing at /{path[:200]}")
