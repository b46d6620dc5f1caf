"""Boots: what a figure can be traced to, and where results come in."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from api.database import Database
from mitigauge.blobs import blob_store
from mitigauge.errors import Forbidden, TooLarge
from mitigauge.experiments import boot_views, service, upload_token
from mitigauge.experiments.boot_schemas import BootView
from mitigauge.experiments.results import inflate
from mitigauge.settings import get_settings

router = APIRouter(prefix="/api", tags=["boots"])

Id = Annotated[int, Path(ge=1, lt=2**31)]


class Stored(BaseModel):
    """What an upload did."""

    stored: bool
    detail: str


@router.get("/boots/{boot_id}")
def show_boot(boot_id: Id, session: Database) -> BootView:
    """One boot: proof, raw iterations, steps, fingerprint, console."""
    return boot_views.show_boot(session, boot_id)


@router.put(
    "/boots/{boot_id}/cases/{case_id}/result",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
)
async def upload_result(
    boot_id: Id,
    case_id: Id,
    request: Request,
    response: Response,
    session: Database,
    authorization: Annotated[str, Header()] = "",
    content_encoding: Annotated[str, Header()] = "",
) -> Stored:
    """Take in a case's result. The same body again is fine, another is a conflict."""
    if not upload_token.is_valid(authorization.removeprefix("Bearer "), boot_id):
        raise Forbidden(
            f"the token does not allow results of boot {boot_id}",
            hint="Send the boot's own token: Authorization: Bearer mgu_…",
        )
    settings = get_settings()
    body = await _body(request, settings.upload_limit_bytes)
    inflated = inflate(body, content_encoding, settings.upload_inflated_limit_bytes)
    fresh = await asyncio.to_thread(service.store_result, session, boot_id, case_id, inflated)
    response.status_code = 201 if fresh else 200
    return Stored(stored=fresh, detail="stored" if fresh else "the same result is there already")


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


async def _body(request: Request, limit: int) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(f"the body is over {limit} bytes", hint="Compress it with zstd or gzip.")
    return body
