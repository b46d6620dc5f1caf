"""What comes from hosts, mails and logs, made fit to be stored and shown. Pure.

Such text is cleaned once, where it comes in, and escaped where it is shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

# What PostgreSQL refuses (NUL, half of a surrogate pair), what a terminal obeys (C0 with
# carriage return and escape, C1), and what makes text read in another order than it is stored.
HOSTILE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Deeper than anything a module or a result of ours holds; beyond, a reader's stack would end.
DEEPEST = 40
LARGEST = 2**63


def clean_text(text: str) -> str:
    """*text* with U+FFFD for every character that no fact of a host should have."""
    return HOSTILE.sub(REPLACEMENT, text)


def clean(value: Any) -> Any:
    """*value*, as JSON holds it, with all its texts and keys cleaned.

    A number that JSON or a database cannot hold (not finite, or an integer over 63 bits)
    becomes None. What lies deeper than 40 levels is replaced by U+FFFD.
    """
    return _clean(value, DEEPEST)


def _clean(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int | float):
        fits = math.isfinite(value) if isinstance(value, float) else -LARGEST <= value < LARGEST
        return value if fits else None
    if not isinstance(value, Mapping | list | tuple):
        return value
    if levels == 0:
        return REPLACEMENT
    if isinstance(value, Mapping):
        return {_clean(key, levels - 1): _clean(item, levels - 1) for key, item in value.items()}
    return [_clean(item, levels - 1) for item in value]


def quoted(value: object, most: int = 60) -> str:
    """*value* as an error quotes it: cleaned, in one line, at most *most* characters."""
    text = clean_text(repr(value))
    return text if len(text) <= most else f"{text[: most - 1]}…"
