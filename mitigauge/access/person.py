"""What people read instead of the name by which rows and tokens know somebody. Pure."""

from __future__ import annotations

from typing import Final

# Names that others proved, apart from those of tokens.
PROVEN: Final = "proxy:"


def person_name(subject: str) -> str:
    """``alice`` of ``proxy:alice``; every other name as it is."""
    return subject.removeprefix(PROVEN)
