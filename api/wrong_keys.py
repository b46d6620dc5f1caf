"""Wrong tokens and keys, counted by the address they came from."""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NoReturn

from api.problems import TooOften

# So many wrong ones of an address are looked at within this time.
FREE = 10
WINDOW_S = 60.0
# Those that came last are remembered.
MOST_ADDRESSES = 4096
LONGEST_ADDRESS = 64

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Window:
    """What one address did since its first wrong key."""

    until: float
    count: int = 0


class WrongKeys:
    """Counts wrong keys by address in bounded memory. Used from any thread."""

    def __init__(self, *, free: int = FREE, now: Callable[[], float] = time.monotonic) -> None:
        """*free*: how many of an address are looked at within a window; *now* in seconds."""
        self.total = 0
        """Wrong keys since the start, refused ones among them."""
        self.refused = 0
        """Those of them that were not looked at."""
        self._free = free
        self._now = now
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    @property
    def addresses(self) -> int:
        """Addresses that are remembered."""
        return len(self._windows)

    def is_slowed(self, address: str) -> bool:
        """Whether wrong keys of *address* are not looked at now."""
        window = self._windows.get(address)
        return window is not None and window.count >= self._free and window.until > self._now()

    def note(self, address: str) -> None:
        """A key of *address* was looked at, and is wrong."""
        now = self._now()
        window = self._windows.pop(address, None)
        if window is None or window.until <= now:
            window = _Window(now + WINDOW_S)
        window.count += 1
        # At the end, so that who goes on is forgotten last.
        self._windows[address] = window
        if len(self._windows) > MOST_ADDRESSES:
            self._windows.popitem(last=False)
        if window.count == self._free:
            log.warning(
                "%s sent %d wrong tokens or keys within %.0f s: it is slowed",
                address, self._free, WINDOW_S,
            )  # fmt: skip
        self._count(address)

    def refuse(self, address: str) -> NoReturn:
        """Raise :class:`TooOften`: a key of *address* is not looked at."""
        self.refused += 1
        self._count(address)
        window = self._windows.get(address)
        wait_s = max(1, math.ceil(window.until - self._now())) if window else 1
        raise TooOften(
            f"{self._free} wrong tokens or keys came from {address} within {WINDOW_S:.0f} s",
            hint=f"Wait {wait_s} s. A token that is valid is answered all the while.",
            retry_after_s=wait_s,
        )

    def _count(self, address: str) -> None:
        self.total += 1
        if self.total >= 100 and str(self.total).strip("0") == "1":
            log.warning(
                "%d wrong tokens or keys since the start, the last from %s", self.total, address
            )


def group_of(address: str) -> str:
    """What of *address* one client has: an address of IPv4, a network of 64 bits of IPv6."""
    try:
        found = ip_address(address)
    except ValueError:
        cut = address[:LONGEST_ADDRESS]
        return (cut if cut.isprintable() else repr(cut)) or "unknown"
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    # Without a zone: `fe80::1%eth0`.
    return str(ip_network((int(found), 64), strict=False))
