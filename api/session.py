"""Browser sessions: logging in, who one is, logging out."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.addresses import is_https
from api.bodies import text_of
from api.database import begin
from api.gate import (
    Gate,
    Known,
    check_same_origin,
    needs,
    session_cookie,
)
from mitigauge.access import service
from mitigauge.access.roles import RIGHTS, Caller, Means, Right, Role
from mitigauge.access.service import SESSION_LASTS, Unauthenticated
from mitigauge.core.actor import Way, become, current_actor
from mitigauge.core.errors import Conflict, InvalidInput

router = APIRouter(prefix="/api/session", tags=["session"])
BODY_LIMIT_BYTES = 4096


class SessionView(BaseModel):
    """Who asks, and what that allows."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(description="a token's name, proxy: and a user, operator; empty: nobody")
    role: Role
    means: Means = Field(description="by what one is known")
    rights: list[Right]


class LogIn(BaseModel):
    """A token, or the key of the link that `mitigauge serve` prints."""

    model_config = ConfigDict(extra="forbid")

    token: str | None = Field(None, max_length=200)
    key: str | None = Field(None, max_length=200)


LOG_IN_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "token": {"type": "string", "maxLength": 200},
                        "key": {"type": "string", "maxLength": 200},
                    },
                    "minProperties": 1,
                    "maxProperties": 1,
                }
            }
        },
    }
}


@router.get("", dependencies=[Depends(needs(Right.READ))])
def show_session(caller: Known) -> SessionView:
    """Who one is."""
    return _view(caller)


@router.post("", status_code=201, openapi_extra=LOG_IN_BODY)
async def log_in(request: Request, response: Response) -> SessionView:
    """Begin a browser session; only a page of this service may ask for one."""
    check_same_origin(request)
    become(replace(current_actor(), way=Way.WEB))
    asked = _read(await text_of(request, "the login", limit=BODY_LIMIT_BYTES))
    secret, caller = await asyncio.to_thread(_open, request, asked)
    response.set_cookie(
        session_cookie(request.state.host),
        secret,
        max_age=int(SESSION_LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=is_https(request.headers.get("origin", "")),
    )
    return _view(caller)


@router.delete("", status_code=204, dependencies=[Depends(needs(Right.READ))])
def log_out(request: Request, caller: Known) -> Response:
    """End the browser's session."""
    if caller.session_id is None:
        raise Conflict(
            "there is no browser session to end",
            hint="Log out of the proxy that names you."
            if caller.means is Means.PROXY
            else "`mitigauge token revoke` ends a token.",
        )
    with begin(request.app) as session:
        service.end_session(session, caller.session_id)
    response = Response(status_code=204)
    response.delete_cookie(session_cookie(request.state.host), httponly=True, samesite="strict")
    return response


def _read(text: str) -> LogIn:
    try:
        asked = LogIn.model_validate_json(text)
    except ValidationError as error:
        # Not what was sent: that may be a token with a typing error.
        faults = {".".join(map(str, fault["loc"]))[:40] for fault in error.errors()[:5]}
        raise InvalidInput(
            f"the login cannot be read: {', '.join(sorted(faults)) or 'body'}",
            hint='Send {"token": "mgt_…"}.',
        ) from None
    if (asked.token is None) == (asked.key is None):
        raise InvalidInput("the login has no token, or a key as well", hint="Send one of them.")
    return asked


def _open(request: Request, asked: LogIn) -> tuple[str, Caller]:
    gate: Gate = request.app.state.gate
    if asked.key is not None and not gate.opens(asked.key):
        raise Unauthenticated(
            "this link is not valid (any more)"
            if gate.login_key
            else "this service lets nobody in by a link",
            hint="Each start of `mitigauge serve` on loopback prints a new one."
            if gate.login_key
            else "Log in with a token: `mitigauge token create NAME --role ROLE` makes one.",
        )
    with begin(request.app) as session:
        if asked.token is not None:
            return service.open_session_by_token(session, asked.token.strip())
        return service.open_operators_session(session)


def _view(caller: Caller) -> SessionView:
    return SessionView(
        subject=caller.subject,
        role=caller.role,
        means=caller.means,
        rights=sorted(RIGHTS[caller.role]),
    )
