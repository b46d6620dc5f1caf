"""What comes from hosts and their tools, made fit to be stored and shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# What PostgreSQL refuses (NUL, half of a surrogate pair) or a terminal would obey.
HOSTILE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(value: Any) -> Any:
    """*value* with U+FFFD for every character that no fact of a host should have."""
    if isinstance(value, str):
        return HOSTILE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {clean(key): clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item) for item in value]
    return value
