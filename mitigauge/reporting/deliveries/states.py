"""What became of a mail for one receiver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DeliveryState(StrEnum):
    """Where it stands."""

    BEGUN = "begun"
    """Somebody hands it over just now."""
    TAKEN = "taken"
    """The server has it."""
    REFUSED = "refused"
    """The server does not take it for this receiver, now or later."""
    LATER = "later"
    """It was not taken; it may be tried again."""
    UNKNOWN = "unknown"
    """The answer to all of it was lost: the server may have it, so it is never sent again."""


OPEN = (DeliveryState.BEGUN, DeliveryState.LATER)


@dataclass(frozen=True, slots=True)
class DeliveryAnswer:
    """What a server said of a mail for one receiver, in words for people."""

    state: DeliveryState
    said: str = ""
