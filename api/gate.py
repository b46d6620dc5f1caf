"""Who asks: by token, by a browser's session, or by a proxy that is trusted."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from sqlalchemy.orm import Session
from starlette.datastructures import Headers

from api.addresses import Address, same_origin
from api.bodies import UNSAFE
from api.database import begin
from api.shared_reads import SharedReads
from mitigauge.access import service
from mitigauge.access.groups import groups_in, role_of
from mitigauge.access.roles import Caller, Means, Right, Role, roles_with
from mitigauge.access.service import Unauthenticated
from mitigauge.core.actor import Way, become, current_actor
from mitigauge.core.errors import Forbidden, InvalidInput

SECRET_HEADER = "x-mitigauge-proxy-secret"
USER_HEADER = "x-mitigauge-user"
ROLE_HEADER = "x-mitigauge-role"
FORWARDED_HEADER = "x-forwarded-for"
SHORTEST_PROXY_SECRET = 32
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")
_HOW = (
    "Send Authorization: Bearer mgt_…; `mitigauge token create NAME --role viewer` makes a token. "
    "In a browser, open the link that `mitigauge serve` prints, or log in with a token."
)


@dataclass(frozen=True, slots=True)
class Gate:
    """By what somebody is let in, beside tokens."""

    anonymous_read: bool = False
    proxy_secret: str = ""
    """Empty: no proxy's word counts."""
    proxy_roles: Mapping[str, Role] = field(default_factory=dict)
    """By group; empty: the proxy names the role itself."""
    groups_header: str = ""
    """Where the proxy names a user's groups."""
    login_key: str = ""
    """Of the link that makes a browser the operator's; empty: there is none."""

    def opens(self, key: str) -> bool:
        """Whether *key* is the link's, in constant time."""
        return bool(self.login_key) and hmac.compare_digest(key.encode(), self.login_key.encode())

    def is_proxy(self, headers: Headers) -> bool:
        """Whether the trusted proxy sent these, by its secret, in constant time."""
        given = headers.getlist(SECRET_HEADER)
        return bool(self.proxy_secret and len(given) == 1) and hmac.compare_digest(
            given[0].encode(), self.proxy_secret.encode()
        )

    def proxys_user(self, headers: Headers) -> Caller | None:
        """Whom a trusted proxy names; None if it names nobody, or none is trusted.

        Raises :class:`Unauthenticated` for a wrong secret or a name or role that cannot be, and
        :class:`Forbidden` for somebody whose groups give no role.
        """
        if not self.proxy_secret or SECRET_HEADER not in headers:
            return None
        if not self.is_proxy(headers):
            raise Unauthenticated(
                "the proxy's secret is not the one in MITIGAUGE_PROXY_SECRET_FILE",
                hint="Configure the proxy with the content of that file.",
            )
        user = _only(headers, USER_HEADER)
        if user is None:
            return None
        role = self._role_of(user, headers) if self.proxy_roles else _only(headers, ROLE_HEADER)
        role = role or Role.VIEWER
        if not _USER.fullmatch(user) or role not in list(Role):
            raise Unauthenticated(
                f"the proxy names the user {user[:80]!r} with the role {role[:80]!r}",
                hint=f"Users are letters, digits and . _ @ + -; roles: {', '.join(Role)}.",
            )
        # Apart from tokens' names: nobody becomes another's namesake by the proxy.
        return Caller(f"proxy:{user}", Role(role), Means.PROXY)

    def _role_of(self, user: str, headers: Headers) -> Role:
        """By groups alone: a proxy that names groups may let a client's own role header through."""
        groups = groups_in(headers.getlist(self.groups_header))
        role = role_of(groups, self.proxy_roles)
        if role is None:
            raise Forbidden(
                f"{user[:80]!r} is in no group that may use this service; the proxy names "
                f"{len(groups)} in the header {self.groups_header}",
                hint="Ask whoever runs the service: MITIGAUGE_PROXY_ROLES says which groups may, "
                "and MITIGAUGE_PROXY_GROUPS_HEADER where the proxy names them.",
            )
        return role


def read_proxy_secret(path: str) -> str:
    """The proxy's secret in the file at *path*; empty for no path.

    Raises :class:`InvalidInput` for a file that cannot be read or a secret that is short.
    """
    if not path:
        return ""
    try:
        secret = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"MITIGAUGE_PROXY_SECRET_FILE, {path}, cannot be read: {error}",
            hint="Give a text file that the service's user may read.",
        ) from error
    if len(secret) < SHORTEST_PROXY_SECRET or not secret.isascii():
        raise InvalidInput(
            f"the proxy's secret in {path} has {len(secret)} characters",
            hint=f"At least {SHORTEST_PROXY_SECRET} of ASCII: openssl rand -hex 32 > {path}",
        )
    return secret


NOBODY = Caller("", Role.VIEWER, Means.NOTHING)


