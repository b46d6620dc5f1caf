"""The ``mitigauge`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from cli.output import complain
from mitigauge.errors import MitigaugeError

# Groups and commands with the module each lives in. Only the module of the command
# that is called is imported: statistics and the web service take over a second to load.
GROUPS = {
    "lab": "cli.lab",
    "experiment": "cli.experiment",
    "host": "cli.host",
    "claims": "cli.claims",
    "profile": "cli.profile",
    "token": "cli.token",
    "db": "cli.database",
}
COMMANDS = {
    "serve": "cli.serve",
    "worker": "cli.serve",
    "openapi": "cli.serve",
    "demo": "cli.demo",
    "compare": "cli.compare",
}


def build(arguments: Sequence[str]) -> typer.Typer:
    """The command as far as *arguments* need it; all of it where they name no command."""
    app = typer.Typer(
        name="mitigauge",
        help=(
            "Measure what a kernel change or a CPU mitigation costs: hosts are booted into every "
            "mode, each mode is proven in force, and verdicts come with their intervals.\n\n"
            "Start with `mitigauge lab up` and `mitigauge experiment submit "
            "experiments/lab-demo.yml`, or let `mitigauge demo` do it all."
        ),
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback(invoke_without_command=True)(root)
    called = next((word for word in arguments if not word.startswith("-")), "")
    known = called in GROUPS or called in COMMANDS
    for name, module in GROUPS.items():
        if not known or name == called:
            app.add_typer(import_module(module).app, name=name)
    for name, module in COMMANDS.items():
        if not known or name == called:
            app.command(name)(getattr(import_module(module), name))
    return app


def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Options that stand before the command."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("mitigauge"))
        raise typer.Exit


def main() -> None:
    """Run the command; errors meant for people are two lines, not a traceback."""
    try:
        build(sys.argv[1:])()
    except MitigaugeError as error:
        complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
