"""Where results go, and where one stands."""

from __future__ import annotations

from enum import StrEnum


class TargetName(StrEnum):
    """Where results go."""

    KCIDB = "kcidb"
    PATCHWORK = "patchwork"
    GITHUB = "github"


class PublicationState(StrEnum):
    """Where a publication stands."""

    WAITING = "waiting"
    BEGUN = "begun"
    PUBLISHED = "published"
    NOTHING = "nothing"
    """The target has no place for it: no patch there, no commit, no figure."""
    GIVEN_UP = "given_up"


OPEN = (PublicationState.WAITING, PublicationState.BEGUN)
