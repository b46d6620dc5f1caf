"""`mitigauge db`: the schema, what is deleted, and what is kept beside."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.backup import backup, check, restore, say_standing
from cli.output import Json, errors, print_json, print_table, remark, say

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.upkeep.retention.schemas import Pruned
    from mitigauge.upkeep.retention.service import Progress

PROGRESS_S = 2.0

app = typer.Typer(no_args_is_help=True)
for each in (backup, restore, check):
    app.command()(each)


@app.callback()
def database() -> None:
    """The database."""


@app.command()
def upgrade() -> None:
    """Bring the schema to the version this program wants; does nothing when it is there.

    Where another upgrade is running, this one waits for its end.
    """
    from mitigauge.access.audit import schema_upgrade
    from mitigauge.storage.database.engine import database_url

    done = schema_upgrade.upgrade(database_url(), say=say)
    if done.before == done.after:
        say(f"schema is at {done.after} already")
    elif done.applied:
        say(f"schema upgraded from {done.before or 'nothing'} to {done.after}")
    else:
        say(f"schema is at {done.after} now; nothing was left to do")


@app.command()
def status() -> None:
    """Show the schema's version, the one this program wants, and how old the last backup is."""
    from mitigauge.storage.database import schema_upgrade
    from mitigauge.storage.database.engine import get_engine

    current, head = schema_upgrade.revisions(get_engine())
    say(f"schema {current or 'nothing'}, wanted {head}")
    if current == head:
        say_standing()


@app.command()
def prune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Delete what is old and serves nobody: never a value, a verdict or what proves it.

    MITIGAUGE_RETENTION_… say how long things are kept; docs/operating.md lists them.
    """
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.database.engine import get_engine, require_head
    from mitigauge.upkeep.retention.service import prune as pruning

    require_head(get_engine())
    with _show_progress() as progress:
        pruned = pruning(get_engine(), get_settings(), dry_run=dry_run, progress=progress)
    if json:
        print_json(pruned)
    else:
        _print(pruned)
    if any(kind.error for kind in pruned.removed):
        raise typer.Exit(1)


@contextmanager
def _show_progress() -> Iterator[Progress]:
    """Progress on stderr: where that is no terminal a line now and then, else a moving one."""
    if errors().is_terminal:
        with errors().status("pruning") as status:
            yield lambda kind, count: status.update(f"pruning: {kind} {count:,}")
        return
    due = time.monotonic() + PROGRESS_S

    def line(kind: str, count: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            remark(f"pruning: {kind} {count:,}")
            due = time.monotonic() + PROGRESS_S

    yield line


def _print(pruned: Pruned) -> None:
    if pruned.skipped:
        say(f"nothing was done: {pruned.skipped}")
        return
    from rich.filesize import decimal

    went = [kind for kind in pruned.removed if kind.count]
    print_table(
        ["what", "would go" if pruned.dry_run else "went", "size"],
        [[kind.kind, f"{kind.count:,}", decimal(kind.bytes)] for kind in went],
        empty="nothing is old enough to go; `mitigauge db prune --help` says who decides that",
    )
    for kind in pruned.removed:
        if kind.error:
            remark(f"not all of the {kind.kind}: {kind.error}")
