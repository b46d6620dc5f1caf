"""Names in the order in which people count. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(\d+)")


def natural_order(name: str) -> list[tuple[int, str]]:
    """A key that sorts host-2 before host-10, and names alike but for zeros always the same way."""
    parts = _NUMBER.split(name)
    return [(int(part), part) if number % 2 else (0, part) for number, part in enumerate(parts)]
