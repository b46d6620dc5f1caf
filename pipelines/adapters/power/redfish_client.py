"""One conversation with a Redfish controller: logged in, bounded, trusting nothing it says.

The controller's network is no place to be trusting in: certificates are verified, and no origin but
the inventory's is spoken to, since each request carries a secret. A redirect is followed within it.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import orjson

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.fleet.power_values import RedfishPowerValues
from pipelines.adapters.power import protocol
from pipelines.adapters.power.password import read_password
from pipelines.adapters.power.protocol import PowerError
from pipelines.adapters.power.redfish_tls import context_of
from pipelines.adapters.power.redfish_words import is_not_ready, way_out, words_of

ANSWER_LIMIT_BYTES = 1 << 20
CONNECT_S = 10.0
READ_S = 30.0
# A controller that is busy says so, and when to ask again; both have an end.
BUSY_LIMIT_S = 30.0
BUSY_WAIT_S = 2.0
LONGEST_BUSY_WAIT_S = 10.0
# One whose host is starting refuses for up to two minutes with the words "not ready".
NOT_READY_LIMIT_S = 120.0
LOGOUT_S = 5.0
BUSY = frozenset({429, 503})
# What a controller answers when something inside it fails; for seconds after a reset, to anything.
INNER_FAULTS = frozenset({500, 502, 504})
REDIRECTS_LIMIT = 3
# 301 and 302 may turn what is sent into a question.
_MOVED = frozenset({307, 308})
_MOVED_FOR_GET = _MOVED | {301, 302}
WORDS_LIMIT = 300
_PORTS = {"http": 80, "https": 443}
ROOT = "/redfish/v1/"

log = get_logger(__name__)


class Refused(PowerError):
    """The controller understood and would not."""


class Unclear(PowerError):
    """No answer came to what was sent: it may have been done, and may be asked in a moment."""


class Faulted(Unclear):
    """Something inside the controller failed, it answered: it may have been done all the same."""


class RedfishClient:
    """Requests to one controller, between a login and its end. All raise PowerError."""

    def __init__(self, values: RedfishPowerValues) -> None:
        self._values = values
        parts = urlsplit(values.url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.name = f"The Redfish controller {self._origin}"
        self._session = ""
        self._password = ""
        self._http = httpx2.AsyncClient(
            verify=context_of(values),
            timeout=httpx2.Timeout(READ_S, connect=CONNECT_S),
            follow_redirects=False,
            # No proxy and no .netrc of the worker's environment has a part in this.
            trust_env=False,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )

    async def __aenter__(self) -> RedfishClient:
        try:
            self._password = read_password(self._values.password_file)
            if self._values.login == "basic":
                self._http.auth = httpx2.BasicAuth(self._values.user, self._password)
            else:
                await self._log_in()
        except BaseException:
            await self._http.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._session:
                await asyncio.wait_for(self._send("DELETE", self._session, None), LOGOUT_S)
        except (PowerError, TimeoutError) as failure:
            # It ends by itself later; what was done stays done.
            log.warning("session not ended", controller=self.name, reason=str(failure))
        finally:
            await self._http.aclose()

    async def get(self, path: str) -> Mapping[str, Any]:
        """The resource at *path*; what may pass in seconds is waited for."""
        deadline = time.monotonic() + protocol.NOT_YET_S
        while True:
            try:
                _, said = await self._send("GET", path, None)
                return _object(said, self.name, self._quoted(path))
            except Unclear:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(protocol.ASK_EVERY_S)

    async def post(self, path: str, body: Mapping[str, Any]) -> None:
        """Send *body* to *path*, once unless the controller says that it is busy or not ready.

        :class:`Refused` where it will not, :class:`Unclear` where it may have done it.
        """
        await self._send("POST", path, body)

    def path_of(self, address: object) -> str:
        """The path that *address* has at this controller; PowerError for another machine's."""
        text = str(address)
        if text.startswith("/") and not text.startswith("//"):
            return text
        if _origin_of(text) != _origin_of(self._origin):
            raise PowerError(
                f"{self.name} sends us to {self._quoted(text)!r}, which is another machine.",
                hint="The password stays here: no address but the inventory's is spoken to.",
            )
        parts = urlsplit(text)
        return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"

    def _quoted(self, text: str) -> str:
        """What it says, as an error may show it: without what it was told in confidence."""
        pair = base64.b64encode(f"{self._values.user}:{self._password}".encode()).decode()
        for secret in (self._password, self._http.headers.get("X-Auth-Token", ""), pair):
            text = text.replace(secret, "…") if secret else text
        return " ".join(clean_text(text).split())[:WORDS_LIMIT]

    async def _log_in(self) -> None:
        root = await self.get(ROOT)
        link = _at(root, "Links", "Sessions", "@odata.id")
        path = self.path_of(link or f"{ROOT}SessionService/Sessions")
        headers, _ = await self._send(
            "POST", path, {"UserName": self._values.user, "Password": self._password}
        )
        token = headers.get("X-Auth-Token")
        if not token:
            raise PowerError(
                f"{self.name} opened a session without a token.",
                hint="Try login: basic in mitigauge_power.",
            )
        self._http.headers["X-Auth-Token"] = token
        # Some name themselves here as they know themselves, not as we do: the path is enough.
        self._session = urlsplit(_place_of(self._origin + path, headers) or "").path

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[httpx2.Headers, bytes]:
        """Headers and body of the answer; a busy controller is asked again for a while."""
        began = time.monotonic()
        while True:
            status, headers, said = await self._followed(method, path, body)
            pause = _pause(headers)
            patience_s = _patience(status, said)
            if time.monotonic() + pause > began + patience_s:
                break
            await asyncio.sleep(pause)
        self._require_success(status, headers, said, self._quoted(f"{method} {path}"))
        return headers, said

    async def _followed(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[int, httpx2.Headers, bytes]:
        """The answer, some redirects later; one to another origin is an answer like others."""
        moved = _MOVED_FOR_GET if method == "GET" else _MOVED
        for _ in range(REDIRECTS_LIMIT):
            status, headers, said = await self._once(method, path, body)
            place = _place_of(self._origin + path, headers) if status in moved else None
            if place is None or _origin_of(place) != _origin_of(self._origin):
                return status, headers, said
            path = self.path_of(place)
        return await self._once(method, path, body)

    async def _once(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[int, httpx2.Headers, bytes]:
        # What follows the origin must not become a part of it: https://bmc + .example.net/
        if not path.startswith("/"):
            raise PowerError(f"{self.name} names {self._quoted(path)!r}, which is no path.")
        try:
            async with self._http.stream(method, self._origin + path, json=body) as answer:
                return answer.status_code, answer.headers, await self._read(answer)
        except httpx2.ConnectTimeout as error:
            raise self._unanswered("does not answer") from error
        except httpx2.TimeoutException as error:
            raise self._unanswered("takes connections and says nothing", Unclear) from error
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError) as error:
            raise self._unreachable(error, "broke off its answer", Unclear) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise self._unreachable(error) from error

    async def _read(self, answer: httpx2.Response) -> bytes:
        said = bytearray()
        async for piece in answer.aiter_raw():
            said += piece
            if len(said) > ANSWER_LIMIT_BYTES:
                raise PowerError(
                    f"{self.name} answered with more than {ANSWER_LIMIT_BYTES} bytes.",
                    hint="No resource of Redfish is that large: is it a controller?",
                )
        return bytes(said)

    def _unanswered(self, how: str, kind: type[PowerError] = PowerError) -> PowerError:
        return kind(
            f"{self.name} {how}.",
            hint="Is the address right, and the controller's network reachable from the worker?",
        )

    def _unreachable(
        self,
        error: Exception,
        how: str = "cannot be reached",
        kind: type[PowerError] = PowerError,
    ) -> PowerError:
        fault = _tls_fault(error)
        if isinstance(fault, ssl.SSLCertVerificationError):
            why = clean_text(fault.verify_message or str(fault))[:200].rstrip(".")
            return PowerError(
                f"{self.name} shows a certificate that is not trusted: {why}.",
                hint="Name the authority that signed it in ca_file, and the controller in url as "
                f"its certificate does; or pin it by certificate_sha256, {self._fingerprint()}. "
                "It is never left unverified.",
            )
        if fault is not None and kind is PowerError and self._values.certificate_sha256 is None:
            return PowerError(
                f"{self.name} agrees on no TLS that is safe: {clean_text(str(fault))[:200]}.",
                hint="Where it knows none but old TLS, pin its certificate by certificate_sha256, "
                f"{self._fingerprint()}: old TLS is spoken to that one.",
            )
        why = clean_text(str(error))[:200].rstrip(".") or repr(error)
        return self._unanswered(f"{how}: {why}", kind)

    def _fingerprint(self) -> str:
        parts = urlsplit(self._origin)
        where = f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}"
        return (
            f"which `openssl s_client -connect {where} </dev/null | openssl x509 -noout "
            "-fingerprint -sha256` shows, run where nobody stands between"
        )

    def _require_success(
        self, status: int, headers: httpx2.Headers, said: bytes, request: str
    ) -> None:
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            where = self._quoted(headers.get("Location", "elsewhere"))
            raise PowerError(
                f"{self.name} redirects {request} to {where!r}, which is not followed.",
                hint="Write the address that it really serves into url: a password is sent there.",
            )
        words = self._quoted(words_of(said)).rstrip(".")
        why = f": {words}" if words else ""
        if status in (401, 403):
            who = f"the user {self._values.user!r}"
            known = way_out(words)
            raise PowerError(
                f"{self.name} refuses {who}{'' if known else ' or its password'}{why}.",
                hint=known or "Correct user and password_file, and let the user operate the power.",
            )
        if status in BUSY:
            raise PowerError(
                f"{self.name} is busy: it answered {status} for {BUSY_LIMIT_S:g} s{why}.",
                hint=way_out(words)
                or "It may be starting, or updating itself. Else restart the controller.",
            )
        kind = Faulted if status in INNER_FAULTS else Refused
        raise kind(
            f"{self.name} answered {request} with {status}{why}.",
            hint=way_out(words)
            or (
                "404: does url name a system that `…/redfish/v1/Systems` lists?"
                if status == 404
                else "See the controller's own log."
            ),
        )


