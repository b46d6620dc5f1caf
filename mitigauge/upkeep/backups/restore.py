"""Putting a backup back: into an empty database and an empty state directory, all or nothing.

Everything is read first. Then raw files, which are named by their content, and the access key are
put where they belong, and last one transaction makes the database. Broken off before, the
database is empty, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from mitigauge.access.audit import schema_upgrade
from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.secret import keep_key, stored_key
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.storage.database.engine import advisory_lock, transaction
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.schema_revision import way_out
from mitigauge.storage.database.schema_upgrade import is_known
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.upkeep.backups import programs, repository
from mitigauge.upkeep.backups.manifest import (
    DATABASE,
    KEY,
    Manifest,
    Progress,
    blob_path,
    damage,
    read_manifest,
    refused,
    silent,
)

# What people miss first, where a database is in use.
FIRST_SAID = ("experiment", "run", "boot", "result", "profile", "kernel", "series", "bisection")
MOST_SAID = 6


def restore(
    engine: Engine, blobs: BlobStore, home: Path, path: Path, progress: Progress = silent
) -> Manifest:
    """Put the backup at *path* into the empty database of *engine*, the empty store and *home*.

    Raises :class:`InvalidInput` for one that is not whole, or is of a newer version;
    :class:`Conflict` where something would be lost. Nothing is changed then.
    """
    manifest = read_manifest(path)
    if not is_known(manifest.revision):
        why = f"it was written by Mitigauge {clean_text(manifest.version)} with schema "
        why += f"{manifest.revision}, which this version does not know"
        way = way_out(manifest.revision, "restore it with that one, upgrade, and back that up")
        raise InvalidInput(f"{path}: {why}", hint=way)
    if wrong := list(damage(path, manifest, progress)):
        more = f" and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        raise refused(path, f"missing or damaged: {', '.join(wrong[:3])}{more}")
    with (
        advisory_lock(engine, Lock.RESTORE) as alone,
        repository.patient_engine(engine) as patient,
    ):
        if not alone:
            raise Conflict(
                "another restore into this database is going on", hint="Wait for its end."
            )
        _Restore(patient, blobs, home, path, manifest, progress).run()
        with transaction(engine) as session:
            audit.record(
                session,
                Action.BACKUP_RESTORE,
                Subject(SubjectKind.BACKUP, path.name),
                after={"taken_at": manifest.taken_at, "schema": manifest.revision},
            )
    return manifest


@dataclass(frozen=True, slots=True)
class _Restore:
    engine: Engine
    blobs: BlobStore
    home: Path
    path: Path
    manifest: Manifest
    progress: Progress

    def run(self) -> None:
        """All of it."""
        self._require_empty()
        for number, digest in enumerate(self.manifest.blobs, 1):
            self.progress(f"{number:,} of {len(self.manifest.blobs):,} raw files")
            with blob_path(self.path, digest).open("rb") as stream:
                if self.blobs.put_stream(stream) != digest:
                    raise refused(self.path, "it changed while it was read")
        if self.manifest.key is not None:
            keep_key(self.home, (self.path / KEY).read_bytes())
        with self.engine.begin() as connection:
            if rows := repository.filled(connection):
                raise _in_use(f"somebody just wrote to the database: {_counted(rows)}")
            repository.drop_all(connection)
        programs.put_back(self.engine, self.path / DATABASE, self.progress)
        self.progress("bringing the schema to this version")
        schema_upgrade.upgrade(self.engine.url.render_as_string(hide_password=False))

    def _require_empty(self) -> None:
        """Raise :class:`Conflict` unless nothing would be lost: what is of this backup may stay."""
        with self.engine.connect() as connection:
            rows = repository.filled(connection)
        if rows:
            raise _in_use(f"the database holds {_counted(rows)}")
        key = stored_key(self.home)
        ours = None if self.manifest.key is None else (self.path / KEY).read_bytes()
        if key is not None and key != ours:
            raise _in_use(f"{self.home} has an access key, under which tokens were made")
        for page in self.blobs.listed():
            if any(stored.digest not in self.manifest.blobs for stored in page):
                raise _in_use(f"the blob store {self.blobs.name} holds raw files")


def _in_use(what: str) -> Conflict:
    return Conflict(
        f"nothing was restored, since it would be lost: {what}",
        hint="A backup goes into an empty database and an empty state directory. Give others with "
        "MITIGAUGE_HOME and MITIGAUGE_DATABASE_URL, or move these aside: see docs/operating.md, "
        "Backup and restore.",
    )


def _counted(rows: Mapping[str, int]) -> str:
    """Tables with their rows, what people miss first."""
    order = [*filter(rows.__contains__, FIRST_SAID), *(t for t in rows if t not in FIRST_SAID)]
    said = ", ".join(
        f"{rows[table]:,} {'row' if rows[table] == 1 else 'rows'} of {table}"
        for table in order[:MOST_SAID]
    )
    more = len(rows) - MOST_SAID
    return said + (f" and of {more} tables more" if more > 0 else "")
