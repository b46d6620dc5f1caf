"""Patterns of SQL's LIKE. Pure."""

from __future__ import annotations

from typing import Final

ESCAPE: Final = "\\"


def within(text: str) -> str:
    """A pattern for whatever has *text* in it; nothing in *text* is a wildcard.

    The escape character is :data:`ESCAPE`, PostgreSQL's own.
    """
    literal = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{literal}%"
