"""What stands in an entry as the state before or after: few, short, and no secret. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.logs.redaction import without_secrets

MOST_VALUES: Final = 20
MOST_ITEMS: Final = 20
LONGEST_TEXT: Final = 300
LONGEST_ITEM: Final = 80
LARGEST: Final = 8000
CUT: Final = {"cut": "too much was said to be kept here"}


def short(text: object, longest: int) -> str:
    """*text* in one line, cleaned, without what looks like a secret, and cut."""
    said = without_secrets(" ".join(clean_text(str(text)).split()))
    return said if len(said) <= longest else f"{said[: longest - 1]}…"


def bounded(values: Mapping[str, object] | None) -> dict[str, Any]:
    """*values* as an entry holds them; what is not said (None) is left out."""
    said = {
        short(name, LONGEST_ITEM): _value(value)
        for name, value in list((values or {}).items())[:MOST_VALUES]
        if value is not None
    }
    # As the table counts it: in bytes of UTF-8.
    return said if len(json.dumps(said, ensure_ascii=False).encode()) <= LARGEST else dict(CUT)


def _value(value: object) -> object:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [short(item, LONGEST_ITEM) for item in value[:MOST_ITEMS]]
    return short(value, LONGEST_TEXT)
