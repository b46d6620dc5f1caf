"""Names in the order in which people count. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([0-9]+)")


def natural_order(name: str) -> list[tuple[int, str, str]]:
    """A key that sorts host-2 before host-10, and names alike but for zeros always the same way.

    Numbers of any length are compared as text, by how long they are first.
    """
    parts = _NUMBER.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0"), part) if number % 2 else (0, part, "")
        for number, part in enumerate(parts)
    ]
