"""Taking a backup: one snapshot of the database, then the raw files that it names.

Raw files are written once and never changed, so what a snapshot names is still there after it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine

from mitigauge.access.secret import stored_key
from mitigauge.core.errors import Conflict, InvalidInput, NotFound, NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.version import VERSION
from mitigauge.storage.database.engine import require_head
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.database.schema_revision import wanted_revision
from mitigauge.storage.files.blobs import BlobStore, DamagedBlob
from mitigauge.upkeep.backups import programs, repository
from mitigauge.upkeep.backups.manifest import (
    DATABASE,
    KEY,
    MANIFEST,
    MOST_NAMED,
    SUFFIX,
    Figures,
    Manifest,
    Progress,
    blob_path,
    damage,
    digest_of,
    in_bytes,
    read_manifest,
    silent,
)
from mitigauge.upkeep.retention import repository as retention

# A pruning takes seconds; while one goes on, raw files may go that a snapshot names.
PRUNING_PATIENCE_S = 1800.0
POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Written:
    """A backup that is whole, and was read again."""

    path: Path
    manifest: Manifest
    seconds: float


def backup_name(at: datetime) -> str:
    """What a backup of that moment (UTC) is called."""
    return f"mitigauge-{at:%Y%m%dT%H%M%SZ}{SUFFIX}"


def write_backup(
    engine: Engine, blobs: BlobStore, home: Path, out: Path, progress: Progress = silent
) -> Written:
    """Write a backup to the directory *out*, read it again, and only then give it that name.

    Others write to the database meanwhile; nobody prunes. Raises :class:`Conflict` for a name that
    is taken, :class:`InvalidInput` where nothing can be written, :class:`NotReady` for a database
    that is not at head.
    """
    began = time.monotonic()
    require_head(engine)
    if out.exists():
        raise Conflict(f"{out} is there already", hint="Give another name; no backup is replaced.")
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        # For its owner alone: it holds the access key.
        part.mkdir(mode=0o700)
        with repository.patient_engine(engine) as patient, _no_pruning(engine, progress):
            manifest = _Backup(part, blobs, home, progress).write(patient)
        if wrong := next(damage(part, manifest, progress), ""):
            raise NotReady(f"{out} was not written well: {wrong}", hint="See to that disk.")
        _sync_names(part)
        part.rename(out)
        _sync_names(out.parent)
    except OSError as error:
        raise InvalidInput(
            f"{out} cannot be written: {error.strerror or error}",
            hint="Give a directory that is there, may be written to, and has room.",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Written(out, manifest, round(time.monotonic() - began, 3))


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


def _sync_names(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class _Backup:
    """One that is being written to *place*."""

    place: Path
    blobs: BlobStore
    home: Path
    progress: Progress
    copied: dict[str, int] = field(default_factory=dict)
    unsound: list[str] = field(default_factory=list)
    left_out: int = 0

    def write(self, engine: Engine) -> Manifest:
        with repository.snapshot(engine) as connection:
            taken_at = repository.clock(connection)
            snapshot = repository.export_snapshot(connection)
            database = programs.dump(engine, snapshot, self.place / DATABASE, self.progress)
            named = list(repository.named_blobs(connection, whole_metadata()))
        # The snapshot is given back: copying raw files may take hours.
        key = stored_key(self.home)
        if key is not None:
            _write(self.place / KEY, [key])
        earlier = self._earlier()
        for number, (digest, required) in enumerate(named, 1):
            size = in_bytes(sum(self.copied.values())) if number % 100 == 0 else ""
            self.progress(f"{number:,} of {len(named):,} raw files {size}".strip())
            self._copy(digest, earlier, required=required)
        manifest = Manifest(
            version=VERSION,
            revision=wanted_revision(),
            taken_at=taken_at,
            database=database,
            key=None
            if key is None
            else Figures(bytes=len(key), sha256=hashlib.sha256(key).hexdigest()),
            blobs=self.copied,
            left_out_blobs=self.left_out,
            unsound_blobs=len(self.unsound),
            unsound=[clean_text(name)[:100] for name in self.unsound[:MOST_NAMED]],
        )
        _write(self.place / MANIFEST, [manifest.model_dump_json(indent=1).encode()])
        return manifest

    def _earlier(self) -> Path | None:
        """The latest backup beside this one, whose raw files need no second copy."""
        beside = sorted(self.place.parent.glob(f"[!.]*{SUFFIX}"), reverse=True)
        for backup in beside:
            try:
                read_manifest(backup)
            except InvalidInput:
                continue
            return backup
        return None

    def _copy(self, digest: str, earlier: Path | None, *, required: bool) -> None:
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            self.unsound.append(digest)
            return
        out = blob_path(self.place, digest)
        out.parent.mkdir(parents=True, exist_ok=True)
        if earlier is not None and digest_of(there := blob_path(earlier, digest)) == digest:
            os.link(there, out)
        else:
            try:
                _write(out, self.blobs.get(digest).pieces)
            except (NotFound, DamagedBlob) as error:
                out.unlink(missing_ok=True)
                if isinstance(error, NotFound) and not required:
                    self.left_out += 1
                else:
                    self.unsound.append(digest)
                return
        self.copied[digest] = out.stat().st_size


def _write(path: Path, pieces: Iterator[bytes] | list[bytes]) -> None:
    with path.open("xb") as stream:
        path.chmod(0o600)
        stream.writelines(pieces)
        stream.flush()
        os.fsync(stream.fileno())
