"""Whether every raw file that rows name is there, and is what its name says."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sqlalchemy import Engine

from mitigauge.core.errors import NotFound
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import BlobStore, DamagedBlob
from mitigauge.upkeep.backups import repository
from mitigauge.upkeep.backups.manifest import Progress, in_bytes, silent
from mitigauge.upkeep.backups.schemas import BlobCheck, Fault, Naming, UnsoundBlob
from mitigauge.upkeep.retention.repository import naming_columns

ROWS_NAMED = 20


def check_blobs(engine: Engine, blobs: BlobStore, progress: Progress = silent) -> BlobCheck:
    """Read every raw file that a row names.

    Raises :class:`mitigauge.core.errors.NotReady` if the store does not answer.
    """
    began = time.monotonic()
    progress("raw files that rows name")
    with repository.patient_engine(engine) as patient, repository.snapshot(patient) as connection:
        named = list(repository.named_blobs(connection, whole_metadata()))
    size, left_out, unsound = 0, 0, []
    for number, (digest, required) in enumerate(named, 1):
        progress(f"{number:,} of {len(named):,} raw files, {in_bytes(size)} so far")
        try:
            size += sum(len(piece) for piece in blobs.get(digest).pieces)
        except NotFound:
            if not required:
                left_out += 1
                continue
            unsound.append((digest, Fault.MISSING))
        except DamagedBlob:
            unsound.append((digest, Fault.DAMAGED))
    return BlobCheck(
        checked=len(named) - left_out,
        bytes=size,
        seconds=round(time.monotonic() - began, 3),
        left_out=left_out,
        unsound=list(_named(engine, unsound)),
    )


def _named(engine: Engine, unsound: list[tuple[str, Fault]]) -> Iterator[UnsoundBlob]:
    """Those that rows still name: one that was let go meanwhile may be gone."""
    for digest, fault in unsound:
        with transaction(engine) as session:
            named_by = []
            for column in naming_columns(whole_metadata()):
                count, rows = repository.rows_naming(session, column, digest, ROWS_NAMED)
                if count:
                    named_by.append(
                        Naming(table=column.table.name, column=column.name, count=count, rows=rows)
                    )
        if named_by:
            yield UnsoundBlob(digest=digest, fault=fault, named_by=named_by)
