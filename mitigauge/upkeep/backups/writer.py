"""Taking a backup: one snapshot of the database, and the raw files that it names."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO

from sqlalchemy import Connection, Engine

from mitigauge.access.secret import stored_key
from mitigauge.core.errors import Conflict, InvalidInput, NotFound, NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.version import VERSION
from mitigauge.storage.database.engine import require_head
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.database.schema_revision import wanted_revision
from mitigauge.storage.files.blobs import BlobStore, DamagedBlob
from mitigauge.upkeep.backups import repository
from mitigauge.upkeep.backups.inventories import inventory_digests
from mitigauge.upkeep.backups.sections import (
    FORMAT,
    MOST_NAMED,
    PIECE_BYTES,
    SUFFIX,
    BlobHead,
    Header,
    KeyHead,
    Manifest,
    TableFigures,
    TableHead,
    Writer,
    check,
)
from mitigauge.upkeep.retention import repository as retention

DIGEST_BYTES = 32
NAMED_BYTES = DIGEST_BYTES + 1
# A raw file up to this size is held in memory while its content is checked.
HELD_BYTES = 64 << 20
# A pruning takes seconds; while one goes on, raw files may go that a snapshot names.
PRUNING_PATIENCE_S = 1800.0
POLL_S = 0.5

Progress = Callable[[str], None]
"""Called often, with what is done now. What it raises ends the backup, which leaves nothing."""


def in_bytes(count: float) -> str:
    """So many bytes in the unit that people read, `12.3 MB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def silent(_words: str) -> None:
    """Nobody follows it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A backup that is whole, and was read again."""

    path: Path
    bytes: int
    header: Header
    manifest: Manifest
    seconds: float


def file_name(at: datetime) -> str:
    """What a backup of that moment (UTC) is called."""
    return f"mitigauge-{at:%Y%m%dT%H%M%SZ}{SUFFIX}"


def part_name(name: str) -> str:
    """What a backup is called until it is whole."""
    return f".{name}.{os.getpid()}.part"


def write_backup(
    engine: Engine, blobs: BlobStore, home: Path, out: Path, progress: Progress = silent
) -> Written:
    """Write a backup to *out*, read it again, and only then give it that name.

    Others write to the database meanwhile; nobody prunes. Raises :class:`Conflict` for a file that
    is there, :class:`InvalidInput` where none can be written, :class:`NotReady` for a database that
    is not at head.
    """
    began = time.monotonic()
    require_head(engine)
    if out.exists():
        raise Conflict(f"{out} is there already", hint="Give another name; no backup is replaced.")
    part = out.with_name(part_name(out.name))
    try:
        with (
            repository.patient_engine(engine) as patient,
            _no_pruning(engine, progress),
            _new_file(part) as stream,
        ):
            _Backup(stream, blobs, home, progress).write(patient)
        size = part.stat().st_size
        header, manifest = read_again(part, out.name, progress)
        if out.exists():
            raise FileExistsError
        part.rename(out)
        _sync_names(out.parent)
    except FileExistsError:
        raise Conflict(f"{out} is there already", hint="Give another name.") from None
    except OSError as error:
        raise InvalidInput(
            f"{out} cannot be written: {error.strerror or error}",
            hint="Give a directory that is there, may be written to, and has room.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return Written(out, size, header, manifest, round(time.monotonic() - began, 3))


def read_again(path: Path, name: str, progress: Progress = silent) -> tuple[Header, Manifest]:
    """Read a backup to its end and compare every digest. Raises :class:`InvalidInput`."""
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        return check(
            stream, name, size, lambda: progress(f"reading it: {_part_of(stream.tell(), size)}")
        )


def _part_of(done: int, whole: int) -> str:
    return f"{100 * min(done / max(whole, 1), 1):.0f}% of {in_bytes(whole)}"


@contextmanager
def _no_pruning(engine: Engine, progress: Progress) -> Iterator[None]:
    """Nobody removes raw files until the block's end."""
    deadline = time.monotonic() + PRUNING_PATIENCE_S
    while True:
        with retention.alone(engine) as alone:
            if alone:
                yield
                return
        if time.monotonic() > deadline:
            raise NotReady(
                "a pruning or another backup has been going on for half an hour",
                hint="See what that process does. If it hangs, end it and try again.",
            )
        progress("waiting for the end of a pruning or of another backup")
        time.sleep(POLL_S)


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """A file for its owner alone, since it holds the access key; on the disk at the block's end."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _sync_names(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class _RawFiles:
    """What was copied of raw files, and what could not be."""

    count: int = 0
    bytes: int = 0
    left_out: int = 0
    unsound: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Backup:
    stream: BinaryIO
    blobs: BlobStore
    home: Path
    progress: Progress

    def write(self, engine: Engine) -> None:
        with repository.snapshot(engine) as connection:
            header = Header(
                format=FORMAT,
                version=VERSION,
                revision=wanted_revision(),
                taken_at=repository.clock(connection),
            )
            writer = Writer(self.stream, header)
            tables = self._tables(writer, connection)
            # Behind the rows: no number of a row is larger.
            sequences = repository.sequences(connection)
            digests, strange = self._digests(connection)
        # The snapshot is given back: copying raw files may take hours.
        key = stored_key(self.home)
        if key is not None:
            writer.add(KeyHead(), [key])
        files = self._raw_files(writer, digests)
        files.unsound += strange
        writer.close(
            Manifest(
                tables=tables,
                sequences=sequences,
                blobs=files.count,
                blob_bytes=files.bytes,
                left_out_blobs=files.left_out,
                unsound_blobs=len(files.unsound),
                unsound=[clean_text(name)[:100] for name in files.unsound[:MOST_NAMED]],
                has_key=key is not None,
                inventories=inventory_digests(self.home),
            )
        )

    def _tables(self, writer: Writer, connection: Connection) -> dict[str, TableFigures]:
        ours = [s for s in repository.shapes(connection) if s.table in whole_metadata().tables]
        found = {}
        for number, shape in enumerate(ours, 1):
            said = f"table {shape.table} ({number} of {len(ours)})"
            head = TableHead(table=shape.table, columns=list(shape.columns))
            rows = repository.copied(connection, shape)
            found[shape.table] = writer.add(head, self._followed(rows, said))
        return found

    def _followed(self, parts: Iterable[bytes], said: str) -> Iterator[bytes]:
        done = told = 0
        self.progress(said)
        for part in parts:
            yield part
            done += len(part)
            if done - told > PIECE_BYTES:
                told = done
                self.progress(f"{said}: {in_bytes(done)}")

    def _digests(self, connection: Connection) -> tuple[bytes, list[str]]:
        """Raw files that rows name, 33 bytes each: SHA-256, and whether they must be there.

        And names that are no SHA-256.
        """
        self.progress("raw files that rows name")
        found, strange = bytearray(), []
        for name, required in repository.named_blobs(connection, whole_metadata()):
            if len(name) == 2 * DIGEST_BYTES and not set(name) - set("0123456789abcdef"):
                found += bytes.fromhex(name) + bytes([required])
            else:
                strange.append(name)
        return bytes(found), strange

    def _raw_files(self, writer: Writer, digests: bytes) -> _RawFiles:
        """Copy them all."""
        files, whole = _RawFiles(), len(digests) // NAMED_BYTES
        for number in range(whole):
            *digest, required = digests[number * NAMED_BYTES :][:NAMED_BYTES]
            said = f"{number + 1:,} of {whole:,} raw files, {in_bytes(files.bytes)} so far"
            self.progress(said)
            self._raw_file(writer, bytes(digest).hex(), files, required=bool(required))
        return files

    def _raw_file(self, writer: Writer, digest: str, files: _RawFiles, *, required: bool) -> None:
        with tempfile.SpooledTemporaryFile(HELD_BYTES, dir=str(self.home)) as held:
            try:
                for piece in self.blobs.get(digest).pieces:
                    held.write(piece)
            except NotFound:
                if required:
                    files.unsound.append(digest)
                else:
                    files.left_out += 1
                return
            except DamagedBlob:
                files.unsound.append(digest)
                return
            held.seek(0)
            files.bytes += writer.add(BlobHead(blob=digest), _read(held)).bytes
            files.count += 1


def _read(held: IO[bytes]) -> Iterator[bytes]:
    while piece := held.read(PIECE_BYTES):
        yield piece
