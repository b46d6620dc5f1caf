"""A group of commands that imports a command's module when the command is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class Entry:
    """One command, or group of commands, that is imported when it is called."""

    module: str
    help: str
    """One line, as the list of commands shows it."""
    is_group: bool = False
    """A group is the module's ``app``; a command its function of the command's name."""
    function: str = ""
    """The command's function, where its name is a word of Python's own."""


class LazyGroup(TyperGroup):
    """Knows its commands' names and lines from ``entries``.

    What lists commands (help, shell completion, suggestions) sees a stand-in for each; only
    what calls one, or asks for its own help, imports it.
    """

    entries: ClassVar[Mapping[str, Entry]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._listing = False
        for name, entry in self.entries.items():
            self.add_command(TyperCommand(name, help=entry.help, callback=None))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; None where there is none."""
        if self._listing or cmd_name not in self.entries:
            return super().get_command(ctx, cmd_name)
        return loaded(cmd_name, self.entries[cmd_name])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, for help."""
        with self._stand_ins():
            super().format_commands(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What an incomplete word may become."""
        with self._stand_ins():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _stand_ins(self) -> Iterator[None]:
        self._listing = True
        try:
            yield
        finally:
            self._listing = False


def loaded(name: str, entry: Entry) -> Any:
    """The command or group itself."""
    module = import_module(entry.module)
    # A callback keeps a holder of one command a group.
    holder = typer.Typer(rich_markup_mode=None, add_completion=False, callback=lambda: None)
    if entry.is_group:
        holder.add_typer(module.app, name=name, help=entry.help)
    else:
        holder.command(name)(getattr(module, entry.function or name))
    return typer.main.get_group(holder).commands[name]
