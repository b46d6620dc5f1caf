"""Backups as they are taken, noted and, when they are old, removed."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from glob import escape
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import Settings
from mitigauge.storage.database.engine import (
    Fence,
    database_now,
    require_head,
    transaction,
    unfenced,
)
from mitigauge.storage.files.blobs import blob_store
from mitigauge.upkeep.backups import repository
from mitigauge.upkeep.backups.manifest import (
    OLD_SUFFIX,
    SUFFIX,
    Manifest,
    Progress,
    damage,
    in_bytes,
    read_manifest,
    silent,
)
from mitigauge.upkeep.backups.rule import to_stay
from mitigauge.upkeep.backups.tables import Backup
from mitigauge.upkeep.backups.writer import Written, backup_name, write_backup

# Whoever wrote one that is not finished after so long is gone.
ABANDONED = timedelta(days=1)


def place_for(given: Path | None, settings: Settings) -> Path:
    """Where a backup goes: *given* as a new name or a directory, else the settings' directory.

    Raises :class:`InvalidInput` where neither is given.
    """
    if given is not None and not given.is_dir():
        return given
    if given is None and not settings.backup_directory:
        raise InvalidInput(
            "it is not said where the backup goes",
            hint="Give a new name or a directory, or set MITIGAUGE_BACKUP_DIRECTORY.",
        )
    return (given or Path(settings.backup_directory)) / backup_name(datetime.now(UTC))


def take_backup(
    engine: Engine,
    settings: Settings,
    out: Path,
    *,
    scheduled: bool = False,
    progress: Progress = silent,
    fence: Fence = unfenced,
) -> Written:
    """Write a backup to *out*, and note it in the table of backups.

    Its own row is in it, not finished yet. Raises as
    :func:`~mitigauge.upkeep.backups.writer.write_backup` does.
    """
    require_head(engine)
    with transaction(engine, fence) as session:
        backup = Backup(path=str(out.resolve()), scheduled=scheduled)
        session.add(backup)
        session.flush()
        number = backup.id
    try:
        written = write_backup(engine, blob_store(settings), settings.home, out, progress)
    except BaseException:
        with transaction(engine) as session:
            _forget(session, number)
        raise
    with transaction(engine, fence) as session:
        _finish(session, number, written.manifest)
    return written


def in_words(written: Written) -> str:
    """What a backup holds, for people."""
    manifest = written.manifest
    said = (
        f"the database, {len(manifest.blobs):,} raw files, {in_bytes(manifest.bytes)}, "
        f"read again, {written.seconds:,.1f} s"
    )
    if manifest.unsound_blobs:
        said += (
            f"; {manifest.unsound_blobs:,} raw files that rows name are missing or damaged: see "
            "`mitigauge db check`"
        )
    return said


def seconds_until_due(engine: Engine, hours: float) -> float:
    """Seconds until the service itself is to take one, *hours* after the last; 0: now.

    One from the future says that a clock was wrong, and puts off nothing.
    """
    with transaction(engine) as session:
        last = repository.last_finished(session, scheduled_only=True)
        if last is None:
            return 0.0
        age = database_now(session) - last.taken_at
        wait = timedelta(hours=hours) - age
        return max(wait.total_seconds(), 0.0) if age >= timedelta() else 0.0


def remove_old(engine: Engine, settings: Settings, fence: Fence = unfenced) -> list[Path]:
    """Remove the service's own backups that the rule lets go; those that went.

    Only files of the settings' directory that a row names go. One whose taking was cut off goes
    too, or is noted where only the note was missing.
    """
    directory = Path(settings.backup_directory).resolve()
    went = []
    with transaction(engine, fence) as session:
        now = database_now(session)
        there = [
            backup
            for backup in repository.scheduled_there(session)
            if Path(backup.path).parent == directory and backup.path.endswith((SUFFIX, OLD_SUFFIX))
        ]
        for backup in there:
            if backup.finished_at is None and backup.taken_at < now - ABANDONED:
                _settle(session, backup)
            elif backup.finished_at is not None and not Path(backup.path).exists():
                backup.removed_at = now
        finished = [each for each in there if each.finished_at and not each.removed_at]
        stay = to_stay([each.taken_at for each in finished], now, settings.backup_keep_days)
        for backup in finished:
            if backup.taken_at not in stay:
                _remove(Path(backup.path))
                backup.removed_at = now
                audit.record(session, Action.BACKUP_REMOVE, _subject(backup))
                went.append(Path(backup.path))
    return went


def _settle(session: Session, backup: Backup) -> None:
    """Whoever took it is gone: what has its name is whole, anything else is litter."""
    path = Path(backup.path)
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        _remove(part)
    try:
        manifest = read_manifest(path)
        is_whole = not any(damage(path, manifest))
    except (OSError, InvalidInput):
        is_whole = False
    if is_whole:
        _finish(session, backup.id, manifest)
    else:
        session.delete(backup)


def _remove(path: Path) -> None:
    if path.is_dir():
        # Without its name first: what is half removed looks like no backup.
        shutil.rmtree(path.rename(path.with_name(f".{path.name}.removed.part")))
    else:
        path.unlink(missing_ok=True)


def _finish(session: Session, number: int, manifest: Manifest) -> None:
    backup = session.get(Backup, number)
    if backup is None:
        return
    backup.taken_at = manifest.taken_at
    backup.finished_at = database_now(session)
    backup.verified = True
    backup.bytes = manifest.bytes
    backup.blobs = len(manifest.blobs)
    backup.unsound_blobs = manifest.unsound_blobs
    after = {
        "path": backup.path, "scheduled": backup.scheduled, "bytes": manifest.bytes,
        "blobs": len(manifest.blobs),
    }  # fmt: skip
    audit.record(session, Action.BACKUP_TAKE, _subject(backup), after=after)


def _subject(backup: Backup) -> Subject:
    return Subject(SubjectKind.BACKUP, backup.path)


def _forget(session: Session, number: int) -> None:
    backup = session.get(Backup, number)
    if backup is not None:
        session.delete(backup)
