"""An OpenID provider over HTTP: its description, its keys, and what it says of who logged in.

Whatever it answers is bounded in bytes and time, and no redirect is followed.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote_plus

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.auth import ClientAuth
from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet

from api.oidc_begun import BegunLogIn
from mitigauge.access.oidc_claims import BEGIN_AGAIN, check_claims, untrusted
from mitigauge.access.oidc_settings import SingleSignOn, is_safe
from mitigauge.access.service import Unauthenticated
from mitigauge.core.errors import NotReady
from mitigauge.core.hostile_text import quoted

# For all that one step of a log-in asks the provider.
WHOLE_S: Final = 10.0
ANSWER_LIMIT: Final = 1 << 20
# How long the description and the keys count; keys are read again when one is not known.
KEPT_S: Final = 300.0
MOST_KEYS: Final = 100
# Signatures by a key that the provider alone has. Anybody could make one by "none", and by
# HS256 whoever takes the public key, or our secret, for the shared one.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
SCOPES: Final = ("openid", "profile", "email")
BASIC: Final = "client_secret_basic"
T = TypeVar("T")


class ProviderAway(NotReady):
    """The provider does not answer, or not as one that can be used."""

    def __init__(self, issuer: str, why: str, hint: str = "") -> None:
        super().__init__(
            f"single sign-on by {issuer} does not work now: {why}",
            hint=hint or "Try again in a moment, or log in with a token meanwhile.",
        )


class _AnswerTooLarge(httpx2.TransportError):
    """An answer has more bytes than are read."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the provider says of itself."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    """Empty: there is none."""
    token_auth: str
    """How the client's secret is sent."""
    scopes: tuple[str, ...]
    """What is asked for."""


@dataclass(slots=True)
class Kept(Generic[T]):
    """Something of the provider's that is read again after a while. One request reads at a time."""

    value: T | None = None
    read_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(
        self, read: Callable[[], Awaitable[T]], now: Callable[[], float], *, newer_than: float
    ) -> T:
        """The value, read again where it is not of a later time than *newer_than*."""
        async with self.lock:
            if self.value is None or self.read_at <= newer_than:
                began = now()
                self.value = await read()
                self.read_at = began
            return self.value


