"""`mitigauge experiment export` and `import`: one whole experiment as a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_name import Id
from cli.output import errors, remark, say
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.upkeep.exports.service import Imported


def export(
    experiment_id: Id,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")],
    raw: Annotated[
        bool, typer.Option("--raw/--no-raw", help="With raw files of boots and profiles.")
    ] = True,
) -> None:
    """Write an experiment that is over, with all that belongs to it, to one file.

    `mitigauge experiment import` reads it, here or elsewhere, in this version or a later one.

    Example: mitigauge experiment export 1 --no-raw -o lab-demo.mitigauge.zst
    """
    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.upkeep.exports.writer import export_experiment

    # Written beside its place, so that a file of that name is always whole.
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with errors().status("exporting"), stored() as session, part.open("xb") as stream:
            blobs = blob_store(get_settings()) if raw else None
            done = export_experiment(session, experiment_id, stream, blobs)
        part.replace(out)
    except OSError as error:
        raise InvalidInput(
            f"{out} cannot be written: {error.strerror}", hint="Give another file with --out."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    if done.missing_blobs:
        remark(f"note: {done.missing_blobs} raw files are not there any more")
    say(
        f"{out}: {done.rows} rows, {done.profiles} profiles, {done.blobs} raw files, "
        f"{out.stat().st_size / 1000:.0f} kB"
    )


def import_(
    file: Annotated[Path, typer.Argument(help="A file that `experiment export` wrote.")],
) -> None:
    """Take in an experiment from a file, as recorded: with date and hosts, never run again here."""
    done = take_in(file)
    if not done.is_new:
        say(f"experiment {done.experiment_id}: was here already, nothing changed")
        return
    say(
        f"experiment {done.experiment_id}: {done.header.name}, recorded "
        f"{done.header.recorded_at:%Y-%m-%d} on {done.header.recorded_from}"
    )
    say(f"see it with `mitigauge experiment show {done.experiment_id}` or `mitigauge serve`")


def take_in(file: Path) -> Imported:
    """Import a file into the configured database. Raises :class:`InvalidInput`."""
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.database import engine as database
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.upkeep.exports.service import import_experiment

    with stored():
        pass
    with errors().status("importing"):
        return import_experiment(database.get_engine(), file, blob_store(get_settings()))
