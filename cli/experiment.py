"""`mitigauge experiment`: submit, follow, show, report."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import experiment_list, experiment_pair, experiment_table
from cli.experiment_limits import end_by, limits, outcome_of, print_outcome
from cli.experiment_name import Id
from cli.experiment_published import published
from cli.experiment_table import TableForm as Format
from cli.experiment_view import experiment_view
from cli.export import export, import_
from cli.output import Json, echo, echo_json, print_json, remark, say
from cli.remote.choice import chosen_server
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored
from mitigauge.core.errors import InvalidInput, NotReady
from mitigauge.core.wire.case import MOST_SLOWED_PERCENT, SLOWED_PERCENT

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client
    from mitigauge.reporting.pages.forecast_schemas import HostForecast
    from mitigauge.reporting.pages.schemas import ExperimentHead

app = typer.Typer(no_args_is_help=True)


@app.command()
def submit(
    spec: Annotated[Path, typer.Argument(help="Spec file, for example experiments/lab-demo.yml.")],
    check: Annotated[bool, typer.Option("--check", help="Only check it.")] = False,
    json: Json = False,
) -> None:
    """Check a spec, store its plan, and let workers run it."""
    text = read_spec_file(spec)
    if check:
        _check(text, str(spec))
        return

    view = _submit(text, str(spec))
    if json:
        print_json(view)
        return
    _say_submitted(view)


@app.command()
def new(
    source: Annotated[
        str,
        typer.Option("--from", help="A ready-made spec, or published claims, by name."),
    ],
    environment: Annotated[str, typer.Option(help="The environment of the hosts.")],
    host: Annotated[list[str], typer.Option(help="A host; repeated: several.")],
    kernel: Annotated[
        str, typer.Option(help="Of every arm: a release, or built/LABEL; else what the spec says.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to; else NAME.yml.")
    ] = None,
) -> None:
    """Write a spec for hosts of yours, from a ready-made one or from what measures a letter.

    It is checked as by `submit --check`, and nothing is started. A file that is there stays.

    Example: mitigauge experiment new --from vmscape-v8-iperf --environment metal --host spr-01
    --kernel built/v8
    """
    from mitigauge.analysis.claims.files import spec_of
    from mitigauge.measurement.experiments.adapt import adapt
    from mitigauge.measurement.experiments.ready_made import show_ready_made

    text = adapt(show_ready_made(spec_of(source)), environment, host, kernel)
    path = output or Path(f"{source}.yml")
    if path.exists():
        raise InvalidInput(f"{path} is there already", hint="Give another file by --output.")
    _check(text, f"{path} (not written yet)")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}", hint="Give another file by --output."
        ) from error
    say(f"written to {path}; `mitigauge experiment submit {path}` begins it")


@app.command()
def qualify(
    spec: Annotated[Path, typer.Argument(help="Spec file, for example experiments/lab-small.yml.")],
    host: Annotated[str, typer.Option(help="Host of the spec that is asked about.")],
    slowed_percent: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SLOWED_PERCENT,
            help="Part of each processor's time that is taken beside the slowed boots.",
        ),
    ] = SLOWED_PERCENT,
    json: Json = False,
) -> None:  # fmt: skip
    """Measure how often verdicts of a spec are right on a host, and keep it with the host.

    Each baseline of the spec is booted three times a block: as it is, once more, and once more
    beside a program that takes a known part of each processor's time. The first two should not be
    told apart; the third should be called worse. `mitigauge host show HOST` says how often that was
    so.
    """
    from mitigauge.core.stats.terms import FEWEST_BOOTS
    from mitigauge.measurement.experiments.qualification import fewest_looked_at, qualifying_spec

    text = qualifying_spec(read_spec_file(spec), str(spec), host, slowed_percent)
    view = _submit(text, str(spec))
    if json:
        print_json(view)
        return
    _say_submitted(view)
    blocks = fewest_looked_at(text)
    if blocks < FEWEST_BOOTS:
        remark(
            f"note: with {blocks} blocks hardly anything is told apart: undecided is what most "
            f"verdicts will be; from {FEWEST_BOOTS} on there are some"
        )
    say(
        f"then `mitigauge host show {host} --environment {view.environment}` says how often its "
        "verdicts were right"
    )


def _submit(text: str, name: str) -> ExperimentHead:
    from mitigauge.measurement.runs import submission
    from mitigauge.reporting.pages import experiments as views
    from mitigauge.reporting.pages.schemas import ExperimentHead

    def local(session: Session) -> ExperimentHead:
        return views.show_head(session, submission.submit_text(session, text, name=name))

    return answer(
        local, lambda client: client.post("/api/experiments", ExperimentHead, text, name=name)
    )


def _say_submitted(view: ExperimentHead) -> None:
    say(f"experiment {view.id}: {view.boots_total} boots planned")
    if any(arm.shares_boots for each in view.comparisons for arm in each.arms):
        say("modes that need no reboot share one boot of their block: fewer boots take place")
    say(f"follow it with `mitigauge experiment wait {view.id}`; a worker must run")


def _check(text: str, name: str) -> None:
    """Say what a spec plans. Raises InvalidInput and NotFound for what is wrong with it."""
    from mitigauge.core.documents.parts import counted
    from mitigauge.measurement.catalog import Catalog
    from mitigauge.measurement.experiments.checks import check_text
    from mitigauge.reporting.pages.forecast import forecast
    from mitigauge.reporting.pages.forecast_schemas import SpecForecast

    if not chosen_server():
        # Its own faults are told first, for which no database is started.
        check_text(text, name=name, catalog=Catalog())
    try:
        plan = answer(
            lambda session: forecast(session, text, name=name),
            lambda client: client.post("/api/forecasts", SpecForecast, text, name=name),
            reads=True,
        )
    except NotReady as error:
        say(
            f"{name}: nothing is wrong with it; whether its kernels are there, and how long "
            f"it takes, was not looked at: {error.message}"
        )
        return
    say(f"{name}: nothing is wrong with it")
    for each in plan.comparisons:
        say(
            f"  {each.name}: {counted(len(each.arms), 'arm')}, {counted(each.boots, 'boot')} at "
            f"most on {', '.join(each.hosts)}; {counted(each.values, 'value')}"
        )
    if plan.kernels_of_hosts:
        say(
            f"  whether hosts have kernel {', '.join(plan.kernels_of_hosts)} is seen when a run "
            "begins"
        )
    for host in plan.hosts:
        say(f"  {host.host}: {_takes(host)}")


def _takes(host: HostForecast) -> str:
    """How long a plan keeps a host busy, in words."""
    from mitigauge.core.documents import units

    measuring = units.duration(host.measuring_s)
    parts = [
        f"at least {units.duration(host.takes_s)}, if all blocks are made: by its boots before, "
        f"and by {measuring} of measuring"
        if host.takes_s is not None
        else f"at least {measuring} of measuring, if all blocks are made, and boots: none was made "
        "on it yet, so nobody knows how long they take"
    ]
    if host.waiting:
        parts.append(f"{host.waiting} runs hold it or wait for it now")
    return "; ".join([*parts, *([host.kept] if host.kept else [])])


app.command("list")(experiment_list.list_experiments)
app.command("compare")(experiment_pair.compare)
app.command("limits")(limits)
app.command("published")(published)


@app.command()
def show(experiment_id: Id, json: Json = False) -> None:
    """One experiment: its matrix, and with --json every boot as well."""
    from mitigauge.reporting.letters.report.matrix import render_text
    from mitigauge.reporting.pages import experiments as views

    if json:
        whole = answer(
            lambda session: views.show_whole(session, experiment_id).model_dump_json(indent=2),
            lambda client: client.json(at("/api/experiments/{}/whole", experiment_id)),
            reads=True,
        )
        echo_json(whole)
        return
    echo(render_text(experiment_view(experiment_id)))


@app.command()
def undecided(
    experiment_id: Id,
    order: Annotated[
        bool, typer.Option("--order", help="Submit its spec once more, with the blocks it takes.")
    ] = False,
    blocks: Annotated[
        int | None, typer.Option(help="Order so many instead.", min=1, max=64)
    ] = None,
    json: Json = False,
) -> None:
    """What is undecided of an experiment, why, and the blocks that would decide it.

    Blocks are planned before the first boot, as the error rates depend on it: --order makes a new
    experiment of the same spec.
    """
    from cli.experiment_undecided import order_again, print_undecided
    from mitigauge.reporting.pages.undecided import Undecided
    from mitigauge.reporting.pages.undecided import undecided as read

    found = answer(
        lambda session: read(session, experiment_id),
        lambda client: client.get(at("/api/experiments/{}/undecided", experiment_id), Undecided),
        reads=True,
    )
    if json:
        print_json(found)
    else:
        print_undecided(found)
    if order or blocks:
        order_again(found, blocks)


@app.command()
def wait(
    experiment_id: Id,
    by_verdict: Annotated[
        bool, typer.Option("--by-verdict", help="Exit code 3 where anything is worse.")
    ] = False,
    by_limits: Annotated[
        bool,
        typer.Option("--by-limits", help="Exit code 3 where a limit in force is broken, 4 where "
                     "one cannot be told."),
    ] = False,
) -> None:  # fmt: skip
    """Follow an experiment until it ends; exit code 1 unless it finished.

    Where no limit in force is of it, `--by-limits` ends with 4.
    """
    from cli.experiment_end import exit_code_of
    from cli.progress import follow
    from mitigauge.measurement.experiments.states import ExperimentState

    try:
        state = follow(experiment_id)
    except KeyboardInterrupt:
        again = f"`mitigauge experiment wait {experiment_id}` follows it again"
        remark(f"experiment {experiment_id} goes on: {again}")
        raise
    if state is not ExperimentState.FINISHED:
        sys.exit(1)
    if by_verdict and (code := exit_code_of(state, experiment_view(experiment_id))):
        sys.exit(code)
    if by_limits:
        found = outcome_of(experiment_id)
        print_outcome(found)
        end_by(found.counts.worst)


@app.command()
def report(
    experiment_id: Id,
    format: Annotated[Format, typer.Option(help="Form of the report.")] = Format.TEXT,  # noqa: A002
) -> None:
    """The matrix in the shape of a cover letter's table."""
    text = answer(
        lambda session: _render(session, experiment_id, format),
        lambda client: _render_there(client, experiment_id, format),
        reads=True,
    )
    if format is Format.CSV:
        sys.stdout.write(text)
    else:
        echo_json(text) if format is Format.JSON else echo(text)


