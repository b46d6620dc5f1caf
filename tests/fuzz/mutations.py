"""Ways in which bytes and JSON go wrong."""

from __future__ import annotations

import json
import random
from typing import Any

ODD: list[Any] = [
    None, True, False, 0, -1, 1 << 53, 1 << 64, 10**30, 1e308, -1e308, 5e-324, 1.5, "", "x", "0",
    "\x00", "\x1b]0;owned\x07", "\u202e", "\ud800", "x" * 5000, [], {}, [[]], {"": ""}, [1e308] * 3,
    "2026-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", 1e18,
]  # fmt: skip


def odd_json(rng: random.Random, content: Any, times: int = 1) -> Any:
    """*content*, a value of JSON, with some of its parts replaced, removed or repeated."""
    for _ in range(times):
        content = _changed(rng, content)
    return content


def _changed(rng: random.Random, content: Any) -> Any:
    if not isinstance(content, dict | list) or not content or rng.random() < 0.15:
        return rng.choice(ODD)
    key = rng.choice(list(content) if isinstance(content, dict) else range(len(content)))
    changed: Any = dict(content) if isinstance(content, dict) else list(content)
    what = rng.random()
    if what < 0.1:
        del changed[key]
    elif what < 0.2 and isinstance(changed, dict):
        changed[str(rng.choice(ODD))[:50]] = rng.choice(ODD)
    elif what < 0.25 and isinstance(changed, list):
        changed *= rng.choice([2, 100])
    else:
        changed[key] = _changed(rng, content[key])
    return changed


def as_json(rng: random.Random, content: Any) -> bytes:
    """*content* as JSON, at times with what JSON has not, too deep or cut off."""
    text = json.dumps(content, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    what = rng.random()
    if what < 0.03:
        return b"[" * rng.choice([50, 2000, 200_000]) + text
    if what < 0.06:
        return text.replace(b"1", b"9" * rng.choice([30, 5000]), 1)
    return odd_bytes(rng, text) if what < 0.25 else text


def odd_bytes(rng: random.Random, content: bytes) -> bytes:
    """*content* with bytes flipped, cut out, put in or repeated."""
    data = bytearray(content or b"\0")
    for _ in range(rng.choice([1, 1, 2, 5, 30])):
        place = rng.randrange(len(data) or 1)
        what = rng.random()
        if what < 0.5 and data:
            data[place] ^= 1 << rng.randrange(8)
        elif what < 0.65:
            del data[place : place + rng.choice([1, 7, 512])]
        elif what < 0.8:
            data[place:place] = rng.randbytes(rng.choice([1, 8, 512]))
        elif what < 0.9:
            data[place:place] = data[place : place + 512] * rng.choice([1, 3])
        else:
            del data[place:]
    return bytes(data)