@dataclass(frozen=True, slots=True)
class _Ask:
    """A look-up of who has a secret."""

    look_up: Callable[[Session, str], Caller]
    secret: str = field(repr=False)

    def answer(self, app: FastAPI) -> Caller:
        """Whose it is. Raises :class:`Unauthenticated`."""
        with begin(app) as session:
            return self.look_up(session, self.secret)


def client_ip(request: Request) -> str:
    """The address of the other side, or of whom the trusted proxy names.

    A proxy adds whom it saw itself behind whatever was claimed before.
    """
    gate: Gate = request.app.state.gate
    if gate.is_proxy(request.headers):
        told = ",".join(request.headers.getlist(FORWARDED_HEADER)).rpartition(",")[2].strip()
        try:
            return str(ip_address(told))
        except ValueError:
            pass  # it says nothing of use
    return request.client.host if request.client else ""


def session_cookie(host: Address) -> str:
    """The cookie's name. Ports of one host share cookies, so each service has its own."""
    return f"mitigauge_session_{host.port}" if host.port else "mitigauge_session"


def check_same_origin(request: Request) -> None:
    """Raise :class:`Forbidden` unless a page of this very service sent the request."""
    headers = request.headers
    own = same_origin(
        request.state.host, headers.getlist("origin"), headers.getlist("sec-fetch-site")
    )
    if not own:
        raise Forbidden(
            f"the request does not come from a page of this service, but from "
            f"{headers.get('origin', 'nowhere named')[:200]!r}",
            hint="Use a token where no browser asks: Authorization: Bearer mgt_….",
        )


def _known(request: Request) -> _Ask | Caller:
    """Who asks, or which look-up tells it. Raises :class:`Unauthenticated` for what is none."""
    gate: Gate = request.app.state.gate
    authorization = _only(request.headers, "authorization")
    if authorization is not None:
        # A token decides alone: what else the browser sends along does not count.
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("the Authorization header is not Bearer", hint=_HOW)
        return _Ask(service.by_token, secret.strip())
    caller = gate.proxys_user(request.headers)
    if caller is not None:
        return caller
    secret = request.cookies.get(session_cookie(request.state.host)) or ""
    return _Ask(service.by_session, secret) if secret else NOBODY


def _reads_unnamed(request: Request) -> bool:
    """Whether nobody needs a token to read."""
    gate: Gate = request.app.state.gate
    return gate.anonymous_read


def _admitted(request: Request, caller: Caller) -> Caller:
    """*caller*, if such may ask this. A browser says where from it asks."""
    if caller.means is Means.NOTHING and not _reads_unnamed(request):
        raise Unauthenticated("the request does not say who asks", hint=_HOW)
    by_browser = caller.means in (Means.SESSION, Means.PROXY)
    if by_browser and request.method in UNSAFE:
        check_same_origin(request)
    return caller


def _let_in(request: Request, caller: Caller) -> Caller:
    """*caller*, if such may ask this; from now on it is who acts."""
    request.state.caller = _admitted(request, caller)
    way = Way.API if caller.means in (Means.TOKEN, Means.NOTHING) else Way.WEB
    become(replace(current_actor(), name=caller.subject, way=way))
    return caller


def _instead(request: Request, ask: _Ask, error: Unauthenticated) -> Caller:
    """Who asks where a look-up found nobody: a browser whose session ended may read as anybody."""
    may_read = _reads_unnamed(request) and request.method not in UNSAFE
    if ask.look_up is service.by_session and may_read:
        return NOBODY
    raise error


async def identified(
    request: Request,
    # They only describe in the OpenAPI document what is read below.
    _bearer: Annotated[object, Security(HTTPBearer(auto_error=False))],
    _cookie: Annotated[object, Security(APIKeyCookie(name="mitigauge_session", auto_error=False))],
) -> Caller:
    """Who asks. Raises :class:`Unauthenticated` for nobody known."""
    known = _known(request)
    if isinstance(known, Caller):
        return _let_in(request, known)
    shared: SharedReads = request.app.state.shared
    try:
        caller = await shared.answer(known, lambda: known.answer(request.app))
    except Unauthenticated as error:
        caller = _instead(request, known, error)
    return _let_in(request, caller)


Known = Annotated[Caller, Depends(identified)]


def needs(right: Right) -> Callable[[Caller], Awaitable[None]]:
    """A dependency that refuses callers whose role lacks *right*."""

    async def check(caller: Known) -> None:
        if caller.may(right):
            return
        if caller.means is Means.NOTHING:
            raise Unauthenticated("without a token one may only read", hint=_HOW)
        raise Forbidden(
            f"{caller.subject} is {caller.role}, which may not {right}",
            hint=f"Roles that may: {', '.join(roles_with(right))}.",
        )

    return check


def _only(headers: Headers, name: str) -> str | None:
    values = headers.getlist(name)
    if len(values) > 1:
        raise Unauthenticated(f"the header {name} is there {len(values)} times", hint="Send one.")
    return values[0] if values else None
