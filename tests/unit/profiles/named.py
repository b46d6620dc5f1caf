"""Numbers of names, as a database would give them."""

from __future__ import annotations

NAMES: dict[bytes, int] = {}


def number(name: bytes) -> int:
    return NAMES.setdefault(name, len(NAMES))


def name(symbol: int) -> str:
    return next(text.decode() for text, own in NAMES.items() if own == symbol)


def alike(symbol: int, thread: bool) -> int:
    """Threads that differ by number only are one."""
    return number(b"CPU") if thread and name(symbol).startswith("CPU") else symbol
