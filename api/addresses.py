"""Under which names the service may be asked, and whether a page of its own asks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from mitigauge.core.errors import InvalidInput

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Bound to these, the service hears on every address, but nobody asks for it by them.
EVERYWHERE = ("0.0.0.0", "::")
DEFAULT_PORTS = {"http": 80, "https": 443}
_ADDRESS = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A name or IP address as in a Host header; no port: the scheme's own."""

    name: str
    port: int | None


def read_address(text: str) -> Address | None:
    """*text* as ``name``, ``name:port`` or ``[IPv6]:port``; None if it is nothing of these."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port < 65536:
        return None
    if found["v6"] is None:
        return Address(found["name"].lower(), port)
    try:
        return Address(ip_address(found["v6"]).compressed, port)
    except ValueError:
        return None


def is_loopback(address: str) -> bool:
    """Whether what listens on *address* is heard on this machine alone."""
    return address.strip("[]").lower() in LOOPBACK


class AllowedHosts:
    """Names that a request may be addressed to.

    Any other name may be a stranger's that leads to our address: by it a web page would
    pass for one of ours.
    """

    def __init__(self, bound: str, configured: str) -> None:
        """*bound*: the address listened on; *configured*: names with commas between.

        Raises :class:`InvalidInput` for a name that is none.
        """
        self._ports: dict[str, set[int | None]] = {}
        for name in LOOPBACK:
            self._allow(Address(name, None))
        own = read_address(url_host(bound))
        if own is not None and own.name not in EVERYWHERE:
            self._allow(Address(own.name, None))
        for word in filter(None, map(str.strip, configured.split(","))):
            address = read_address(word)
            if address is None:
                raise InvalidInput(
                    f"MITIGAUGE_ALLOWED_HOSTS has {word[:100]!r}, which is no name",
                    hint="Give names as browsers show them, with commas between: "
                    "mitigauge.example.org,10.0.0.7:8600.",
                )
            self._allow(address)

    def __contains__(self, address: Address) -> bool:
        ports = self._ports.get(address.name, ())
        return None in ports or (address.port in ports)

    def _allow(self, address: Address) -> None:
        self._ports.setdefault(address.name, set()).add(address.port)


def same_origin(host: Address, origins: Iterable[str], fetch_sites: Iterable[str]) -> bool:
    """Whether a browser's request for *host* comes from a page of that very address.

    *origins*, *fetch_sites*: values of ``Origin`` and ``Sec-Fetch-Site``. A browser sends at
    least one of them with everything but plain reading; without both the answer is no.
    """
    origin, sites = list(origins), list(fetch_sites)
    if len(origin) > 1 or len(sites) > 1 or not (origin or sites):
        return False
    if sites and sites != ["same-origin"]:
        return False
    return not origin or _is_at(host, origin[0])


def _is_at(host: Address, origin: str) -> bool:
    scheme, separator, rest = origin.partition("://")
    address = read_address(rest)
    if not separator or scheme not in DEFAULT_PORTS or address is None:
        return False
    default = DEFAULT_PORTS[scheme]
    return (address.name, address.port or default) == (host.name, host.port or default)


def url_host(address: str) -> str:
    """*address* as it stands in a URL: IPv6 in brackets."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def is_https(origin: str) -> bool:
    """Whether an ``Origin`` was reached encrypted."""
    return urlsplit(origin).scheme == "https"
