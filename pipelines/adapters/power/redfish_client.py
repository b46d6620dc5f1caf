"""One conversation with a Redfish controller: logged in, bounded, trusting nothing it says.

The controller's network is no place to be trusting in: certificates are verified, no redirect is
followed and no address but the inventory's is spoken to, since each request carries a secret.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.fleet.power_values import RedfishPowerValues
from pipelines.adapters.power.password import read_password
from pipelines.adapters.power.protocol import PowerError

ANSWER_LIMIT_BYTES = 1 << 20
CONNECT_S = 10.0
READ_S = 30.0
# A controller that is busy says so, and when to ask again; both have an end.
BUSY_LIMIT_S = 30.0
BUSY_WAIT_S = 2.0
LONGEST_BUSY_WAIT_S = 10.0
LOGOUT_S = 5.0
BUSY = frozenset({429, 503})
ROOT = "/redfish/v1/"

log = get_logger(__name__)


class Refused(PowerError):
    """The controller understood and would not."""


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
            verify=self._trusted(),
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
        """The resource at *path*."""
        _, said = await self._send("GET", path, None)
        return _object(said, self.name, path)

    async def post(self, path: str, body: Mapping[str, Any]) -> None:
        """Send *body* to *path*; :class:`Refused` where the controller will not."""
        await self._send("POST", path, body)

    def path_of(self, address: object) -> str:
        """The path that *address* has at this controller; PowerError for another machine's."""
        text = str(address)
        if text.startswith("/") and not text.startswith("//"):
            return text
        parts = urlsplit(text)
        if f"{parts.scheme}://{parts.netloc}" != self._origin:
            raise PowerError(
                f"{self.name} sends us to {self._quoted(text)!r}, which is another machine.",
                hint="The password stays here: no address but the inventory's is spoken to.",
            )
        return parts.path

    def _quoted(self, text: str) -> str:
        """What it says, as an error may show it: without what it was told in confidence."""
        for secret in (self._password, self._http.headers.get("X-Auth-Token", "")):
            text = text.replace(secret, "…") if secret else text
        return " ".join(clean_text(text).split())[:200]

    def _trusted(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._values.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise PowerError(
                f"The file {self._values.ca_file} of the controller's authority cannot be used: "
                f"{error.strerror or error}.",
                hint="ca_file takes certificates in PEM form, readable for the worker's user.",
            ) from error

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
        self._session = urlsplit(headers.get("Location", "")).path

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[httpx2.Headers, bytes]:
        """Headers and body of the answer; a busy controller is asked again for a while."""
        deadline = time.monotonic() + BUSY_LIMIT_S
        while True:
            status, headers, said = await self._once(method, path, body)
            pause = _pause(headers)
            if status not in BUSY or time.monotonic() + pause > deadline:
                break
            await asyncio.sleep(pause)
        self._require_success(status, headers, said, f"{method} {path}")
        return headers, said

    async def _once(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[int, httpx2.Headers, bytes]:
        try:
            async with self._http.stream(method, self._origin + path, json=body) as answer:
                return answer.status_code, answer.headers, await self._read(answer)
        except httpx2.ConnectTimeout as error:
            raise self._unanswered("does not answer") from error
        except httpx2.TimeoutException as error:
            raise self._unanswered("takes connections and says nothing") from error
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

    def _unanswered(self, how: str) -> PowerError:
        return PowerError(
            f"{self.name} {how}.",
            hint="Is the address right, and the controller's network reachable from the worker?",
        )

    def _unreachable(self, error: Exception) -> PowerError:
        refusal = _certificate_fault(error)
        if refusal is not None:
            return PowerError(
                f"{self.name} shows a certificate that is not trusted: {refusal}.",
                hint="Name the authority that signed it in ca_file, and the controller in url as "
                "its certificate does. It is never left unverified.",
            )
        return PowerError(
            f"{self.name} cannot be reached: {clean_text(str(error))[:200] or repr(error)}.",
            hint="Is the address right, and the controller's network reachable from the worker?",
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
        if status in (401, 403):
            raise PowerError(
                f"{self.name} refuses the user {self._values.user!r} or its password.",
                hint="Correct user and password_file, and let the user operate the power.",
            )
        if status in BUSY:
            raise PowerError(
                f"{self.name} is busy: it answered {status} for {BUSY_LIMIT_S:g} s.",
                hint="It may be starting, or updating itself. Else restart the controller.",
            )
        why = self._quoted(_message(said)).rstrip(".")
        raise Refused(
            f"{self.name} answered {request} with {status}{f': {why}' if why else ''}.",
            hint="404: does url name a system that `…/redfish/v1/Systems` lists?"
            if status == 404
            else "See the controller's own log.",
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


def _message(said: bytes) -> str:
    """Why, in the controller's words, as Redfish puts them into an answer."""
    try:
        found = orjson.loads(said)
    except orjson.JSONDecodeError:
        return ""
    extended = _at(found, "error", "@Message.ExtendedInfo")
    first = extended[0] if isinstance(extended, list) and extended else None
    text = _at(first, "Message") or _at(found, "error", "message") or ""
    return str(text)


def _certificate_fault(error: BaseException | None) -> str | None:
    """Why a certificate was not accepted, from the innermost of an error's causes."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return clean_text(error.verify_message or str(error))[:200].rstrip(".")
        error = error.__cause__ or error.__context__
    return None
