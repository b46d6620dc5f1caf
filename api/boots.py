"""Boots: what a figure can be traced to."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import StreamingResponse

from api.database import Database
from mitigauge.blobs import blob_store
from mitigauge.experiments import boot_views
from mitigauge.experiments.boot_schemas import BootView
from mitigauge.settings import get_settings

router = APIRouter(prefix="/api", tags=["boots"])

Id = Annotated[int, Path(ge=1, lt=2**31)]


@router.get("/boots/{boot_id}")
def show_boot(boot_id: Id, session: Database) -> BootView:
    """One boot: proof, raw iterations, steps, fingerprint, console."""
    return boot_views.show_boot(session, boot_id)


@router.get("/blobs/{digest}", response_class=StreamingResponse)
def raw_output(digest: str) -> StreamingResponse:
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
