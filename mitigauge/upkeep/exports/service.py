"""Importing a file, whichever version of this program wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.errors import InvalidInput
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.trends.update import update_quietly
from mitigauge.upkeep.exports import reader
from mitigauge.upkeep.exports.lines import (
    LARGEST_FILE,
    Header,
    Line,
    check,
    read_lines,
    refused,
)
from mitigauge.upkeep.exports.old_files import at_head


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a file."""

    experiment_id: int
    header: Header
    is_new: bool
    """False: it was here already."""


def import_experiment(engine: Engine, path: Path, blobs: BlobStore) -> Imported:
    """Take in a file that :func:`~mitigauge.upkeep.exports.writer.export_experiment` wrote.

    All of it is stored or nothing. One whose experiment is here already changes nothing. A file
    of an older revision of the schema is brought to this one in a database of its own. Raises
    :class:`InvalidInput` for a file that is damaged or holds what an experiment cannot hold.
    """
    name = path.name
    with _opened(path) as stream:
        header = check(stream, name)

        def again() -> Iterator[tuple[Line, int]]:
            stream.seek(0)
            return read_lines(stream, name)

        with transaction(engine) as session:
            known = reader.already_here(session, again())
        if known is not None:
            return Imported(known, header, is_new=False)
        with at_head(engine, header, again, name) as lines, transaction(engine) as session:
            number = reader.import_lines(session, header, lines, name=name, blobs=blobs)
            audit.record(
                session,
                Action.EXPERIMENT_IMPORT,
                Subject(SubjectKind.EXPERIMENT, number),
                after={"file": name, "recorded_at": header.recorded_at},
            )
    # What an older version wrote has no verdicts stored.
    conclude_closed(engine)
    update_quietly(engine)
    return Imported(number, header, is_new=True)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as stream:
            if path.stat().st_size > LARGEST_FILE:
                raise refused(path.name, f"it is over {LARGEST_FILE >> 20} MiB")
            yield stream
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror or error}",
            hint="Give a file that `mitigauge experiment export` wrote.",
        ) from error
