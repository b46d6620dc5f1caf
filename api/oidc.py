"""Logging in by single sign-on: a browser goes to the provider, and comes back as somebody."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from html import escape
from typing import Annotated, Any, Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.routing import APIRoute

from api.addresses import DEFAULT_PORTS, Address, AllowedHosts, is_https, read_address
from api.database import begin
from api.gate import client_address, session_cookie
from api.oidc_begun import BegunLogIn, begin_log_in, unsealed
from api.oidc_provider import Provider
from api.problems import refusal
from api.wrong_keys import WrongKeys
from mitigauge.access import oidc_people
from mitigauge.access.oidc_claims import BEGIN_AGAIN, Claims, NoRole, identify
from mitigauge.access.oidc_people import LOG_IN_LASTS, SESSION_LASTS
from mitigauge.access.oidc_settings import SingleSignOn, single_sign_on
from mitigauge.access.service import Unauthenticated
from mitigauge.core.actor import Way, become, current_actor
from mitigauge.core.errors import Conflict, InvalidInput, MitigaugeError, NotFound
from mitigauge.core.hostile_text import quoted
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings

PREFIX: Final = "/api/session/oidc"
LONGEST_CODE: Final = 4000

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a request has come to, and the provider."""

    provider: Provider
    host: Address

    @property
    def sign_on(self) -> SingleSignOn:
        return self.provider.sign_on

    @property
    def cookie(self) -> str:
        """The name of a begun log-in's cookie."""
        return f"{session_cookie(self.host)}_oidc"


def install(app: FastAPI, settings: Settings, hosts: AllowedHosts) -> None:
    """Have people log in by the provider that *settings* name, if they name one.

    Raises :class:`InvalidInput` for half a configuration. The provider is not asked anything.
    """
    sign_on = single_sign_on(settings)
    app.state.oidc = None if sign_on is None else Provider(sign_on)
    if sign_on is None:
        return
    own = read_address(urlsplit(sign_on.origin).netloc)
    if own is None or own not in hosts:
        raise InvalidInput(
            f"MITIGAUGE_PUBLIC_URL is {quoted(sign_on.origin, 200)}, and the service is not known "
            "by that name",
            hint="Browsers come back from the provider to it: add it to MITIGAUGE_ALLOWED_HOSTS.",
        )


class _PageRoute(APIRoute):
    """A route whose refusals are a page where a browser shows them to a person."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's answer, or its refusal."""
        answer = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await answer(request)
            except MitigaugeError as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                return _as_page(refusal(error))

        return answered


# Pages that browsers go to, and no part of what programs ask.
router = APIRouter(prefix=PREFIX, include_in_schema=False, route_class=_PageRoute)


@router.get("")
async def begin_sign_on(
    request: Request,
    page: Annotated[str | None, Query(alias="next")] = None,
    moved: Annotated[str | None, Query()] = None,
) -> Response:
    """Send the browser to the provider; afterwards it comes to the page *next* of ours."""
    place = _place(request)
    begun = begin_log_in(page, time.time())
    if not _is_at(place.host, place.sign_on.origin):
        return _to_own_address(place, begun, moved)
    answer = _to(await place.provider.address(begun))
    answer.set_cookie(
        place.cookie,
        begun.sealed(),
        max_age=int(LOG_IN_LASTS.total_seconds()),
        path=PREFIX,
        httponly=True,
        # The provider's page sends the browser back: a strict one would stay behind.
        samesite="lax",
        secure=is_https(place.sign_on.origin),
    )
    return answer


