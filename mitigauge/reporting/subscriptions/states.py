"""What can be subscribed to, by which way it is told, and what became of that. Pure."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final


class SubscriptionKind(StrEnum):
    """What somebody wants to hear of."""

    MY_REGRESSIONS = "my-regressions"
    """Whatever is said of regressions that are, or were, the person's own."""
    NEW_REGRESSIONS = "new-regressions"
    """Regressions that are found and nobody's."""
    SERIES = "series"
    """Where the revisions of a series stand."""
    CASE = "case"
    """Whatever is said of regressions of a case."""
    HOST = "host"
    """That a host is set aside, used again, or is not what it was."""
    WEEK = "week"
    """That a week's report is there."""


# Kinds that say of which one.
NAMED: Final = (SubscriptionKind.SERIES, SubscriptionKind.CASE, SubscriptionKind.HOST)


class TellWay(StrEnum):
    """How it is told."""

    MAIL = "mail"
    WEBHOOK = "webhook"


PERIODS: Final = {
    TellWay.MAIL: timedelta(days=1),
    TellWay.WEBHOOK: timedelta(minutes=15),
}


class SubscriptionState(StrEnum):
    """Whether it is told."""

    ACTIVE = "active"
    PAUSED = "paused"


class DigestState(StrEnum):
    """What became of a digest."""

    WAITING = "waiting"
    """It is sent when its time has come, for the first time or again."""
    BEGUN = "begun"
    """A worker sends it just now."""
    TOLD = "told"
    """The other side has it."""
    GIVEN_UP = "given-up"
    """The other side did not take it."""
    UNKNOWN = "unknown"
    """The other side may have it, so it is never sent again."""
    DROPPED = "dropped"
    """Nobody wants it any more."""


class Source(StrEnum):
    """Which kind of row a notice was made of."""

    REGRESSION = "regression"
    SERIES = "series"
    HOST = "host"
    FINGERPRINT = "fingerprint"
    WEEK = "week"