def _object(said: bytes, name: str, path: str) -> Mapping[str, Any]:
    """The JSON object that an answer holds; PowerError where it holds none."""
    try:
        found = orjson.loads(said)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise PowerError(
            f"{name} answered {path} with something that is no JSON object.",
            hint="Is it a controller, and does it speak Redfish?",
        )
    return found


def _at(found: object, *keys: str) -> Any:
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _pause(headers: httpx2.Headers) -> float:
    """Seconds until a busy controller wants to be asked again, within our own limits."""
    said = headers.get("Retry-After", "")
    wanted = float(said) if said.isascii() and said.isdigit() else BUSY_WAIT_S
    return min(max(wanted, 0.5), LONGEST_BUSY_WAIT_S)


def _patience(status: int, said: bytes) -> float:
    """Seconds for which such an answer is not the last word."""
    if status >= 400 and is_not_ready(words_of(said)):
        return NOT_READY_LIMIT_S
    return BUSY_LIMIT_S if status in BUSY else 0.0


def _place_of(asked: str, headers: httpx2.Headers) -> str | None:
    """Where a redirect leads; None where it does not say."""
    try:
        return urljoin(asked, headers["Location"])
    except (KeyError, ValueError):
        return None


def _origin_of(address: str) -> tuple[str, str, int | None] | None:
    """Scheme, machine and port; None for an address that has none of its own, or says who asks."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname, port


def _tls_fault(error: BaseException | None) -> ssl.SSLError | None:
    """Why no encrypted line came about, from the innermost of an error's causes."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None