class Provider:
    """The configured provider. Nothing is asked of it before somebody logs in."""

    def __init__(
        self,
        sign_on: SingleSignOn,
        *,
        whole_s: float = WHOLE_S,
        now: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.sign_on = sign_on
        self._whole_s = whole_s
        self._now = now
        self._wall_clock = wall_clock
        self._tls: ssl.SSLContext | None = None
        self._metadata: Kept[Metadata] = Kept()
        self._keys: Kept[KeySet] = Kept()

    async def address(self, begun: BegunLogIn) -> str:
        """Where a browser logs in. Raises :class:`ProviderAway`."""
        async with self._conversation() as client:
            metadata = await self._described(client)
            url, _ = client.create_authorization_url(
                metadata.authorization_endpoint,
                state=begun.state,
                nonce=begun.nonce,
                code_verifier=begun.verifier,
                scope=" ".join(metadata.scopes),
            )
            return str(url)

    async def claims(self, code: str, begun: BegunLogIn) -> dict[str, Any]:
        """What the provider says of who comes back with *code* from that log-in.

        Raises :class:`Unauthenticated` for a code or an ID token that does not count, and
        :class:`ProviderAway`.
        """
        async with self._conversation() as client:
            metadata = await self._described(client)
            tokens = await self._exchanged(client, metadata, code, begun)
            id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
            if not isinstance(id_token, str) or not isinstance(access_token, str):
                raise untrusted(self.sign_on, "the provider sent none")
            token = await self._verified(client, metadata, id_token)
            check_claims(
                token.claims,
                token.header,
                self.sign_on,
                nonce=begun.nonce,
                access_token=access_token,
                now=int(self._wall_clock()),
            )
            wanted = {self.sign_on.groups_claim, "preferred_username"}
            if wanted <= token.claims.keys() or not metadata.userinfo_endpoint:
                return token.claims
            return await self._completed(client, metadata, token.claims, access_token)

    @asynccontextmanager
    async def _conversation(self) -> AsyncIterator[AsyncOAuth2Client]:
        """A client of the provider; what fails there is :class:`ProviderAway`."""
        issuer = self.sign_on.issuer
        if self._tls is None:
            # The machine's authorities are read from a disk: not on everybody's time.
            self._tls = await asyncio.to_thread(httpx2.create_ssl_context)
        try:
            async with (
                asyncio.timeout(self._whole_s),
                AsyncOAuth2Client(
                    client_id=self.sign_on.client_id,
                    client_secret=self.sign_on.client_secret,
                    redirect_uri=self.sign_on.redirect_uri,
                    code_challenge_method="S256",
                    verify=self._tls,
                    timeout=self._whole_s,
                    follow_redirects=False,
                    headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                    event_hooks={"response": [_bound]},
                ) as client,
            ):
                client.register_client_auth_method((BASIC, _basic))
                yield client
        except TimeoutError:
            why = f"it did not answer within {self._whole_s:.0f} s"
            raise ProviderAway(issuer, why) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise ProviderAway(issuer, _words(error)) from error

    async def _described(self, client: AsyncOAuth2Client) -> Metadata:
        async def read() -> Metadata:
            base = self.sign_on.issuer.removesuffix("/")
            document = await self._document(client, f"{base}/.well-known/openid-configuration")
            return self._read_metadata(document)

        metadata = await self._metadata.get(read, self._now, newer_than=self._now() - KEPT_S)
        client.token_endpoint_auth_method = metadata.token_auth
        return metadata

    def _read_metadata(self, document: dict[str, Any]) -> Metadata:
        issuer = self.sign_on.issuer
        if document.get("issuer") != issuer:
            raise ProviderAway(
                issuer,
                f"its description is of the issuer {quoted(document.get('issuer'), 200)}",
                "MITIGAUGE_OIDC_ISSUER must be written as the provider writes it, with or "
                "without a slash at its end.",
            )
        found = {}
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
            url = document.get(name, "" if name == "userinfo_endpoint" else None)
            if not isinstance(url, str) or (url and not is_safe(url, query=True)):
                raise ProviderAway(issuer, f"its {name} is {quoted(url, 200)}, no https:// address")
            found[name] = url
        methods = _texts(document.get("token_endpoint_auth_methods_supported"))
        supported = _texts(document.get("scopes_supported"))
        # Some providers name groups only to whom they were asked for by.
        asked = [*SCOPES, "groups"] if "groups" in supported else [*SCOPES]
        return Metadata(
            **found,
            token_auth=(
                "client_secret_post"
                if "client_secret_post" in methods and BASIC not in methods
                else BASIC
            ),
            scopes=tuple(
                scope for scope in asked if scope == "openid" or not supported or scope in supported
            ),
        )

    async def _document(
        self, client: AsyncOAuth2Client, url: str, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """The JSON object at *url*."""
        answer = await client.request("GET", url, headers=headers, withhold_token=True)
        if answer.status_code != 200:
            raise ProviderAway(
                self.sign_on.issuer, f"it answered {answer.status_code} at {quoted(url, 200)}"
            )
        try:
            document = answer.json()
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise ProviderAway(
                self.sign_on.issuer, f"what it sends at {quoted(url, 200)} is no JSON object"
            )
        return document

    async def _exchanged(
        self, client: AsyncOAuth2Client, metadata: Metadata, code: str, begun: BegunLogIn
    ) -> dict[str, Any]:
        """The tokens that the provider gives for a code."""
        try:
            tokens: dict[str, Any] = await client.fetch_token(
                metadata.token_endpoint,
                grant_type="authorization_code",
                code=code,
                code_verifier=begun.verifier,
            )
        except OAuthError as error:
            if error.error in ("invalid_client", "unauthorized_client"):
                raise ProviderAway(
                    self.sign_on.issuer,
                    f"it does not take this service for its client: {quoted(error.error, 80)}",
                    "Whoever runs the service checks MITIGAUGE_OIDC_CLIENT_ID and "
                    "MITIGAUGE_OIDC_CLIENT_SECRET.",
                ) from None
            raise Unauthenticated(
                f"{self.sign_on.issuer} refuses this log-in's code: {quoted(error.error, 80)}",
                hint=BEGIN_AGAIN,
            ) from None
        except (ValueError, RecursionError, TypeError, KeyError):
            raise ProviderAway(
                self.sign_on.issuer, "what it sends for a code is no JSON object with tokens"
            ) from None
        return tokens

    async def _verified(
        self, client: AsyncOAuth2Client, metadata: Metadata, id_token: str
    ) -> jwt.Token:
        """The ID token, whose signature is by a key of the provider's."""
        began = self._now()
        keys = await self._keys_of(client, metadata, newer_than=began - KEPT_S)
        try:
            if not _has_key(id_token, keys):
                # It has new ones. Those that were read for this very log-in are not read again.
                keys = await self._keys_of(client, metadata, newer_than=began)
            return jwt.decode(id_token, _key(id_token, keys), algorithms=ALGORITHMS)
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise untrusted(self.sign_on, quoted(str(error), 200)) from None

    async def _keys_of(
        self, client: AsyncOAuth2Client, metadata: Metadata, *, newer_than: float
    ) -> KeySet:
        async def read() -> KeySet:
            document = await self._document(client, metadata.jwks_uri)
            return self._read_keys(document)

        return await self._keys.get(read, self._now, newer_than=newer_than)

    def _read_keys(self, document: dict[str, Any]) -> KeySet:
        """The keys that can be read; a provider may have others besides."""
        found = []
        listed = document.get("keys")
        for each in listed[:MOST_KEYS] if isinstance(listed, list) else []:
            try:
                found.append(JWKRegistry.import_key(each))
            except (JoseError, ValueError, TypeError, KeyError, AttributeError):
                continue
        if not found:
            raise ProviderAway(self.sign_on.issuer, "it names no key that can be read")
        return KeySet(found)

    async def _completed(
        self,
        client: AsyncOAuth2Client,
        metadata: Metadata,
        claims: dict[str, Any],
        access_token: str,
    ) -> dict[str, Any]:
        """The claims with what the provider says where it is asked for the person."""
        said = await self._document(
            client, metadata.userinfo_endpoint, {"Authorization": f"Bearer {access_token}"}
        )
        if said.get("sub") != claims["sub"]:
            raise untrusted(self.sign_on, "the provider describes another person than it names")
        return {**said, **claims}


def _basic(
    client: ClientAuth, _method: str, uri: str, headers: Any, body: Any
) -> tuple[str, Any, Any]:
    """The client's secret in a header, both parts encoded as RFC 6749, 2.3.1 has it."""
    said = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
    headers["Authorization"] = f"Basic {b64encode(said.encode()).decode()}"
    return uri, headers, body


async def _bound(answer: httpx2.Response) -> None:
    """Let *answer* be read as far as the limit, and refuse one that leads elsewhere."""
    if 300 <= answer.status_code < 400:
        raise httpx2.ProtocolError("it redirects, which is not followed")
    # Packed, the limit on bytes would say nothing.
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.ProtocolError("it packs its answers, unasked")
    answer.stream = _Bounded(answer.stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error beyond the limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > ANSWER_LIMIT:
                raise _AnswerTooLarge(f"it sends more than {ANSWER_LIMIT >> 20} MiB")
            yield part

    async def aclose(self) -> None:
        """End the answer."""
        await self._stream.aclose()


def _has_key(id_token: str, keys: KeySet) -> bool:
    try:
        _key(id_token, keys)
    except InvalidKeyIdError:
        return False
    return True


def _key(id_token: str, keys: KeySet) -> Any:
    """The key that an ID token names. Raises :class:`JoseError`."""
    header = jws.extract_compact(id_token.encode()).headers()
    return keys.get_by_kid(header.get("kid"))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _words(error: Exception) -> str:
    return quoted(str(error), 200).strip("'\"") if str(error) else type(error).__name__
