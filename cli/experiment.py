"""`mitigauge experiment`: submit, follow, show, report."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from cli.output import Json, echo, echo_json, print_json, print_table, say
from cli.progress import follow
from mitigauge.database import get_engine, require_head, transaction
from mitigauge.errors import InvalidInput
from mitigauge.experiments import service, submission, views
from mitigauge.experiments.schemas import ExperimentView
from mitigauge.experiments.states import ExperimentState
from mitigauge.reports.matrix import render_text
from mitigauge.reports.service import gathered

app = typer.Typer(help="Experiments: submit, list, show, wait, report.", no_args_is_help=True)
Id = Annotated[int, typer.Argument(help="The experiment's number.", min=1)]


class Format(StrEnum):
    """Forms of a report."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


@app.command()
def submit(
    spec: Annotated[Path, typer.Argument(help="Spec file, for example experiments/lab-demo.yml.")],
    check: Annotated[bool, typer.Option("--check", help="Only check it.")] = False,
    json: Json = False,
) -> None:
    """Check a spec, store its plan, and let workers run it."""
    text = read_spec_file(spec)
    if check:
        checked, _ = submission.check_text(text, name=str(spec))
        say(f"{spec}: fine, {len(checked.comparisons)} comparisons")
        return
    require_head(get_engine())
    with transaction() as session:
        experiment_id = submission.submit_text(session, text, name=str(spec))
        view = views.show_experiment(session, experiment_id)
    if json:
        print_json(view)
        return
    say(f"experiment {experiment_id}: {view.boots_total} boots planned")
    say(f"follow it with `mitigauge experiment wait {experiment_id}`; a worker must run")


@app.command("list")
def list_experiments(json: Json = False) -> None:
    """All experiments, newest first."""
    require_head(get_engine())
    with transaction() as session:
        found = views.list_experiments(session)
    if json:
        print_json(found)
        return
    print_table(
        ["id", "name", "state", "hosts", "boots", "created"],
        [
            [
                str(e.id),
                e.name,
                f"{e.state}{' (emulated)' if e.emulated else ''}",
                ", ".join(e.hosts),
                f"{e.boots_done}/{e.boots_total}",
                f"{e.created_at:%Y-%m-%d %H:%M}",
            ]
            for e in found
        ],
        empty="No experiments yet. `mitigauge experiment submit experiments/lab-demo.yml` "
        "makes the first.",
    )


@app.command()
def show(experiment_id: Id, json: Json = False) -> None:
    """One experiment: its matrix, and with --json every boot as well."""
    require_head(get_engine())
    with transaction() as session:
        if json:
            print_json(views.show_whole(session, experiment_id))
            return
        view = views.show_experiment(session, experiment_id)
    echo(render_text(view))


@app.command()
def wait(experiment_id: Id) -> None:
    """Follow an experiment until it ends; exit code 1 unless it finished."""
    require_head(get_engine())
    if follow(experiment_id) is not ExperimentState.FINISHED:
        sys.exit(1)


@app.command()
def report(
    experiment_id: Id,
    format: Annotated[Format, typer.Option(help="Form of the report.")] = Format.TEXT,  # noqa: A002
) -> None:
    """The matrix in the shape of a cover letter's table."""
    require_head(get_engine())
    with transaction() as session:
        view = views.show_experiment(session, experiment_id)
        text = _render(session, view, format)
    echo_json(text) if format is Format.JSON else echo(text)


@app.command()
def cancel(experiment_id: Id) -> None:
    """Stop an experiment; its hosts are restored first."""
    require_head(get_engine())
    with transaction() as session:
        service.cancel(session, experiment_id)
    say(f"experiment {experiment_id} is being cancelled")


def read_spec_file(path: Path) -> str:
    """The spec's text. Raises :class:`InvalidInput` when it cannot be read."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}",
            hint="Ready-made specs are in experiments/.",
        ) from error


def _render(session: Session, view: ExperimentView, form: Format) -> str:
    if form is Format.JSON:
        return view.model_dump_json(indent=2)
    whole = gathered(session, view)
    return whole.text() if form is Format.TEXT else whole.markdown()
