"""Putting a backup back: into an empty database and an empty state directory, all or nothing.

The database is marked first, so that nobody takes it for whole. Then one transaction takes all
rows; before it is committed, the access key and the raw files, which are named by their content,
are put where they belong. The mark goes with that commit. Broken off anywhere before, the same
command goes on.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import psycopg
from alembic import command
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from mitigauge.access.audit import schema_upgrade
from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.secret import keep_key, stored_key
from mitigauge.core.errors import Conflict, InvalidInput, NotReady
from mitigauge.core.hostile_text import clean_text, quoted
from mitigauge.storage.database.engine import (
    advisory_lock,
    alembic_config,
    in_words,
    schema_revisions,
    transaction,
)
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.schema_revision import RESTORING, wanted_revision, way_out
from mitigauge.storage.database.schema_upgrade import is_known
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.upkeep.backups import repository
from mitigauge.upkeep.backups.inventories import inventory_digests
from mitigauge.upkeep.backups.repository import Shape
from mitigauge.upkeep.backups.sections import (
    BlobHead,
    Header,
    KeyHead,
    Manifest,
    Section,
    TableFigures,
    TableHead,
    figures_of,
    read_header,
    refused,
    sections,
)
from mitigauge.upkeep.backups.writer import Progress, in_bytes, read_again, silent

# Raw files up to this size are held in memory; larger ones pass through a file.
HELD_BYTES = 16 << 20
# The database and its indexes beside the rows as text, about.
ROOM_PER_BYTE = 3
# What people miss first, where a database is in use.
FIRST_SAID = ("experiment", "run", "boot", "result", "profile", "kernel", "series", "bisection")
MOST_SAID = 6


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    header: Header
    manifest: Manifest
    inventories: list[str]
    """Names of those that differ on this machine, or are missing on it."""


def restore(
    engine: Engine, blobs: BlobStore, home: Path, path: Path, progress: Progress = silent
) -> Restored:
    """Put the backup at *path* into the empty database of *engine*, the empty store and *home*.

    The whole file is read first. Raises :class:`InvalidInput` for one that is not whole, or is of
    a newer version; :class:`Conflict` where something would be lost. Nothing is changed then.
    """
    with _opened(path) as stream:
        _require_known(read_header(stream, path.name, _size(stream)), path.name)
        header, manifest = read_again(path, path.name, progress)
        with (
            advisory_lock(engine, Lock.RESTORE) as alone,
            repository.patient_engine(engine) as patient,
        ):
            if not alone:
                raise Conflict(
                    "another restore into this database is going on", hint="Wait for its end."
                )
            work = _Restore(patient, blobs, home, stream, path.name, header, manifest, progress)
            work.run()
            if not work.is_of_this_version:
                with transaction(engine) as session:
                    _record(session, path.name, header, manifest)
    here = inventory_digests(home)
    other = [name for name, digest in manifest.inventories.items() if here.get(name) != digest]
    return Restored(header, manifest, other)


def _record(session: Session, name: str, header: Header, manifest: Manifest) -> None:
    audit.record(
        session,
        Action.BACKUP_RESTORE,
        Subject(SubjectKind.BACKUP, name),
        after={"taken_at": header.taken_at, "rows": manifest.rows, "schema": header.revision},
    )


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror or error}",
            hint="Give a file that `mitigauge db backup` wrote.",
        ) from error
    with stream:
        yield stream


def _size(stream: BinaryIO) -> int:
    return os.fstat(stream.fileno()).st_size


def _require_known(header: Header, name: str) -> None:
    if not is_known(header.revision):
        raise refused(
            name,
            f"it was written by Mitigauge {clean_text(header.version)} with schema "
            f"{header.revision}, which this version does not know. "
            + way_out(header.revision, "restore it with that one, upgrade, and back that up"),
        )


@dataclass(frozen=True, slots=True)
class _Restore:
    engine: Engine
    blobs: BlobStore
    home: Path
    stream: BinaryIO
    name: str
    header: Header
    manifest: Manifest
    progress: Progress

    @property
    def is_of_this_version(self) -> bool:
        """Whether the backup's schema is the one that this program wants."""
        return self.header.revision == wanted_revision()

    @property
    def _marked(self) -> str:
        return RESTORING + self.header.revision

    @property
    def _url(self) -> str:
        return self.engine.url.render_as_string(hide_password=False)

    def run(self) -> None:
        """All of it."""
        revision = schema_revisions(self.engine)[0]
        goes_on = revision == self._marked
        self._require_empty(revision, goes_on=goes_on)
        self._require_room()
        if not goes_on:
            self._mark(revision)
        self._put_all()
        self.progress("bringing the schema to this version")
        schema_upgrade.upgrade(self._url)

    def _require_empty(self, revision: str | None, *, goes_on: bool) -> None:
        """Raise :class:`Conflict` unless nothing would be lost."""
        if revision and revision.startswith(RESTORING) and not goes_on:
            raise Conflict(
                "the restore of a backup of another version was broken off in this database",
                hint="Go on with that one; or drop the database and make it anew, empty.",
            )
        with self.engine.connect() as connection:
            rows = repository.filled(connection, repository.shapes(connection))
        if rows:
            raise _in_use(f"the database holds {_counted(rows)}")
        if revision and not goes_on and not is_known(revision):
            raise Conflict(
                f"the database has schema {revision}, which this version does not know",
                hint="Drop it and make it anew, empty.",
            )
        key = stored_key(self.home)
        if key is not None and not (goes_on and self.manifest.has_key):
            raise _in_use(f"{self.home} has an access key, under which tokens were made")
        if not goes_on and next(self.blobs.listed(), []):
            raise _in_use(f"the blob store {self.blobs.name} holds raw files")

    def _require_room(self) -> None:
        wanted = self.manifest.blob_bytes if self.blobs.directory else 0
        if (self.home / "postgres").exists():
            wanted += ROOM_PER_BYTE * self.manifest.table_bytes
        free = shutil.disk_usage(self.blobs.directory or self.home).free
        if wanted > free:
            raise NotReady(
                f"the backup needs some {wanted:,} bytes and {self.home} has {free:,} left",
                hint="Make room there; nothing was changed.",
            )

    def _mark(self, revision: str | None) -> None:
        """Bring the empty schema to the backup's revision, and say that rows will come."""
        self.progress("making tables")
        config, wanted = alembic_config(self._url), self.header.revision
        if revision is not None and revision > wanted:
            command.downgrade(config, wanted)
        else:
            command.upgrade(config, wanted)
        with self.engine.begin() as connection:
            self._require_still_empty(connection)
            repository.set_revision(connection, self._marked)

    def _require_still_empty(self, connection: Connection) -> list[Shape]:
        shapes = repository.shapes(connection)
        if rows := repository.filled(connection, shapes):
            raise _in_use(f"somebody just wrote to the database: {_counted(rows)}")
        return shapes

    def _sections(self) -> Iterator[Section]:
        return sections(self.stream, self.name, _size(self.stream))

    def _put_all(self) -> None:
        files = _Files(self.blobs, self.home, self.manifest.blobs, self.progress, self.name)
        try:
            with self.engine.begin() as connection:
                sections = self._sections()
                first = self._put_rows(connection, sections)
                # Behind the rows: of a file that the database refuses nothing is left.
                files.put(first, sections)
        except Exception:
            if not files.touched:
                self._unmark()
            raise

    def _put_rows(self, connection: Connection, sections: Iterator[Section]) -> Section | None:
        """All rows, and the mark taken away; the first section that is no table's."""
        repository.spell(connection)
        shapes = {shape.table: shape for shape in self._require_still_empty(connection)}
        if lacking := sorted(set(shapes) - set(self.manifest.tables)):
            raise refused(self.name, f"it lacks the table {lacking[0]}")
        references = repository.references(connection)
        repository.drop_references(connection, references)
        left, section = dict(self.manifest.tables), next(sections, None)
        while section is not None and isinstance(section.head, TableHead):
            head, count = section.head, len(self.manifest.tables)
            said = f"table {head.table} ({count - len(left) + 1} of {count})"
            shape = self._shape(shapes, head)
            self._put_table(connection, shape, section.pieces, said)
            self._compare(connection, shape, left.pop(head.table), said)
            section = next(sections, None)
        self.progress("comparing what rows point at")
        with self._taken("what rows point at"):
            repository.add_references(connection, references)
        self._set_sequences(connection)
        if self.is_of_this_version:
            # Else once the schema is this version's.
            with Session(connection) as session, session.begin():
                _record(session, self.name, self.header, self.manifest)
        repository.set_revision(connection, self.header.revision)
        return section

    def _unmark(self) -> None:
        """Nothing was put anywhere: the database is empty, as it was."""
        with suppress(DBAPIError), self.engine.begin() as connection:
            repository.set_revision(connection, self.header.revision)

    def _shape(self, shapes: Mapping[str, Shape], head: TableHead) -> Shape:
        shape = shapes.get(head.table)
        if shape is None:
            raise refused(self.name, f"it has a table {head.table}, which is none of ours")
        if sorted(shape.columns) != sorted(head.columns):
            raise refused(self.name, f"its table {head.table} has other columns than ours")
        return Shape(shape.table, tuple(head.columns), shape.key, shape.text_key)

    def _put_table(
        self, connection: Connection, shape: Shape, pieces: Iterator[bytes], said: str
    ) -> None:
        with self._taken(shape.table):
            repository.put_copied(connection, shape, _followed(pieces, said, self.progress))

    def _compare(
        self, connection: Connection, shape: Shape, promised: TableFigures, said: str
    ) -> None:
        """What the table holds now must be what was in it."""
        self.progress(f"{said}: comparing")
        if figures_of(repository.copied(connection, shape)) != promised:
            raise refused(self.name, f"rows of {shape.table} are not those of its manifest")

    def _set_sequences(self, connection: Connection) -> None:
        ours, given = repository.sequences(connection), self.manifest.sequences
        if unknown := set(given) - set(ours):
            raise refused(self.name, f"it has a sequence {min(unknown)}, which is none of ours")
        repository.set_sequences(connection, given)

    @contextmanager
    def _taken(self, what: str) -> Iterator[None]:
        try:
            yield
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            said = quoted(in_words(error), 300)
            raise refused(self.name, f"{what}: not taken by the database: {said}") from None


@dataclass(slots=True)
class _Files:
    """The access key and raw files on their way to where they belong."""

    blobs: BlobStore
    home: Path
    count: int
    progress: Progress
    name: str
    touched: bool = False

    def put(self, first: Section | None, others: Iterator[Section]) -> None:
        """All of them."""
        done, section = 0, first
        while section is not None:
            self.touched = True
            if isinstance(section.head, KeyHead):
                keep_key(self.home, b"".join(section.pieces))
            elif isinstance(section.head, BlobHead):
                done += 1
                self.progress(f"{done:,} of {self.count:,} raw files")
                self._put_blob(section.head.blob, section.pieces)
            section = next(others, None)

    def _put_blob(self, digest: str, pieces: Iterator[bytes]) -> None:
        with tempfile.SpooledTemporaryFile(HELD_BYTES, dir=str(self.home)) as held:
            for piece in pieces:
                held.write(piece)
            if self.blobs.put_stream(held) != digest:
                raise refused(self.name, "it changed while it was read")


def _followed(pieces: Iterator[bytes], said: str, progress: Progress) -> Iterator[bytes]:
    done = 0
    for piece in pieces:
        progress(f"{said}: {in_bytes(done)}")
        yield piece
        done += len(piece)


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
