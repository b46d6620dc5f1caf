"""`mitigauge db`: the schema."""

from __future__ import annotations

import typer
from alembic import command

from cli.output import console
from mitigauge.database import alembic_config, database_url, get_engine, schema_revisions

app = typer.Typer(help="The database: bring its schema up to date.", no_args_is_help=True)


@app.callback()
def database() -> None:
    """The database."""


@app.command()
def upgrade() -> None:
    """Bring the schema to the version this program wants; does nothing when it is there."""
    url = database_url()
    before, head = schema_revisions(get_engine())
    if before == head:
        console.print(f"schema is at {head} already")
        return
    command.upgrade(alembic_config(url), "head")
    console.print(f"schema upgraded from {before or 'nothing'} to {head}")


@app.command()
def status() -> None:
    """Show the schema's version and the one this program wants."""
    current, head = schema_revisions(get_engine())
    console.print(f"schema {current or 'nothing'}, wanted {head}")
