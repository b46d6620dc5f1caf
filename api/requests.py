"""Requests that came by mail and wait until a person has looked at them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from sqlalchemy.orm import Session

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import Id
from mitigauge.access.roles import Right
from mitigauge.core.settings import get_settings
from mitigauge.jobs import worker_repository as worker_rows
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import request_service as service
from mitigauge.tracking.series.schemas import RequestApproval, RequestView, RequestWhole
from mitigauge.tracking.studies.service import ask_by_mail

router = APIRouter(prefix="/api/requests", tags=["series"])


@router.get("")
def list_requests(
    session: Database,
    waiting: Annotated[bool, Query(description="only those that wait for a person")] = False,
) -> list[RequestView]:
    """Requests that came by mail, the newest first."""
    return service.list_requests(session, waiting=waiting)


@router.get("/{request_id}")
def show_request(request_id: Id, session: Database) -> RequestWhole:
    """One request with its whole mail."""
    return service.show_request(session, request_id, blob_store(get_settings()))


@router.post("/{request_id}/approve", dependencies=[Depends(needs(Right.APPROVE))])
def approve_request(
    request_id: Id, approval: RequestApproval, session: Database, caller: Known
) -> RequestView:
    """Say that the mail of that digest is meant: its diff may then run on our hosts."""
    row = service.find(session, request_id)
    means = service.Means(blob_store(get_settings()), _bases(session), ask_by_mail)
    service.approve(session, row, means, approval.digest, by=caller.subject)
    return RequestView.model_validate(row)


def _bases(session: Session) -> dict[str, str]:
    """Source packages that any worker that runs can build from."""
    return {
        name: version
        for can in worker_rows.abilities(session)
        for name, version in can.bases.items()
    }


@router.post(
    "/{request_id}/ignore",
    dependencies=[Depends(needs(Right.APPROVE))],
    openapi_extra=UNREAD_BODY,
)
def ignore_request(request_id: Id, session: Database) -> RequestView:
    """Leave a request alone: it gets no answer. A body is not read."""
    row = service.find(session, request_id)
    service.ignore(session, row)
    return RequestView.model_validate(row)
