"""Prices of processors, and modes ranked by them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from api.downloads import CSV, named_file
from api.parameters import LONGEST, PLAIN
from api.problems import AS_JSON
from mitigauge.core.documents.csv_text import as_csv
from mitigauge.reporting.pages import price_page
from mitigauge.reporting.pages.price_processors import processors_like
from mitigauge.reporting.pages.price_schemas import Prices
from mitigauge.reporting.pages.price_tables import PredictedTable, predicted_tables
from mitigauge.reporting.tables.downloads import PRICE_COLUMNS, price_rows

router = APIRouter(prefix="/api/prices", tags=["prices"])
Model = Annotated[
    str,
    Query(
        max_length=LONGEST,
        pattern=PLAIN,
        description="only processors with this in name, title, model or microarchitecture",
    ),
]


@router.get("")
def show_prices(model: Model = "") -> Prices:
    """Prices by processor, and modes ranked by them."""
    return price_page.prices(model)


@router.get(
    ".csv",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {}}}, **AS_JSON},
)
def prices_as_csv(model: Model = "") -> StreamingResponse:
    """Every price of every processor as a row."""
    return StreamingResponse(
        as_csv(PRICE_COLUMNS, price_rows(processors_like(model))),
        media_type=CSV,
        headers=named_file("prices.csv"),
    )


@router.get("/tables")
def show_predicted_tables() -> list[PredictedTable]:
    """Published tables with what prices predict of their cells, and how often both agree."""
    return list(predicted_tables())