@router.get("/callback")
async def end_sign_on(
    request: Request,
    state: Annotated[str, Query()] = "",
    code: Annotated[str, Query()] = "",
    error: Annotated[str, Query()] = "",
    error_description: Annotated[str, Query()] = "",
    iss: Annotated[str | None, Query()] = None,
) -> Response:
    """Open a session for whom the provider sends back, and show the page that was wanted."""
    place = _place(request)
    kept = unsealed(request.cookies.get(place.cookie, ""), time.time())
    wrong, address = _wrong(request, kept), client_address(request)
    if wrong.is_slowed(address):
        wrong.refuse(address)
    become(replace(current_actor(), way=Way.WEB))
    try:
        begun = _require_begun(kept, place, state, iss)
        await asyncio.to_thread(_use_up, request.app, begun)
        code = _proper_code(place, code, error, error_description)
        claims = await place.provider.claims(code, begun)
        secret = await asyncio.to_thread(_open, request.app, place.sign_on, claims)
    except Unauthenticated as refused:
        wrong.note(address)
        _note(place, refused)
        raise
    except MitigaugeError as refused:
        _note(place, refused)
        raise
    answer = _to(place.sign_on.origin + quote(begun.page, safe="/?&=%#:;,+@!$'()*~[]"))
    answer.set_cookie(
        session_cookie(place.host),
        secret,
        max_age=int(SESSION_LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=is_https(place.sign_on.origin),
    )
    answer.delete_cookie(place.cookie, path=PREFIX, httponly=True, samesite="lax")
    return answer


def _place(request: Request) -> _Place:
    provider: Provider | None = request.app.state.oidc
    if provider is None:
        raise NotFound(
            "single sign-on is not set up here",
            hint="Log in with a token; MITIGAUGE_OIDC_ISSUER and its like set single sign-on up.",
        )
    return _Place(provider, request.state.host)


def _wrong(request: Request, kept: BegunLogIn | None) -> WrongKeys:
    """Where a refusal is counted: a browser that began a log-in is not slowed by wrong tokens.

    Those who share its address, behind one proxy say, would keep it out.
    """
    state = request.app.state
    found: WrongKeys = state.wrong_keys if kept is None else state.wrong_log_ins
    return found


def _require_begun(
    begun: BegunLogIn | None, place: _Place, state: str, iss: str | None
) -> BegunLogIn:
    """The log-in that the browser's cookie keeps, if this is its end.

    Raises :class:`Unauthenticated`.
    """
    if begun is None:
        raise Unauthenticated(
            "this browser began no log-in within the last "
            f"{LOG_IN_LASTS.total_seconds() / 60:.0f} minutes",
            hint=f"{BEGIN_AGAIN} It must keep cookies meanwhile.",
        )
    if not hmac.compare_digest(state.encode(), begun.state.encode()):
        raise Unauthenticated(
            "the answer of the provider is not to the log-in that this browser began last",
            hint=BEGIN_AGAIN,
        )
    if iss is not None and iss != place.sign_on.issuer:
        raise Unauthenticated(
            f"the answer comes from another provider, {quoted(iss, 200)}", hint=BEGIN_AGAIN
        )
    return begun


def _use_up(app: FastAPI, begun: BegunLogIn) -> None:
    # Kept whatever comes of it: a code that failed is not tried twice.
    with begin(app) as session:
        oidc_people.use_up(session, begun.state)


def _proper_code(place: _Place, code: str, error: str, description: str) -> str:
    """The code that came. Raises :class:`Unauthenticated` where an error came instead."""
    if error:
        why = f"{quoted(error, 80)}{f', {quoted(description, 300)}' if description else ''}"
        raise Unauthenticated(
            f"{place.sign_on.issuer} let nobody in: {why}",
            hint=f"{BEGIN_AGAIN} If it goes on, whoever runs the provider knows why.",
        )
    if not code or len(code) > LONGEST_CODE or not code.isascii():
        raise Unauthenticated("the answer of the provider has no code", hint=BEGIN_AGAIN)
    return code


def _open(app: FastAPI, sign_on: SingleSignOn, claims: Claims) -> str:
    """The secret of a session. Raises :class:`NoRole`; then older sessions end, too."""
    try:
        identity = identify(claims, sign_on)
    except NoRole:
        with begin(app) as session:
            oidc_people.end_sessions_of(session, sign_on.issuer, claims["sub"])
        raise
    with begin(app) as session:
        secret, _ = oidc_people.open_session(session, identity)
    return secret


def _note(place: _Place, refused: MitigaugeError) -> None:
    log.warning("a log-in was refused", provider=place.sign_on.issuer, why=refused.message)


def _is_at(host: Address, origin: str) -> bool:
    parts = urlsplit(origin)
    default = DEFAULT_PORTS[parts.scheme]
    own = read_address(parts.netloc)
    asked = (host.name, host.port or default)
    return own is not None and asked == (own.name, own.port or default)


def _to_own_address(place: _Place, begun: BegunLogIn, moved: str | None) -> Response:
    """Begin at the address that the provider sends browsers back to: cookies are by name."""
    origin = place.sign_on.origin
    if moved is not None:
        raise Conflict(
            f"log-ins begin at {origin}, and this request came as one to {place.host.name}",
            hint="Let the proxy pass the Host header on as it came, or correct "
            "MITIGAUGE_PUBLIC_URL.",
        )
    return _to(f"{origin}{PREFIX}?moved=1&next={quote(begun.page, safe='')}")


def _as_page(refused: JSONResponse) -> Response:
    """The same refusal for people's eyes. What it quotes is a stranger's text: escaped."""
    said = {name: escape(text) for name, text in json.loads(bytes(refused.body)).items()}
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not logged in</title>'
        f"</head><body><main><h1>Not logged in</h1><p>{said['message']}</p><p>{said['hint']}</p>"
        '<p><a href="/">To the dashboard</a></p>'
        f"<p>The service’s log names this request {said['request_id']}.</p></main></body></html>"
    )
    kept = {
        name: value
        for name, value in refused.headers.items()
        if name in ("retry-after", "www-authenticate")
    }
    return HTMLResponse(page, refused.status_code, headers=kept)


def _to(address: str) -> Response:
    return RedirectResponse(address, status_code=303)
