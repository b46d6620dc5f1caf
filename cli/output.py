"""How the command speaks: tables for people, JSON for programs, errors on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mitigauge.errors import MitigaugeError

if TYPE_CHECKING:
    from pydantic import BaseModel

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def complain(error: MitigaugeError) -> None:
    """Print an error and its way out."""
    errors.print(Text.assemble(("error: ", "bold red"), error.message))
    if error.hint:
        errors.print(Text(error.hint))


def print_json(value: BaseModel | Sequence[BaseModel]) -> None:
    """Print a view, or a list of views, as JSON."""
    from pydantic import BaseModel, TypeAdapter

    if isinstance(value, BaseModel):
        typer.echo(value.model_dump_json(indent=2))
        return
    adapter = TypeAdapter(list[BaseModel])
    typer.echo(adapter.dump_json(list(value), indent=2, serialize_as_any=True).decode())


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Print a table, or what to do when there is nothing to show."""
    if not rows:
        console.print(Text(empty))
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
