"""Prices of processors, and how often what they predict held."""

from __future__ import annotations

from fastapi import APIRouter

from api.database import Database
from api.parameters import Id
from mitigauge.reporting.pages import price_checks
from mitigauge.reporting.pages.price_schemas import CheckRows, Prices

router = APIRouter(prefix="/api/prices", tags=["prices"])


@router.get("")
def show_prices(session: Database) -> Prices:
    """Prices by processor, and the newest 200 checks of what they predict."""
    return price_checks.prices(session)


@router.get("/checks/{check_id}")
def show_price_check(check_id: Id, session: Database) -> CheckRows:
    """One check: what was measured and what was predicted of each arm."""
    return price_checks.check_rows(session, check_id)
