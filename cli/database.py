"""`mitigauge db`: the schema."""

from __future__ import annotations

import typer
from rich.text import Text

from cli.output import console
from mitigauge import schema_upgrade
from mitigauge.database import database_url, get_engine, schema_revisions

app = typer.Typer(help="The database: bring its schema up to date.", no_args_is_help=True)


@app.callback()
def database() -> None:
    """The database."""


@app.command()
def upgrade() -> None:
    """Bring the schema to the version this program wants; does nothing when it is there.

    Where another upgrade is running, this one waits for its end.
    """
    done = schema_upgrade.upgrade(database_url(), say=lambda line: console.print(Text(line)))
    if done.before == done.after:
        console.print(f"schema is at {done.after} already")
    elif done.applied:
        console.print(f"schema upgraded from {done.before or 'nothing'} to {done.after}")
    else:
        console.print(f"schema is at {done.after} now; nothing was left to do")


@app.command()
def status() -> None:
    """Show the schema's version and the one this program wants."""
    current, head = schema_revisions(get_engine())
    console.print(f"schema {current or 'nothing'}, wanted {head}")
