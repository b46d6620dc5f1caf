"""Names of functions as a line of text. Pure; without anything that takes long to load."""

from __future__ import annotations

from collections.abc import Sequence

NAMES_SHOWN = 8


def names_in_words(names: Sequence[str], count: int | None = None) -> str:
    """``one, two and 3 more``; *count*: how many there are, where *names* are some of them."""
    more = (count or len(names)) - len(names[:NAMES_SHOWN])
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
