"""`mitigauge experiment table`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.experiment_name import Id
from cli.output import Json, echo, echo_json, say
from cli.remote.routes import at
from cli.source import answer

if TYPE_CHECKING:
    from mitigauge.reporting.tables.kind import Form

Case = Annotated[int | None, typer.Option("--case", help="Only this case, by its number.")]
Host = Annotated[str | None, typer.Option("--host", help="Only this host.")]
Metric = Annotated[str | None, typer.Option("--metric", help="Only this metric.")]
Figure = Annotated[
    str | None,
    typer.Option("--figure", help="The figure of breakdowns that show one: p95_s, say."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds", help="Figures in so many seconds; else the case's window.", min=0.001
    ),
]


class TableForm(StrEnum):
    """How tables are written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


Format = Annotated[TableForm, typer.Option("--format", help="Form of the tables.")]


def table(
    experiment_id: Id,
    kind: Annotated[str, typer.Argument(help="The kind; without it, those that there are.")] = "",
    case: Case = None,
    host: Host = None,
    metric: Metric = None,
    seconds: Seconds = None,
    figure: Figure = None,
    arm: Annotated[str | None, typer.Option(help="The arm, for instructions.")] = None,
    function: Annotated[str | None, typer.Option(help="The function, or a part of it.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The arm to compare with, for the matrix; else the spec's.")
    ] = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    json: Json = False,
) -> None:
    """Any table of an experiment: its matrix, counters, threads, functions and others.

    Example: mitigauge experiment table 1 matrix --format markdown

    Example: mitigauge experiment table 1 matrix --baseline ibpb

    Example: mitigauge experiment table 1 instructions --case 2 --arm loop --function entry_call
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import KINDS, kind_named

    if not kind:
        for each in KINDS.values():
            say(f"{each.name:<14} {each.help}")
        return
    query = TableQuery(case, host, metric, seconds, figure, arm, function, baseline)
    chosen = kind_named(kind)
    path = at("/api/experiments/{}/tables/{}", experiment_id, chosen.name)
    asked = asdict(query)
    if json or format is TableForm.JSON:
        echo_json(
            answer(
                lambda session: chosen.view(session, experiment_id, query).model_dump_json(
                    indent=2
                ),
                lambda client: client.json(f"{path}.json", **asked),
            )
        )
        return
    suffix = {TableForm.TEXT: "txt", TableForm.MARKDOWN: "md", TableForm.CSV: "csv"}[format]
    text = answer(
        lambda session: chosen.write(session, experiment_id, query, cast("Form", format.value)),
        lambda client: client.text(f"{path}.{suffix}", **asked),
    )
    if format is TableForm.CSV:
        sys.stdout.write(text)
    else:
        echo(text)
