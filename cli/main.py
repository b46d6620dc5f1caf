"""The ``mitigauge`` command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli import database, demo, experiment, host, lab, serve
from cli.output import complain
from mitigauge.errors import MitigaugeError

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
app.add_typer(lab.app, name="lab")
app.add_typer(experiment.app, name="experiment")
app.add_typer(host.app, name="host")
app.add_typer(database.app, name="db")
app.command("serve")(serve.serve)
app.command("worker")(serve.worker)
app.command("openapi")(serve.openapi)
app.command("demo")(demo.demo)


@app.callback(invoke_without_command=True)
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
        app()
    except MitigaugeError as error:
        complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
