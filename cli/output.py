"""How the command speaks: tables for people, JSON for programs, errors on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.hostile_text import HOSTILE

# Rich and pydantic are imported by what uses them: a command that prints plain lines, or its
# own help, does not wait for them.
if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@cache
def console() -> Console:
    """What is printed for people."""
    from rich.console import Console

    return Console(highlight=False)


@cache
def errors() -> Console:
    """The same on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def harmless(text: str, *, lines: bool = False) -> str:
    """*text* with all that a terminal would obey spelled out, and ends of lines unless *lines*.

    What comes from hosts is cleaned where it comes in; what was stored before that, or comes
    from a file of the user's, is made harmless here.
    """
    spelled = HOSTILE.sub(lambda found: _spelled(found[0]), text)
    return spelled if lines else spelled.replace("\n", "\\n").replace("\t", " ")


def say(text: str, style: str = "") -> None:
    """Print one line for people, whatever it is made of."""
    from rich.text import Text

    console().print(Text(harmless(text), style=style))


def remark(text: str) -> None:
    """Print one line beside the answer, on stderr."""
    from rich.text import Text

    errors().print(Text(harmless(text)))


def count_off(what: str, done: int, of: int) -> None:
    """Say beside the answer how far it is: in place on a terminal, else at each sixth."""
    if errors().is_terminal:
        errors().print(f"{what} {done + 1} of {of}", end="\r", highlight=False)
    elif done and done % max(1, of // 6) == 0:
        errors().print(f"{what} {done} of {of}", highlight=False)


def echo(text: str) -> None:
    """Print finished lines as they stand, in whatever width."""
    typer.echo(harmless(text, lines=True))


def echo_json(text: str) -> None:
    """Print JSON, in which escapes of its own stand for what a terminal would obey."""
    typer.echo(HOSTILE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()


def complain(error: MitigaugeError) -> None:
    """Print an error and its way out."""
    from rich.text import Text

    message = harmless(error.message, lines=True)
    errors().print(Text.assemble(("error: ", "bold red"), message))
    if error.hint:
        errors().print(Text(harmless(error.hint, lines=True)))


def print_json(value: BaseModel | Sequence[BaseModel]) -> None:
    """Print a view, or a list of views, as JSON."""
    from pydantic import BaseModel, TypeAdapter

    if isinstance(value, BaseModel):
        echo_json(value.model_dump_json(indent=2))
        return
    adapter = TypeAdapter(list[BaseModel])
    echo_json(adapter.dump_json(list(value), indent=2, serialize_as_any=True).decode())


Cell = str | tuple[str, ...]
"""What stands in a table: a line, or several of ours; ends of lines within one are spelled out."""


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, empty: str) -> None:
    """Print a table, or what to do when there is nothing to show."""
    if not rows:
        say(empty)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(_in_lines(cell)) for cell in row))
    console().print(table)


def _in_lines(cell: Cell) -> str:
    lines = (cell,) if isinstance(cell, str) else cell
    return "\n".join(map(harmless, lines))
