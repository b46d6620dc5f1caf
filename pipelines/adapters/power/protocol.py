"""What Mitigauge needs of whatever switches a host's power, and how it fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.logs.logger import get_logger

log = get_logger(__name__)

# A controller takes some seconds to see what it did; one that shuts down first, half a minute.
SETTLE_S = 60.0
ASK_EVERY_S = 1.0
# After a reset a controller may for seconds know nothing of its host.
NOT_YET_S = 20.0


class PowerError(MitigaugeError):
    """The power of a host cannot be read or switched."""

    status = 502


class PowerControl(Protocol):
    """What Mitigauge needs of a baseboard controller. All methods may raise PowerError."""

    def is_on(self) -> bool:
        """True while the host is powered, booted or not."""

    def on(self) -> None:
        """Power up from cold; nothing happens if the host is on."""

    def off(self) -> None:
        """Cut the power at once, without asking the host."""

    def cycle(self) -> None:
        """Start the host anew through its firmware, whatever state it is in."""

    def nmi(self) -> None:
        """Send a non-maskable interrupt, by which a hanging kernel may tell where it hangs."""

    def progress(self) -> str:
        """What the controller says of the boot that is going on; empty where it says nothing."""


def wait_for(
    wanted: bool, is_on: Callable[[], bool], controller: str, *, reset: bool = False
) -> None:
    """Wait until *is_on* says what was told; PowerError, naming *controller*, if it never does.

    A controller that cannot tell is asked again. After a *reset* one that never can is let be:
    told again, it would reset a host that is starting, and the boot's time-out judges.
    """
    deadline = time.monotonic() + SETTLE_S
    while True:
        unread: PowerError | None = None
        try:
            if is_on() is wanted:
                return
        except PowerError as error:
            unread = error
        if time.monotonic() > deadline:
            break
        time.sleep(ASK_EVERY_S)
    if unread is None:
        raise not_obeyed(wanted, controller)
    if not reset:
        raise unread
    log.warning("power state not told after a reset", reason=unread.message)


def not_obeyed(wanted: bool, controller: str) -> PowerError:
    """The error of a controller that says one thing and does another."""
    said, told = ("off", "power up") if wanted else ("on", "cut the power")
    return PowerError(
        f"{controller} says it is {said} after it was told to {told}.",
        hint="Look at the machine: a controller that is wrong about its power cannot be trusted "
        "to revive it. Often a restart of the controller helps.",
    )
