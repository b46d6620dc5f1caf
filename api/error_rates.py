"""How often we are wrong: for who may read, and for everybody where the operator wants it."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from fastapi import APIRouter, FastAPI, Query, Request, Response

from api.database import begin
from api.gate import Gate, Known
from api.problems import AS_JSON
from api.shared_reads import SharedReads
from mitigauge.access.roles import Caller, Means
from mitigauge.reporting.pages.error_rate_badge import badge_of
from mitigauge.reporting.pages.error_rates import ErrorRate, error_rates

router = APIRouter(prefix="/api/error-rates", tags=["regressions"])

# Whoever asks without a token gets what was read so lately: everybody may ask.
KEPT_S: Final = 60.0
# How long a cache between may show a badge.
MAX_AGE_S: Final = 300
RateName = Literal[
    "confirmed", "suspicions", "judged", "aa", "injections", "opposite", "predictions"
]


@dataclass(slots=True)
class KeptRates:
    """Rates as they were a moment ago, for who asks without a token."""

    rates: list[ErrorRate] = field(default_factory=list)
    until: float = 0.0


@router.get("")
async def show_error_rates(request: Request, caller: Known) -> list[ErrorRate]:
    """Of what was said in each way, the part that people, or later boots, found wrong.

    Answered without a token where MITIGAUGE_PUBLIC_ERROR_RATES allows it.
    """
    return await _rates(request, caller)


@router.get(
    "/badge.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}, **AS_JSON},
)
async def show_badge(
    request: Request,
    caller: Known,
    kind: Annotated[RateName, Query(description="which of them")] = "confirmed",
    emulated: Annotated[bool, Query(description="of emulated hosts; else of real ones")] = False,
) -> Response:
    """One of them as a small picture. Answered without a token as the rates themselves."""
    rates = [each for each in await _rates(request, caller) if each.name == kind]
    found = next((each for each in rates if each.emulated == emulated), None)
    # What was never said of emulated hosts has no row of its own.
    rate = found or rates[0].model_copy(update=_NOTHING | {"emulated": emulated})
    return _response(request, badge_of(rate))


_NOTHING: Final = {"of": 0, "wrong": 0, "percent": None, "low": None, "high": None}


def _response(request: Request, svg: str) -> Response:
    gate: Gate = request.app.state.gate
    etag = f'"{hashlib.blake2b(svg.encode(), digest_size=12).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if gate.public_error_rates:
        headers["Cache-Control"] = f"public, max-age={MAX_AGE_S}"
        # It is for pages elsewhere.
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(svg, media_type="image/svg+xml", headers=headers)


async def _rates(request: Request, caller: Caller) -> list[ErrorRate]:
    app: FastAPI = request.app
    shared: SharedReads = app.state.shared
    kept: KeptRates = app.state.kept_rates
    if caller.means is Means.NOTHING and time.monotonic() < kept.until:
        return kept.rates
    kept.rates = await shared.answer("error rates", lambda: _read(app))
    kept.until = time.monotonic() + KEPT_S
    return kept.rates


def _read(app: FastAPI) -> list[ErrorRate]:
    with begin(app) as session:
        return error_rates(session)