class Lines(StrEnum):
    """Forms of raw values."""

    CSV = "csv"
    JSONL = "jsonl"


@app.command("iterations")
def show_iterations(
    experiment_id: Id,
    case: Annotated[int | None, typer.Option(help="Only this case, by its number.")] = None,
    host: Annotated[str | None, typer.Option(help="Only this host.")] = None,
    format: Annotated[Lines, typer.Option(help="Form of the lines.")] = Lines.CSV,  # noqa: A002
) -> None:
    """Every value that was measured, for other programs."""
    from mitigauge.core.documents.csv_text import as_csv, as_json_lines
    from mitigauge.reporting.pages.iterations import IterationLine, iterations
    from mitigauge.reporting.tables.downloads import iteration_rows

    def here(session: Session) -> None:
        rows = iteration_rows(iterations(session, experiment_id, case_id=case, host=host))
        csv = format is Lines.CSV
        sys.stdout.writelines(as_csv(IterationLine._fields, rows) if csv else as_json_lines(rows))

    def there(client: Client) -> None:
        path = at(f"/api/experiments/{{}}/iterations.{format.value}", experiment_id)
        with client.pieces(path, case=case, host=host) as pieces:
            sys.stdout.writelines(pieces)

    answer(here, there)


@app.command()
def judge(experiment_id: Id) -> None:
    """Judge an experiment again that is over: after an upgrade with other rules, say.

    A verdict that no longer holds gets a next version. What the earlier one said stays.
    """
    from mitigauge.analysis.verdicts.conclusions import judge_again
    from mitigauge.storage.database.engine import get_engine

    with stored():
        pass
    changed = judge_again(get_engine(), experiment_id)
    said = f"{len(changed)} runs have verdicts that changed" if changed else "nothing changed"
    say(f"experiment {experiment_id}: {said}")


