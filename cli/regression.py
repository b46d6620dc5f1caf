"""`mitigauge regression`: what became worse, whose it is, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.tracking.regressions.schemas import (
        EntryView,
        RegressionChange,
        RegressionSummary,
        RegressionView,
    )
    from mitigauge.tracking.regressions.states import RegressionState

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(min=1, max=2**31 - 1, help="Its number.")]
OWNER_HELP = "Who works on it, by the name beside tokens; '' for nobody."
BUG_HELP = "The bug's address; '' for none."
NOTE_HELP = "What is known, for those who come after."
NONE_YET = (
    "No regression: one is made of each lasting change for the worse of a trend's primary metric. "
    "`mitigauge regression file` takes a cell of an experiment for one."
)


@app.command("list")
def list_regressions(
    state: Annotated[
        list[str] | None,
        typer.Option(help="Of that state; repeated: of any of them. `open`: those not over."),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Of one person; '' for nobody's.")] = None,
    host_class: Annotated[str | None, typer.Option(help="On one class of hosts.")] = None,
    environment: Annotated[str | None, typer.Option(help="Of one environment.")] = None,
    workload: Annotated[str | None, typer.Option(help="Of one workload.")] = None,
    find: Annotated[
        str, typer.Option(help="Words within case, metric, mode, class, owner or bug.")
    ] = "",
    since: Annotated[
        datetime | None, typer.Option(help="Found from then on, UTC.", formats=["%Y-%m-%d"])
    ] = None,
    offset: Annotated[int, typer.Option(min=0, max=10**7, help="Leave out so many.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Show at most so many.")] = 50,
    json: Json = False,
) -> None:
    """Regressions: the open first, of these the newest.

    A regression is made of each lasting change for the worse of a trend's primary metric, by a
    worker; or a person files one. States: new, confirmed, assigned, known; over: fixed, false,
    not-worth-it, duplicate.
    """
    from datetime import UTC

    from mitigauge.tracking.regressions import service
    from mitigauge.tracking.regressions.repository import RegressionFilter
    from mitigauge.tracking.regressions.schemas import RegressionPage

    states = _states(state or [])
    asked = since.replace(tzinfo=UTC) if since else None
    wanted = RegressionFilter(states, owner, environment, host_class, workload, find, asked)
    page = answer(
        lambda session: service.list_regressions(session, wanted, offset=offset, limit=limit),
        lambda client: client.get(
            "/api/regressions", RegressionPage, state=[str(each) for each in states], owner=owner,
            environment=environment, host_class=host_class, workload=workload, find=find or None,
            since=asked.isoformat() if asked else None, offset=offset, limit=limit,
        ),
        reads=True,
    )  # fmt: skip
    if json:
        print_json(page)
        return
    print_table(
        ["id", "state", "fresh boots", "owner", "effect", "case", "metric", "class", "since"],
        [_line(each) for each in page.regressions],
        empty=NONE_YET if wanted == RegressionFilter([]) else "No regression is like that.",
    )
    if page.next is not None:
        say(f"{len(page.regressions)} of {page.total}; more with --offset {page.next}")


def _states(words: list[str]) -> list[RegressionState]:
    from mitigauge.core.errors import InvalidInput
    from mitigauge.tracking.regressions.states import OPEN_STATES, RegressionState

    found: list[RegressionState] = []
    for word in words:
        if word == "open":
            found += OPEN_STATES
        elif word in list(RegressionState):
            found.append(RegressionState(word))
        else:
            raise InvalidInput(
                f"there is no state {word!r}",
                hint=f"States: open, {', '.join(RegressionState)}.",
            )
    return found


def _line(of: RegressionSummary) -> list[str]:
    emulated = " (emulated)" if of.emulated else ""
    return [
        str(of.id), of.state, of.confirmation or "", of.owner, _effect(of), of.case, of.metric,
        f"{of.host_class}{emulated}", f"{of.happened_at:%Y-%m-%d}",
    ]  # fmt: skip


def _effect(of: RegressionSummary) -> str:
    from mitigauge.core.documents import units
    from mitigauge.core.effect import Effect

    change = Effect.of(of)
    return "from 0" if change is None else units.effect(change)


@app.command()
def show(regression: Number, json: Json = False) -> None:
    """One regression with all that was said of it."""
    from mitigauge.tracking.regressions import service
    from mitigauge.tracking.regressions.schemas import RegressionView

    view = answer(
        lambda session: service.show_regression(session, regression),
        lambda client: client.get(at("/api/regressions/{}", regression), RegressionView),
        reads=True,
    )
    _print(view, json)


def _print(view: RegressionView, json: bool) -> None:
    if json:
        print_json(view)
        return
    marks = "  EMULATED" if view.emulated else ""
    marks += ", counted time" if view.clock == "counted" else ""
    say(f"regression {view.id}: {view.case}, {view.metric_title} {_effect(view)}{marks}")
    say(
        f"{view.mode} on {view.host_class} ({view.environment}: {', '.join(view.hosts)}), against "
        f"{view.before}, since {view.happened_at:%Y-%m-%d %H:%M} UTC"
    )
    owner = f", {view.owner}" if view.owner else ""
    joined = f" of regression {view.duplicate_of}" if view.duplicate_of else ""
    say(f"{view.state}{joined}{owner}{f', {view.bug}' if view.bug else ''}")
    for what, number in _evidence(view):
        say(f"evidence: {what} {number}")
    if view.fresh_boots is not None:
        say(f"fresh boots: {view.fresh_boots.state}: {view.fresh_boots.why}")
        if view.fresh_boots.likely:
            say(f"likely: {view.fresh_boots.likely}")
        if view.fresh_boots.follows:
            say(f"then: {view.fresh_boots.follows}")
    for each in view.earlier_fresh_boots:
        say(f"earlier try, {each.asked_at:%Y-%m-%d}: {each.state}: {each.why}")
    if view.duplicates:
        say(f"joined by: {', '.join(map(str, view.duplicates))}")
    say("")
    for entry in view.history:
        say(f"{entry.at:%Y-%m-%d %H:%M} {entry.by}: {_describe_entry(entry)}")


def _evidence(view: RegressionView) -> list[tuple[str, int]]:
    found = [
        ("trend", view.trend_id),
        ("experiment", view.experiment_id),
        ("bisection", view.bisection_id),
    ]
    return [(what, number) for what, number in found if number is not None]


def _describe_entry(entry: EntryView) -> str:
    if entry.kind in ("found", "note"):
        return entry.text or "found"
    said = f"{entry.kind} {entry.before or 'none'} → {entry.after or 'none'}"
    return f"{said}: {entry.text}" if entry.text else said


@app.command("set")
def set_regression(
    regression: Number,
    state: Annotated[
        str | None,
        typer.Option(help="new, confirmed, assigned, known, fixed, false or not-worth-it."),
    ] = None,
    owner: Annotated[str | None, typer.Option(help=OWNER_HELP)] = None,
    bug: Annotated[str | None, typer.Option(help=BUG_HELP)] = None,
    bisection: Annotated[int | None, typer.Option(min=1, help="The bisection of it.")] = None,
    duplicate_of: Annotated[
        int | None, typer.Option(min=1, help="The regression that it joins.")
    ] = None,
    note: Annotated[str, typer.Option(help=NOTE_HELP)] = "",
    json: Json = False,
) -> None:
    """Change a regression's state, owner or bug, or say something of it.

    Who takes one that is nobody's has it assigned. `false` and `not-worth-it` want a note,
    `known` a bug or a note.
    """
    from mitigauge.tracking.regressions import service
    from mitigauge.tracking.regressions.schemas import RegressionChange, RegressionView

    states = _states([state]) if state else []

    def change(version: int) -> RegressionChange:
        return RegressionChange.model_validate(
            {
                "version": version, "state": states[0] if states else None, "owner": owner,
                "bug": bug, "bisection_id": bisection, "duplicate_of": duplicate_of, "note": note,
            }
        )  # fmt: skip

    where = at("/api/regressions/{}", regression)
    view = answer(
        lambda session: service.change_regression(
            session, regression,
            change(service.show_regression(session, regression).version), by=_myself(),
        ),
        lambda client: client.post(
            where, RegressionView,
            change(client.get(where, RegressionView).version).model_dump(mode="json"),
        ),
    )  # fmt: skip
    _print(view, json)


@app.command()
def confirm(regression: Number, json: Json = False) -> None:
    """Measure a trend's change once more: fresh boots of the kernels before and after it.

    A worker does so by itself for each new regression of a trend, within the boots a week that
    CONFIRM_BOOTS_WEEK allows. This asks for it again, for example when a kernel can be had again.
    """
    from mitigauge.tracking.regressions.confirmation_service import ask_again
    from mitigauge.tracking.regressions.schemas import RegressionView

    view = answer(
        lambda session: ask_again(session, regression, by=_myself()),
        lambda client: client.post(
            at("/api/regressions/{}/fresh-boots", regression), RegressionView, {}
        ),
    )
    _print(view, json)


@app.command("error-rates")
def show_error_rates(json: Json = False) -> None:
    """How often we are wrong: of what was said, what people or later boots found wrong."""
    from mitigauge.reporting.pages.error_rates import ErrorRate, error_rates

    rates = answer(
        error_rates, lambda client: client.get("/api/error-rates", list[ErrorRate]), reads=True
    )
    if json:
        print_json(rates)
        return
    print_table(
        ["what was said", "hosts", "wrong", "percent", "95 %"],
        [
            [
                each.title, "emulated" if each.emulated else "real", each.sentence,
                "none yet" if each.percent is None else f"{each.percent:.1f}",
                "" if each.percent is None else f"{each.low:.1f} to {each.high:.1f}",
            ]
            for each in rates
        ],
        empty="",
    )  # fmt: skip


@app.command("file")
def file_regression(
    experiment: Annotated[int, typer.Argument(min=1, max=2**31 - 1, help="Its number.")],
    host: Annotated[str, typer.Option(help="The host.")],
    case: Annotated[int, typer.Option(min=1, help="The case's number.")],
    arm: Annotated[str, typer.Option(help="The arm that is worse than its baseline.")],
    metric: Annotated[str, typer.Option(help="The metric.")],
    owner: Annotated[str, typer.Option(help=OWNER_HELP)] = "",
    bug: Annotated[str, typer.Option(help=BUG_HELP)] = "",
    note: Annotated[str, typer.Option(help=NOTE_HELP)] = "",
    json: Json = False,
) -> None:
    """Take a cell of an experiment that is worse for a regression.

    `mitigauge experiment show NUMBER --json` has cases, arms and metrics by name.
    """
    from mitigauge.tracking.regressions import service
    from mitigauge.tracking.regressions.schemas import NewRegression, RegressionView

    new = NewRegression(
        experiment_id=experiment, host=host, case_id=case, arm=arm, metric=metric, owner=owner,
        bug=bug, note=note,
    )  # fmt: skip
    view = answer(
        lambda session: service.file_regression(session, new, by=_myself()),
        lambda client: client.post("/api/regressions", RegressionView, new.model_dump(mode="json")),
    )
    _print(view, json)


def _myself() -> str:
    """Who types, as the audit log names them."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.core.actor import current_actor

    return current_actor().name or OPERATOR
