"""What people read instead of the name by which rows and tokens know somebody. Pure."""

from __future__ import annotations

from typing import Final

# Names that others proved, apart from those of tokens.
PROVEN_BY: Final = ("proxy:", "oidc:")


def person_name(subject: str) -> str:
    """``alice`` of ``oidc:alice``; every other name as it is."""
    for prefix in PROVEN_BY:
        if subject.startswith(prefix):
            return subject.removeprefix(prefix)
    return subject
