"""To which addresses a webhook may go. Pure: names are looked up elsewhere.

A person names the address, and this machine goes there: without these rules it would ask whatever
it reaches and the person does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import quoted

IpAddress = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]

LONGEST_URL: Final = 2000
# Of services that are meant for everybody; a mail server or a database has none of these.
PORTS: Final = (443, 8443)
SETTING: Final = "MITIGAUGE_WEBHOOK_NETWORKS"
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# What other programs take for a number, and so for an IPv4 address in an odd form.
_NUMBER: Final = re.compile(r"\d+|0x[0-9a-f]*")
_DEFAULTS: Final = {"https": 443, "http": 80}
# The library takes sites' own addresses and groups for global: all that is given out is in here.
_GLOBAL: Final = IPv6Network("2000::/3")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = IPv6Network("::/96")
_WRITE_IT: Final = "Give https://NAME/…, without user and fragment."


@dataclass(frozen=True, slots=True)
class WebhookUrl:
    """An address in its parts. *host*: in small letters, IPv6 without brackets."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""
    literal: IpAddress | None
    """The host, where it is an address and no name."""

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == _DEFAULTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_plain(self) -> bool:
        """Whether it is as everybody's may be: encrypted, and to a port for everybody."""
        return self.scheme == "https" and self.port in PORTS


def masked(url: str) -> str:
    """*url* with no more of its path than its last characters: the rest lets one write there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "…"
    place = f"[{host}]" if ":" in host else host
    rest = url.partition(parts.netloc)[2].strip("/") if parts.netloc else url
    end = rest[-4:] if len(rest) > 12 else ""
    shown_port = f":{port}" if port is not None else ""
    return f"{parts.scheme}://{place}{shown_port}/{'…' if rest else ''}{end}"


def read_networks(text: str) -> Networks:
    """The networks of the setting. Raises :class:`InvalidInput` for what is none."""
    found = []
    for each in filter(None, map(str.strip, text.split(","))):
        try:
            found.append(ip_network(each))
        except ValueError as error:
            raise InvalidInput(
                f"{SETTING} has {quoted(each, 80)}: {error}",
                hint="Write networks as CIDR with commas between: 10.2.0.0/16,192.0.2.7/32.",
            ) from None
    return tuple(found)


def read_url(url: str) -> WebhookUrl:
    """*url* in its parts. Raises :class:`InvalidInput` for one that no webhook may have."""
    # The parser leaves out line breaks and tabs, and so would read another address than is sent.
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise _refused(url, "it has blanks, backslashes or letters beyond ASCII", _WRITE_IT)
    if len(url) > LONGEST_URL:
        raise _refused(url[:80], f"it has more than {LONGEST_URL} characters", _WRITE_IT)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused(url, str(error), _WRITE_IT) from None
    if parts.scheme not in _DEFAULTS or not parts.hostname:
        raise _refused(url, "it is no https:// address", _WRITE_IT)
    if "@" in parts.netloc or "#" in url:
        raise _refused(url, "it has a user or a fragment", _WRITE_IT)
    if port == 0:
        raise _refused(url, "0 is no port", _WRITE_IT)
    literal = _literal(url, parts)
    target = parts.path or "/"
    return WebhookUrl(
        scheme=parts.scheme,
        host=str(literal) if literal else parts.hostname,
        port=port or _DEFAULTS[parts.scheme],
        target=f"{target}?{parts.query}" if parts.query else target,
        literal=literal,
    )


def _literal(url: str, parts: SplitResult) -> IpAddress | None:
    host = parts.hostname or ""
    if "[" in parts.netloc:
        try:
            # Without a zone: that is a cable of this machine.
            return IPv6Address(host) if "%" not in host else _no_host(url)
        except ValueError:
            return _no_host(url)
    if len(host) > 253 or not _NAME.fullmatch(host):
        return _no_host(url)
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    try:
        return IPv4Address(host)
    except ValueError:
        return _no_host(url)


def _no_host(url: str) -> IpAddress:
    raise _refused(
        url,
        "its host is neither a name nor a whole address",
        "Write the name, or the address as 192.0.2.7 or [2001:db8::7].",
    )


def _refused(url: str, why: str, hint: str) -> InvalidInput:
    return InvalidInput(f"{quoted(masked(url), 120)} can be no webhook's: {why}", hint=hint)


def require_possible(url: WebhookUrl, networks: Networks) -> None:
    """Raise :class:`InvalidInput` for what is refused whatever its name leads to.

    Where a name leads is looked at each time something is sent there.
    """
    if url.literal is not None:
        why = why_not(url, [url.literal], networks)
    elif networks or url.is_plain:
        why = "" if networks or "." in url.host else "such a name leads to no public address"
    else:
        why = _must_be_plain()
    if why:
        raise InvalidInput(
            f"{url.scheme}://{url.authority} can be no webhook's: {why}",
            hint=f"Whoever runs the service may allow more networks: {SETTING}.",
        )


def why_not(url: WebhookUrl, addresses: Sequence[IpAddress], networks: Networks) -> str:
    """Why nothing is sent to *url*, whose name leads to *addresses*; empty: it may be."""
    if not addresses:
        return "its name leads nowhere"
    for each in addresses:
        if _is_within(each, networks):
            continue
        if not is_public(each):
            return f"{each} is no public address"
        if not url.is_plain:
            return _must_be_plain()
    return ""


def _must_be_plain() -> str:
    return f"it must be https to port {' or '.join(map(str, PORTS))}"


def is_public(address: IpAddress) -> bool:
    """Whether everybody's messages get there, and nowhere within a network of somebody's."""
    inner = _carried(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, IPv6Address):
        if address.sixtofour is not None:
            return is_public(address.sixtofour)
        return address.is_global and address in _GLOBAL
    return address.is_global and not address.is_multicast


def _carried(address: IpAddress) -> IPv4Address | None:
    """The IPv4 address that another form of address stands for; None: it stands for itself."""
    if isinstance(address, IPv4Address):
        return None
    if address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


def _is_within(address: IpAddress, networks: Networks) -> bool:
    known = [address, _carried(address)]
    return any(each in network for each in known if each is not None for network in networks)
