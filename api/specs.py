"""Specs before they are submitted: ready-made ones, and what one would plan."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from api.bodies import SPEC_BODY, text_of
from api.database import Database
from api.gate import needs
from api.parameters import NameInPath, Word
from mitigauge.access.roles import Right
from mitigauge.core.yaml_file import MAX_BYTES
from mitigauge.measurement.experiments import ready_made
from mitigauge.measurement.experiments.ready_made import ReadyMadeHead, ReadyMadeSpec
from mitigauge.reporting.pages.forecast import forecast
from mitigauge.reporting.pages.forecast_schemas import SpecForecast

router = APIRouter(prefix="/api", tags=["experiments"])


@router.get("/specs")
def list_specs() -> list[ReadyMadeHead]:
    """The specs that come with the service, by name."""
    return ready_made.list_ready_made()


@router.get("/specs/{name}")
def show_spec(name: NameInPath) -> ReadyMadeSpec:
    """One of them with its text."""
    return ready_made.show_ready_made(name)


@router.post("/forecasts", dependencies=[Depends(needs(Right.SUBMIT))], openapi_extra=SPEC_BODY)
async def check_spec(
    request: Request,
    session: Database,
    name: Annotated[Word, Query(description="stands for the file in errors")] = "spec",
) -> SpecForecast:
    """What a spec (YAML) would plan, or what is wrong with it. Nothing is stored."""
    text = await text_of(request, "the spec", limit=MAX_BYTES)
    return await asyncio.to_thread(forecast, session, text, name=name)
