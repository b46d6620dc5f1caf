"""Large answers that are made once for each change of what they show, and kept as bytes.

A matrix of thousands of rows takes a fraction of a second to put together, and dozens of
people look at the same one.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import Request, Response

# Of all answers that are kept together, compressed.
MOST_BYTES = 48 << 20
# More of it makes the answer a few percent smaller and takes three times as long.
LEVEL = 4


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: int
    etag: str
    packed: bytes


@dataclass(slots=True)
class StoredPages:
    """Compressed JSON answers by key, the least recently used ones dropped."""

    most_bytes: int = MOST_BYTES
    _kept: OrderedDict[object, _Kept] = field(default_factory=OrderedDict)
    _making: dict[object, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(
        self, request: Request, key: object, stamp: int, make: Callable[[], bytes]
    ) -> Response:
        """The answer to *request*: what *make* gave for this *stamp* of *key*, made once.

        304 where the client has it already.
        """
        kept = self._of(key, stamp, make)
        headers = {
            "ETag": kept.etag,
            "Cache-Control": "private, no-cache",
            "Vary": "Accept-Encoding",
        }
        if kept.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            body = gzip.decompress(kept.packed)
            return Response(body, media_type="application/json", headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(kept.packed, media_type="application/json", headers=headers)

    def _of(self, key: object, stamp: int, make: Callable[[], bytes]) -> _Kept:
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.stamp == stamp:
                self._kept.move_to_end(key)
                return kept
            making = self._making.setdefault(key, threading.Lock())
        # Many ask at once: one makes it, the others wait for it.
        with making:
            with self._lock:
                kept = self._kept.get(key)
            if kept is not None and kept.stamp >= stamp:
                return kept
            return self._keep(key, stamp, make())

    def _keep(self, key: object, stamp: int, body: bytes) -> _Kept:
        packed = gzip.compress(body, compresslevel=LEVEL, mtime=0)
        kept = _Kept(stamp, f'"{hashlib.blake2b(packed, digest_size=12).hexdigest()}"', packed)
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            self._making.pop(key, None)
            while len(self._kept) > 1 and sum(len(k.packed) for k in self._kept.values()) > (
                self.most_bytes
            ):
                self._kept.popitem(last=False)
        return kept
