"""Addresses of the API. Pure."""

from __future__ import annotations

from urllib.parse import quote


def at(path: str, *parts: str | int) -> str:
    """*path* with each ``{}`` filled, whatever signs a name has."""
    return path.format(*(quote(str(part), safe="") for part in parts))
