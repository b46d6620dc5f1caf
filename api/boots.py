"""Boots: what a figure can be traced to."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from api.database import Database
from api.parameters import Id, NameInPath
from api.problems import AS_JSON
from mitigauge.core.settings import get_settings
from mitigauge.reporting.pages import boot as boot_views
from mitigauge.reporting.pages.boot_schemas import BootView
from mitigauge.storage.files.blobs import blob_store

router = APIRouter(prefix="/api", tags=["boots"])


@router.get("/boots/{boot_id}")
def show_boot(boot_id: Id, session: Database) -> BootView:
    """One boot: proof, raw iterations, steps, fingerprint, console."""
    return boot_views.show_boot(session, boot_id)


@router.get(
    "/blobs/{digest}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}}, **AS_JSON},
)
def raw_output(digest: NameInPath) -> StreamingResponse:
    """A raw file by its SHA-256, always as a download."""
    blob = blob_store(get_settings()).get(digest)
    return StreamingResponse(
        blob.pieces,
        media_type="application/octet-stream",
        headers={
            "Content-Length": str(blob.size),
            "Content-Disposition": f'attachment; filename="{digest[:16]}.tar.gz"',
        },
    )
