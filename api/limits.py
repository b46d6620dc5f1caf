"""Limits in force: what every experiment is judged by at its end."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Depends, Request

from api.bodies import SPEC_BODY, text_of
from api.database import Database
from api.gate import Known, needs
from api.parameters import NameInPath
from mitigauge.access.roles import Right
from mitigauge.analysis.verdicts import limit_service
from mitigauge.analysis.verdicts.limit_schemas import LimitFileHead, LimitFileView
from mitigauge.analysis.verdicts.limit_text import LARGEST_BYTES

router = APIRouter(prefix="/api/limits", tags=["limits"])

MAY = [Depends(needs(Right.SET_LIMITS))]


@router.get("")
def list_limits(session: Database) -> list[LimitFileHead]:
    """Files of limits that are in force, by name."""
    return limit_service.list_limits(session)


@router.get("/{name}")
def show_limits(name: NameInPath, session: Database) -> LimitFileView:
    """One of them with its text."""
    return limit_service.show_limits(session, name)


@router.put("/{name}", dependencies=MAY, openapi_extra=SPEC_BODY)
async def set_limits(
    name: NameInPath, request: Request, session: Database, caller: Known
) -> LimitFileView:
    """Put a file (YAML) in force, in the place of the one of its name; refused whole, with line."""
    text = await text_of(request, "the file of limits", limit=LARGEST_BYTES)
    return await asyncio.to_thread(limit_service.set_named, session, name, text, by=caller.subject)


@router.delete("/{name}", dependencies=MAY)
def remove_limits(name: NameInPath, session: Database) -> LimitFileView:
    """End a file; the answer is how it was. What was said by it stays."""
    return limit_service.remove_limits(session, name)
