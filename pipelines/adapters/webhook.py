"""Sending to a webhook: to the address that was checked, once, and within limits.

The name is looked up once, and the connection goes to what that look-up gave: a name server that
answers otherwise a moment later changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

import httpx2

from mitigauge.core.errors import InvalidInput
from mitigauge.core.version import VERSION
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.reporting.subscriptions.webhook_url import (
    IpAddress,
    Networks,
    WebhookUrl,
    read_url,
    why_not,
)

# Of the look-up and all that follows.
WHOLE_S: Final = 10.0
ANSWER_LIMIT: Final = 64 << 10
# The receiver says that it is gone for good.
_GONE: Final = 410
LookUp = Callable[[str, int], Sequence[IpAddress]]


def looked_up(host: str, port: int) -> list[IpAddress]:
    """The addresses that a name leads to. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(_address(str(each[4][0])) for each in found))


def _address(text: str) -> IpAddress:
    # A zone says through which cable, which no public address needs.
    return ip_address(text.partition("%")[0])


def send(
    url: str,
    body: bytes,
    headers: dict[str, str],
    networks: Networks,
    *,
    look_up: LookUp = looked_up,
    tls: ssl.SSLContext | None = None,
    limit_s: float = WHOLE_S,
) -> DeliveryAnswer:
    """Post *body* to *url*; what came of it. Raises nothing.

    *networks*: where it may go beside public addresses. *tls*: what certificates are checked by;
    the machine's authorities where none is given.
    """
    try:
        parts = read_url(url)
        addresses = [parts.literal] if parts.literal else _in_time(look_up, parts, limit_s / 2)
    except InvalidInput as error:
        return DeliveryAnswer(DeliveryState.REFUSED, error.message)
    except OSError as error:
        return DeliveryAnswer(DeliveryState.LATER, f"its name is not known: {error}")
    why = why_not(parts, addresses, networks)
    if why:
        return DeliveryAnswer(DeliveryState.REFUSED, f"nothing is sent there: {why}")
    posting = _Posting(parts, addresses[0], body, headers, tls or ssl.create_default_context())
    return asyncio.run(posting.answer(limit_s / 2 if parts.literal is None else limit_s))


def _in_time(look_up: LookUp, url: WebhookUrl, limit_s: float) -> Sequence[IpAddress]:
    """What the look-up gives. Raises OSError, also where it takes too long.

    It cannot be broken off, so that it has a thread which nobody waits for.
    """
    found: list[Sequence[IpAddress]] = []
    failed: list[OSError] = []

    def ask() -> None:
        try:
            found.append(look_up(url.host, url.port))
        except (OSError, UnicodeError) as error:
            failed.append(error if isinstance(error, OSError) else OSError(str(error)))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(limit_s)
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError(f"no answer within {limit_s:g} s")
    return found[0]


class _Posting:
    """One request to one address, with the name of the URL in its Host and in TLS."""

    def __init__(
        self,
        url: WebhookUrl,
        address: IpAddress,
        body: bytes,
        headers: dict[str, str],
        tls: ssl.SSLContext,
    ) -> None:
        self.url, self.body, self.tls = url, body, tls
        self.place = _place(address)
        self.headers = headers | {
            "Host": url.authority,
            "Content-Type": "application/json",
            "User-Agent": f"mitigauge/{VERSION}",
            # A small answer could become a large one.
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        self.sent = False

    async def answer(self, limit_s: float) -> DeliveryAnswer:
        """What came of it, within *limit_s* seconds."""
        try:
            async with asyncio.timeout(limit_s):
                return await self._post(limit_s)
        except TimeoutError:
            return self._lost(f"no answer within {limit_s:g} s")
        except httpx2.ConnectError as error:
            return DeliveryAnswer(DeliveryState.LATER, f"no connection: {_words(error)}")
        except (httpx2.HTTPError, OSError, ValueError) as error:
            return self._lost(_words(error))

    async def _post(self, limit_s: float) -> DeliveryAnswer:
        client = httpx2.AsyncClient(
            verify=self.tls, follow_redirects=False, trust_env=False, timeout=limit_s
        )
        url = f"{self.url.scheme}://{self.place}:{self.url.port}{self.url.target}"
        async with client:
            request = client.build_request(
                "POST",
                url,
                content=self.body,
                headers=self.headers,
                extensions={"sni_hostname": self.url.host},
            )
            response = await client.send(request, stream=True)
            try:
                await _drain(response)
            except httpx2.HTTPError:
                # What it answered was read; the rest is of no use.
                pass
            finally:
                await response.aclose()
            return _meaning(response)

    def _lost(self, why: str) -> DeliveryAnswer:
        """A receiver that gave no answer did not say that it has it: it is tried again."""
        return DeliveryAnswer(DeliveryState.LATER, why)


async def _drain(response: httpx2.Response) -> None:
    read = 0
    async for piece in response.aiter_raw():
        read += len(piece)
        if read >= ANSWER_LIMIT:
            return


def _meaning(response: httpx2.Response) -> DeliveryAnswer:
    code = response.status_code
    if 200 <= code < 300:
        return DeliveryAnswer(DeliveryState.TAKEN)
    if 300 <= code < 400:
        return DeliveryAnswer(DeliveryState.LATER, f"it answers {code}; no redirect is followed")
    state = DeliveryState.REFUSED if code == _GONE else DeliveryState.LATER
    return DeliveryAnswer(state, f"it answers {code}")


def _place(address: IPv4Address | IPv6Address) -> str:
    return f"[{address}]" if isinstance(address, IPv6Address) else str(address)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
