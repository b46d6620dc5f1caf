"""Raw files by SHA-256, in a directory or an S3 bucket.

A file that is damaged is never given out as good: what is read is checked against its name.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import IO, BinaryIO

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, S3Store

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotFound, NotReady
from mitigauge.core.settings import Settings

PIECE_BYTES = 1 << 20
# Files up to this size are checked before their first byte is given out.
CHECKED_FIRST_BYTES = 8 << 20
PAGE = 1000
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PATH = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})")
# What a writer that died leaves behind: ours, and obstore's own.
_LEFTOVER = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{8}\.part|[0-9a-f]{64}#\d+")
_PATIENCE = timedelta(seconds=20)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class DamagedBlob(MitigaugeError):
    """A stored file whose content is not what its name says."""


@dataclass(frozen=True, slots=True)
class Blob:
    """One stored file."""

    size: int
    """Bytes."""
    pieces: Iterator[bytes]
    """Its content, to be gone through once. Of a damaged file the last piece never comes:
    :class:`DamagedBlob` is raised in its place."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored file as it is listed."""

    digest: str
    size: int
    """Bytes."""
    modified: datetime
    """When it was stored last, by the store's clock."""


@dataclass(frozen=True, slots=True)
class BlobStore:
    """Files under their SHA-256. All methods raise :class:`NotReady` if it does not answer."""

    store: ObjectStore
    name: str
    """Where it is, for people."""
    directory: Path | None = None
    """Where its files are; none: in a bucket."""

    def put(self, content: bytes) -> str:
        """Store *content* and return its SHA-256.

        It is written whole or not at all, and has survived a power cut once this returns.
        Storing it again mends what has been damaged, and makes it young again for
        :meth:`remove`.
        """
        digest = hashlib.sha256(content).hexdigest()
        with _answering(self.name), self._turn(fcntl.LOCK_SH):
            if self.directory:
                _write(self.directory / _path(digest), content)
            else:
                # In one piece: an upload in parts that is broken off leaves parts behind.
                obstore.put(self.store, _path(digest), content, use_multipart=False)
        return digest

    def put_file(self, path: Path) -> str:
        """The same for a file, which may be larger than what a process should hold."""
        with path.open("rb") as file:
            return self.put_stream(file)

    def put_stream(self, file: IO[bytes]) -> str:
        """The same for an open file, from its beginning."""
        file.seek(0)
        if not self.directory:
            # In one piece, see above: it is in memory meanwhile.
            return self.put(file.read())
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        file.seek(0)
        with _answering(self.name), self._turn(fcntl.LOCK_SH):
            _write(self.directory / _path(digest), file, digest)
        return digest

    def get(self, digest: str) -> Blob:
        """The file of that SHA-256.

        Raises :class:`NotFound` for one that is not there and :class:`DamagedBlob` for a
        damaged one: here for files up to 8 MiB, later in the pieces of larger ones.
        """
        if not _DIGEST.fullmatch(digest):
            raise _missing(digest)
        with _answering(self.name):
            try:
                found = obstore.get(self.store, _path(digest))
            except FileNotFoundError:
                raise _missing(digest) from None
            size = found.meta["size"]
            stream = (bytes(piece) for piece in found.stream(min_chunk_size=PIECE_BYTES))
            pieces = self._checked(digest, stream)
            if size <= CHECKED_FIRST_BYTES:
                pieces = iter(list(pieces))
        return Blob(size, pieces)

    def read(self, digest: str) -> bytes:
        """The whole content of the file of that SHA-256; raises as :meth:`get` does."""
        return b"".join(self.get(digest).pieces)

    def listed(self) -> Iterator[list[Stored]]:
        """All files, in pages of up to 1,000, in no order."""
        pages = iter(obstore.list(self.store, chunk_size=PAGE))
        while True:
            with _answering(self.name):
                page = next(pages, None)
            if page is None:
                return
            yield [
                Stored(found[1], meta["size"], meta["last_modified"])
                for meta in page
                if (found := _PATH.fullmatch(meta["path"]))
            ]

    def remove(self, stored: Stored) -> bool:
        """Remove a file, unless it was stored again since it was listed; whether it went."""
        path = _path(stored.digest)
        with _answering(self.name), self._turn(fcntl.LOCK_EX):
            try:
                if obstore.head(self.store, path)["last_modified"] != stored.modified:
                    return False
                obstore.delete(self.store, path)
            except FileNotFoundError:
                return False
        return True

    def leftovers(self) -> Iterator[Path]:
        """Files of a directory that writers which died did not come to name."""
        if not self.directory:
            return
        with _answering(self.name):
            for path in self.directory.glob("[0-9a-f][0-9a-f]/*"):
                if _LEFTOVER.fullmatch(path.name):
                    yield path

    def _checked(self, digest: str, stream: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces; the last is held back until the sum over all of them is right."""
        found, held = hashlib.sha256(), None
        with _answering(self.name):
            for piece in stream:
                found.update(piece)
                if held is not None:
                    yield held
                held = piece
        if found.hexdigest() != digest:
            raise DamagedBlob(
                f"the blob {digest} in {self.name} is damaged: "
                f"its content has the SHA-256 {found.hexdigest()}",
                hint="Restore it from a backup. The same raw file stored once more mends it too.",
            )
        if held is not None:
            yield held

    @contextmanager
    def _turn(self, kind: int) -> Iterator[None]:
        """Between :meth:`remove`'s look at a file's age and its removal nothing is stored."""
        if not self.directory:
            yield
            return
        with (self.directory / ".lock").open("a") as lock:
            fcntl.flock(lock, kind)
            yield


def _write(path: Path, content: bytes | IO[bytes], digest: str = "") -> None:
    """Write a file whole or not at all: on the disk first, then under its name.

    Raises :class:`InvalidInput` where a file's content has no longer the *digest*.
    """
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                _copy(content, file, digest)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    for directory in (path.parent, path.parent.parent):
        _sync_names(directory)


def _copy(source: IO[bytes], file: BinaryIO, digest: str) -> None:
    found = hashlib.sha256()
    while piece := source.read(PIECE_BYTES):
        found.update(piece)
        file.write(piece)
    if found.hexdigest() != digest:
        raise InvalidInput("the file changed while it was stored", hint="Try again.")


def _sync_names(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
            files = LocalStore(directory, mkdir=True)
            return BlobStore(files, str(directory), directory.resolve())
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
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise _full(name) from error
        said, _, inside = str(error).partition("Debug source:")
        said = " ".join(said.split())[:600]
        if "InvalidCertificate" in inside:
            raise NotReady(
                f"the blob store {name} shows a certificate that is not trusted: {said}",
                hint="SSL_CERT_FILE names the authorities, where they are not the machine's own; "
                "AWS_ENDPOINT_URL names the server as its certificate does.",
            ) from error
        raise NotReady(
            f"the blob store {name} cannot be used: {said}",
            hint="Check MITIGAUGE_BLOBS_URL, the AWS_… variables and the bucket's rights."
            if name.startswith("s3://")
            else "Check that it is a directory, and who may write to it.",
        ) from error


def _full(name: str) -> NotReady:
    free = shutil.disk_usage(name).free
    return NotReady(
        f"no space left on the disk of the blob store {name}: {free:,} bytes are free",
        hint="Make room there. `mitigauge db prune` removes what nobody needs any more.",
    )


def _path(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def _missing(digest: str) -> NotFound:
    return NotFound(f"there is no blob {digest[:80]}", hint="Blobs are named by SHA-256.")
