"""Answers as bytes: made once for all who wait for them, and kept where their change can be told.

A matrix of thousands of rows takes a fraction of a second to put together, and dozens of
people look at the same one.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from api.database import begin
from api.shared_reads import SharedReads

# Of all answers that are kept together, compressed.
MOST_BYTES = 48 << 20
# More of it makes the answer a few percent smaller and takes three times as long.
LEVEL = 4
# Smaller ones are sent as they are.
PACKED_FROM_BYTES = 1 << 10

Read = Callable[[Session], BaseModel]
Stamp = Callable[[Session], Hashable | None]


@dataclass(frozen=True, slots=True)
class _Kept:
    stamp: Hashable
    etag: str
    body: bytes
    is_packed: bool

    @classmethod
    def of(cls, body: bytes, stamp: Hashable) -> _Kept:
        """*body*, compressed where that is worth while."""
        is_packed = len(body) >= PACKED_FROM_BYTES
        sent = gzip.compress(body, compresslevel=LEVEL, mtime=0) if is_packed else body
        etag = f'"{hashlib.blake2b(sent, digest_size=12).hexdigest()}"'
        return cls(stamp, etag, sent, is_packed)

    def response(self, request: Request, *, polled: bool) -> Response:
        """The answer to *request*; 304 where the client has it already.

        Only a page that is kept here, or one that is *polled*, may be kept by a client, which
        asks about it each time.
        """
        headers = {"Vary": "Accept-Encoding"}
        may_be_kept = polled or self.stamp is not None
        if may_be_kept:
            headers |= {"ETag": self.etag, "Cache-Control": "private, no-cache"}
        if may_be_kept and self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = self.body
        if self.is_packed and "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        elif self.is_packed:
            body = gzip.decompress(body)
        return Response(body, media_type="application/json", headers=headers)


@dataclass(slots=True)
class StoredPages:
    """Pages of the API, as JSON. Those with a stamp are kept, those used last."""

    shared: SharedReads
    most_bytes: int = MOST_BYTES
    _kept: OrderedDict[Hashable, _Kept] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def answer(
        self,
        request: Request,
        key: Hashable,
        read: Read,
        stamp: Stamp | None = None,
        *,
        polled: bool = False,
    ) -> Response:
        """The answer to *request*: what *read* gives, for all who ask for *key* at this moment.

        *stamp* reads something that differs after each change of what *read* gives: while it is the
        same, nothing is read anew. None: not to be kept. *polled*: clients ask for it again and
        again. Raises what they raise.
        """
        app: FastAPI = request.app
        kept = await self.shared.answer(("page", key), lambda: self._read(app, key, read, stamp))
        return kept.response(request, polled=polled)

    def _read(self, app: FastAPI, key: Hashable, read: Read, stamp: Stamp | None) -> _Kept:
        with begin(app) as session:
            # Before the page: a change in between makes the page newer than its stamp, no older.
            now = stamp(session) if stamp else None
            if now is None:
                return _Kept.of(read(session).model_dump_json().encode(), None)
            with self._lock:
                kept = self._kept.get(key)
                if kept is not None and kept.stamp == now:
                    self._kept.move_to_end(key)
                    return kept
            body = read(session).model_dump_json().encode()
        return self._keep(key, _Kept.of(body, now))

    def _keep(self, key: Hashable, kept: _Kept) -> _Kept:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(len(k.body) for k in self._kept.values()) > (
                self.most_bytes
            ):
                self._kept.popitem(last=False)
        return kept
