"""How often we are wrong, for who may read."""

from __future__ import annotations

from fastapi import APIRouter

from api.database import Database
from mitigauge.reporting.pages.error_rates import ErrorRate, error_rates

router = APIRouter(prefix="/api/error-rates", tags=["regressions"])


@router.get("")
def show_error_rates(session: Database) -> list[ErrorRate]:
    """Of what was said in each way, the part that people, or later boots, found wrong."""
    return error_rates(session)