@app.command()
def cancel(experiment_id: Id) -> None:
    """Stop an experiment; its hosts are restored first."""
    from mitigauge.measurement.runs import service
    from mitigauge.reporting.pages.schemas import ProgressView

    answer(
        lambda session: service.cancel(session, experiment_id),
        lambda client: client.post(at("/api/experiments/{}/cancel", experiment_id), ProgressView),
    )
    say(f"experiment {experiment_id} is being cancelled")


app.command("table")(experiment_table.table)
app.command()(export)
app.command("import")(import_)


def read_spec_file(path: Path) -> str:
    """The spec's text, or so much of it that its reader refuses it as too long.

    Raises :class:`InvalidInput` when it cannot be read.
    """
    from mitigauge.core.yaml_file import MAX_BYTES

    try:
        with path.open(encoding="utf-8-sig") as file:
            # A device or a pipe has no size that could be asked for, and perhaps no end.
            return file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}",
            hint="Ready-made specs are in experiments/.",
        ) from error


def _render(session: Session, experiment_id: int, form: Format) -> str:
    from mitigauge.reporting.pages import experiments as views

    view = views.show_experiment(session, experiment_id)
    if form is Format.JSON:
        return view.model_dump_json(indent=2)
    if form is Format.CSV:
        from mitigauge.core.documents.csv_text import as_csv
        from mitigauge.reporting.tables.downloads import MATRIX_COLUMNS, matrix_rows

        return "".join(as_csv(MATRIX_COLUMNS, matrix_rows(view)))
    from mitigauge.reporting.letters.report.service import gathered

    whole = gathered(session, view)
    return whole.text() if form is Format.TEXT else whole.markdown()


def _render_there(client: Client, experiment_id: int, form: Format) -> str:
    if form is Format.JSON:
        return client.json(at("/api/experiments/{}/matrix.json", experiment_id))
    if form is Format.CSV:
        return client.text(at("/api/experiments/{}/matrix.csv", experiment_id))
    return client.text(at("/api/experiments/{}/report", experiment_id), format=form.value)
