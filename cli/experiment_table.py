"""`mitigauge experiment table`, and the older names of some kinds of tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cli.experiment_name import Id
from cli.output import Json, echo, echo_json, say
from cli.remote.routes import at
from cli.source import answer

if TYPE_CHECKING:
    from pydantic import BaseModel
    from sqlalchemy.orm import Session

    from mitigauge.reporting.tables.kind import Form, Kind, TableQuery

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
    other: Annotated[int | None, typer.Option(help="The experiment beside it.")] = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    json: Json = False,
) -> None:
    """Any table of an experiment: its matrix, counters, threads, functions and others.

    Example: mitigauge experiment table 1 matrix --format markdown

    Example: mitigauge experiment table 1 instructions --case 2 --arm loop --function entry_call
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import KINDS, kind_named

    if not kind:
        for each in KINDS.values():
            say(f"{each.name:<14} {each.help}")
        return
    query = TableQuery(case, host, metric, seconds, figure, arm, function, other)
    chosen = kind_named(kind)
    _print(chosen, experiment_id, query, format, json=json, read=chosen.view)


def show_loss(
    experiment_id: Id,
    case: Case = None,
    metric: Metric = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    json: Json = False,
) -> None:
    """Two families of modes crossed: what each combination loses, by processor.

    Where a comparison's arms cross two families (`cross:` in its spec, or modes with `+` between
    them). The published losses of the same combinations stand beside ours.
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import LOSS

    _print_model(LOSS, experiment_id, TableQuery(case=case, metric=metric), format, json)


def show_counters(
    experiment_id: Id,
    case: Case = None,
    host: Host = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    json: Json = False,
) -> None:
    """Counters of one operation over all arms: cycles, instructions, branch misses and others.

    Of cases that count (`counters: "yes"` of workload syscall). What a host does not count is
    absent, never zero.
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import COUNTERS

    _print_model(COUNTERS, experiment_id, TableQuery(case=case, host=host), format, json)


def show_details(
    experiment_id: Id,
    case: Annotated[
        int | None,
        typer.Option("--case", help="The case's number; without it the first that has details."),
    ] = None,
    host: Annotated[
        str | None, typer.Option("--host", help="The host; without it the first.")
    ] = None,
    figure: Figure = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    json: Json = False,
) -> None:
    """What a case tells besides its metrics: load curve, density by threshold, phases, actions.

    Of workloads that declare it, as desktop does. Each figure has an interval over boots and its
    change against the baseline. They are exploratory: no verdict comes of them.
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import DETAILS

    query = TableQuery(case=case, host=host, figure=figure)
    _print_model(DETAILS, experiment_id, query, format, json)


def show_threads(
    experiment_id: Id,
    case: Case = None,
    host: Host = None,
    seconds: Seconds = None,
    format: Format = TableForm.TEXT,  # noqa: A002
    csv: Annotated[bool, typer.Option("--csv", help="The same as --format csv.")] = False,
    json: Json = False,
) -> None:
    """Which threads are woken, run and wait, by name: before and after, over all arms.

    Of cases whose workload tells (`wakeups`, `window`). As CSV each name and arm is a row, with
    the columns `state` and `wakeups_in_5s` that published tables have.
    """
    from mitigauge.reporting.tables.kind import TableQuery
    from mitigauge.reporting.tables.kinds import THREADS

    form = TableForm.CSV if csv and format is not TableForm.JSON else format
    query = TableQuery(case=case, host=host, seconds=seconds)
    _print_model(THREADS, experiment_id, query, form, json)


def _print_model(
    kind: Kind[Any], experiment_id: int, query: TableQuery, form: TableForm, json: bool
) -> None:
    """As :func:`table`, but JSON holds the figures as these commands always gave them."""
    _print(kind, experiment_id, query, form, json=json, read=kind.checked_read)


def _print(
    kind: Kind[Any],
    experiment_id: int,
    query: TableQuery,
    form: TableForm,
    *,
    json: bool,
    read: Callable[[Session, int, TableQuery], BaseModel],
) -> None:
    """The tables as *form*; *read* gives what JSON holds."""
    path = at("/api/experiments/{}/tables/{}", experiment_id, kind.name)
    asked = asdict(query)
    if json or form is TableForm.JSON:
        figures = read == kind.checked_read
        text = answer(
            lambda session: read(session, experiment_id, query).model_dump_json(indent=2),
            lambda client: client.json(f"{path}.json", figures=figures, **asked),
        )
        echo_json(text)
        return
    suffix = {TableForm.TEXT: "txt", TableForm.MARKDOWN: "md", TableForm.CSV: "csv"}[form]
    text = answer(
        lambda session: kind.write(session, experiment_id, query, cast("Form", form.value)),
        lambda client: client.text(f"{path}.{suffix}", **asked),
    )
    if form is TableForm.CSV:
        sys.stdout.write(text)
    else:
        echo(text)
