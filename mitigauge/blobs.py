"""Raw files by SHA-256, in a directory or an S3 bucket."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from mitigauge.errors import InvalidInput, NotFound, NotReady
from mitigauge.settings import Settings

PIECE_BYTES = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PATIENCE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Blob:
    """One stored file."""

    size: int
    """Bytes."""
    pieces: Iterator[bytes]
    """Its content, to be gone through once."""


@dataclass(frozen=True, slots=True)
class BlobStore:
    """Files under their SHA-256. All methods raise :class:`NotReady` if it does not answer."""

    store: ObjectStore
    name: str
    """Where it is, for people."""

    def put(self, content: bytes) -> str:
        """Store *content* and return its SHA-256; storing it again changes nothing."""
        digest = hashlib.sha256(content).hexdigest()
        with _answering(self.name), suppress(AlreadyExistsError):
            obstore.put(self.store, _path(digest), content, mode="create")
        return digest

    def get(self, digest: str) -> Blob:
        """The file of that SHA-256. Raises :class:`NotFound` for one that is not there."""
        if not _DIGEST.fullmatch(digest):
            raise _missing(digest)
        with _answering(self.name):
            try:
                found = obstore.get(self.store, _path(digest))
            except FileNotFoundError:
                raise _missing(digest) from None
        pieces = (bytes(piece) for piece in found.stream(min_chunk_size=PIECE_BYTES))
        return Blob(found.meta["size"], pieces)

    def read(self, digest: str) -> bytes:
        """The whole content of the file of that SHA-256."""
        blob = self.get(digest)
        with _answering(self.name):
            return b"".join(blob.pieces)


def blob_store(settings: Settings) -> BlobStore:
    """The store that *settings* name.

    Raises :class:`InvalidInput` for an address it cannot be, :class:`NotReady` for a directory
    that cannot be made.
    """
    return _opened(settings.blobs_url, settings.blobs)


@lru_cache(maxsize=8)
def _opened(url: str, directory: Path) -> BlobStore:
    if not url:
        with _answering(str(directory)):
            return BlobStore(LocalStore(directory, mkdir=True), str(directory))
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[^?#]*)?", url):
        raise InvalidInput(
            f"MITIGAUGE_BLOBS_URL is {url[:100]!r}, which is no s3://BUCKET/PREFIX",
            hint="Keys, region and address of the server come from AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL.",
        )
    store = S3Store.from_url(
        url.rstrip("/"),
        # Only an AWS_ENDPOINT_URL that says so leads to plain HTTP.
        client_options={"timeout": _PATIENCE, "allow_http": True},
        retry_config={"max_retries": 3, "retry_timeout": _PATIENCE},
    )
    return BlobStore(store, url)


@contextmanager
def _answering(name: str) -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError) as error:
        said = " ".join(str(error).partition("Debug source:")[0].split())[:600]
        raise NotReady(
            f"the blob store {name} cannot be used: {said}",
            hint="Check MITIGAUGE_BLOBS_URL, the AWS_… variables and the bucket's rights."
            if name.startswith("s3://")
            else "Check that it is a directory, who may write to it, and that its disk has room.",
        ) from error


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _missing(digest: str) -> NotFound:
    return NotFound(f"there is no blob {digest[:80]}", hint="Blobs are named by SHA-256.")
