"""`mitigauge db backup`, `restore` and `check`: what is kept, and whether it is sound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, errors, print_json, print_table, remark, say

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.upkeep.backups.schemas import UnsoundBlob

PROGRESS_S = 2.0


def backup(
    to: Annotated[
        Path | None,
        typer.Argument(
            help="A new name, or a directory to make it in. Else MITIGAUGE_BACKUP_DIRECTORY."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write database, raw files and the access key to a new directory, and read it again.

    The service goes on meanwhile. Keep it secret: who has the key can make tokens.

    Example: mitigauge db backup /srv/backups
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.database.engine import get_engine
    from mitigauge.upkeep.backups import service

    settings = get_settings()
    out = service.place_for(to, settings)
    with _followed("backup") as progress:
        written = service.take_backup(get_engine(), settings, out, progress=progress)
    if json:
        print_json(written.manifest)
        return
    say(f"{out}: {service.in_words(written)}")


def restore(
    backup: Annotated[Path, typer.Argument(help="A directory that `db backup` wrote.")],
) -> None:
    """Put a backup into an empty database and an empty state directory: all of it, or nothing.

    Broken off, the same command goes on. Nothing that is there is ever replaced.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.database.engine import get_engine
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.upkeep.backups.restore import restore as put_back

    settings = get_settings()
    settings.home.mkdir(parents=True, exist_ok=True)
    with _followed("restore") as progress:
        done = put_back(get_engine(), blob_store(settings), settings.home, backup, progress)
    say(
        f"restored as of {done.taken_at:%Y-%m-%d %H:%M:%S} UTC: the database, "
        f"{len(done.blobs):,} raw files"
        + (", the access key" if done.key is not None else "; it holds no access key")
    )
    if done.unsound_blobs:
        remark(f"note: {done.unsound_blobs:,} raw files were missing or damaged by then")


def check(
    backup: Annotated[
        Path | None, typer.Argument(help="A backup, in place of the service's own raw files.")
    ] = None,
    json: Json = False,
) -> None:
    """Read every raw file that the database names, or every file of a backup.

    Exit code 1 where one is missing or damaged.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.database.engine import get_engine, require_head
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.upkeep.backups.blob_check import check_blobs
    from mitigauge.upkeep.backups.manifest import in_bytes

    if backup is not None:
        _check_backup(backup, json=json)
        return
    require_head(get_engine())
    with _followed("check") as progress:
        found = check_blobs(get_engine(), blob_store(get_settings()), progress)
    if json:
        print_json(found)
    else:
        sound = found.checked - len(found.unsound)
        say(f"{sound:,} of {found.checked:,} raw files are sound, {in_bytes(found.bytes)} read")
        if found.left_out:
            say(f"{found.left_out:,} more were left out of what was imported")
        if found.unsound:
            _print(found.unsound)
    if found.unsound:
        raise typer.Exit(1)


def _check_backup(backup: Path, *, json: bool) -> None:
    from mitigauge.upkeep.backups.manifest import damage, in_bytes, read_manifest
    from mitigauge.upkeep.backups.schemas import BackupCheck

    manifest = read_manifest(backup)
    with _followed("check") as progress:
        wrong = list(damage(backup, manifest, progress))
    if json:
        print_json(BackupCheck(bytes=manifest.bytes, damaged=wrong))
    elif wrong:
        print_table(["missing or damaged"], [[name] for name in wrong], empty="")
    else:
        say(f"{backup} is whole: {in_bytes(manifest.bytes)}")
    if wrong:
        raise typer.Exit(1)


def say_standing() -> None:
    """Say how old the latest backup is."""
    from mitigauge.storage.database.engine import database_now, transaction
    from mitigauge.upkeep.backups.manifest import in_bytes
    from mitigauge.upkeep.backups.repository import last_finished

    with transaction() as session:
        last, now = last_finished(session), database_now(session)
    if last is None:
        say("no backup was taken yet: `mitigauge db backup DIRECTORY` takes one")
        return
    age_s = max((now - last.taken_at).total_seconds(), 0.0)
    read = "read again" if last.verified else "not read again"
    gone = "" if Path(last.path).exists() else ", not on this machine"
    say(
        f"last backup {last.taken_at:%Y-%m-%d %H:%M} UTC, {_age(age_s)} ago, "
        f"{in_bytes(last.bytes)}, {read}: {last.path}{gone}"
    )


def _age(seconds: float) -> str:
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 72 * 3600 else f"{seconds / 86400:.0f} days"


def _print(unsound: list[UnsoundBlob]) -> None:
    rows = []
    for blob in unsound:
        for naming in blob.named_by:
            more = naming.count - len(naming.rows)
            keys = ", ".join(naming.rows) + (f" and {more:,} more" if more else "")
            rows.append([blob.fault, blob.digest, f"{naming.table}.{naming.column}", keys])
    print_table(["is", "raw file", "named by", "rows"], rows, empty="")
    remark("Put them back from a backup; see docs/operating.md, Raw files.")


@contextmanager
def _followed(what: str) -> Iterator[Callable[[str], None]]:
    """Progress on stderr: where that is no terminal a line now and then, else a moving one."""
    if errors().is_terminal:
        with errors().status(what) as status:
            yield lambda words: status.update(f"{what}: {words}")
        return
    due = time.monotonic() + PROGRESS_S

    def line(words: str) -> None:
        nonlocal due
        if time.monotonic() >= due:
            remark(f"{what}: {words}")
            due = time.monotonic() + PROGRESS_S

    yield line
