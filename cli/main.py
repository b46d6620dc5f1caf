"""The ``mitigauge`` command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from cli.lazy import Entry, LazyGroup
from cli.memory import collect_seldom
from cli.remote.choice import choose
from cli.remote.commands import guarded
from mitigauge.core.errors import MitigaugeError

# The modules are imported when they are called: statistics, the web service and the
# database's libraries take seconds to load.
ENTRIES: Final = {
    "demo": Entry(
        "cli.demo", "Boot the emulated lab, run the ready-made experiment, print its report."
    ),
    "lab": Entry("cli.lab", "Emulated hosts: start, stop, look, console.", is_group=True),
    "experiment": Entry(
        "cli.experiment",
        "Experiments: submit, list, show, wait, report, export, import.",
        is_group=True,
    ),
    "find": Entry(
        "cli.find", "Find experiments, series, kernels, hosts, trends and more by words or number."
    ),
    "try": Entry(
        "cli.try_patches",
        "Build a kernel with and without patches, and say what they cost.",
        function="try_patches",
    ),
    "kernel": Entry("cli.kernel", "Candidate kernels: build, import, list, show.", is_group=True),
    "series": Entry(
        "cli.series", "Patch series: from their mails to each revision's verdicts.", is_group=True
    ),
    "bisect": Entry(
        "cli.bisect", "Which patch, commit or setting made a figure worse.", is_group=True
    ),
    "host": Entry(
        "cli.host", "Hosts: list, show, check, queue, reserve, set aside, restore.", is_group=True
    ),
    "claims": Entry("cli.claims", "Claims: published figures beside ours.", is_group=True),
    "trends": Entry(
        "cli.trends",
        "Trends: what changed over kernels and weeks, and what people say of it.",
        is_group=True,
    ),
    "regression": Entry(
        "cli.regression", "Regressions: what became worse, and whose it is.", is_group=True
    ),
    "subscription": Entry(
        "cli.subscription",
        "Subscriptions: be told by mail or webhook what concerns you.",
        is_group=True,
    ),
    "report": Entry(
        "cli.report", "What is sent to people: the week, an answer, a cover letter.", is_group=True
    ),
    "price": Entry(
        "cli.price", "Prices of events on processors, and what they predict.", is_group=True
    ),
    "cost": Entry(
        "cli.cost", "Predict what each mitigation takes of this machine now, without a reboot."
    ),
    "matrix": Entry(
        "cli.matrix", "Which mitigation a kernel chooses, and what it runs.", is_group=True
    ),
    "snippet": Entry("cli.snippet", "Pieces of assembly against each other.", is_group=True),
    "profile": Entry("cli.profile", "Profiles: what perf recorded, as stacks.", is_group=True),
    "compare": Entry(
        "cli.compare", "Judge every arm of every case and metric in a CSV file against a baseline."
    ),
    "serve": Entry("cli.serve", "Serve the API and the dashboard."),
    "worker": Entry(
        "cli.workers", "Do what the service does by itself; list who does it.", is_group=True
    ),
    "health": Entry(
        "cli.health", "Say whether the database, its schema and the disk are as they must..."
    ),
    "job": Entry("cli.jobs", "Jobs that workers do: list, show, wait, cancel.", is_group=True),
    "token": Entry(
        "cli.token", "Tokens for the API and the dashboard: create, list, revoke.", is_group=True
    ),
    "audit": Entry("cli.audit", "The audit log: list, export.", is_group=True),
    "db": Entry(
        "cli.database",
        "The database: its schema, what is deleted, backup and restore.",
        is_group=True,
    ),
    "openapi": Entry("cli.serve", "Print the API's OpenAPI description."),
}


class Commands(LazyGroup):
    """Our commands."""

    entries = ENTRIES

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; without a way through the API, it refuses to go to a service."""
        return guarded(super().get_command(ctx, cmd_name), cmd_name)


def build() -> typer.Typer:
    """The command, without its groups: they are imported when they are called."""
    app = typer.Typer(
        name="mitigauge",
        cls=Commands,
        help=(
            "Measure what a kernel change or a CPU mitigation costs: hosts are booted into every "
            "mode, each mode is proven in force, and verdicts come with their intervals.\n\n"
            "Start with `mitigauge demo --recorded`, which shows an experiment that was run "
            "before, or let `mitigauge demo` run it here."
        ),
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(root)
    return app


def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    server: Annotated[
        str | None,
        typer.Option(help="Address of a service that the command goes to; else MITIGAUGE_SERVER."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token for it; else MITIGAUGE_TOKEN or …_TOKEN_FILE."),
    ] = None,
) -> None:
    """Options that stand before the command."""
    choose(server, token_file)
    if version:
        from mitigauge.core.version import VERSION

        typer.echo(VERSION)
        raise typer.Exit
    from mitigauge.core.logs.handler import log_for_command

    log_for_command()


def main() -> None:
    """Run the command; errors meant for people are two lines, not a traceback."""
    collect_seldom()
    try:
        build()(prog_name="mitigauge")
    except MitigaugeError as error:
        from cli.output import complain

        complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
