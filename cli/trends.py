"""`mitigauge trends`: each case, metric and mode over kernels, revisions and weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Cell, Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.tracking.trends.schemas import Cause, TrendChange, TrendSummary, TrendView

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(min=1, max=2**31 - 1)]
ChangeNumber = Annotated[int, typer.Argument(min=1, max=2**63 - 1)]
NOTHING_KNOWN = "nothing known changed"
NO_TRENDS = (
    "No trends: a trend begins with the first run that ends. `mitigauge demo --recorded` loads a "
    "recorded experiment; `mitigauge trends update` takes in runs that ended before."
)


@app.command("list")
def list_trends(
    host_class: Annotated[str | None, typer.Option(help="Of one class of hosts.")] = None,
    environment: Annotated[str | None, typer.Option(help="Of one environment.")] = None,
    workload: Annotated[str | None, typer.Option(help="Of one workload.")] = None,
    find: Annotated[
        str | None, typer.Option(help="Part of a case's title, a metric or a mode.")
    ] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that changed.")] = False,
    still_open: Annotated[
        bool, typer.Option("--open", help="Only those with a change nobody accepted.")
    ] = False,
    offset: Annotated[int, typer.Option(min=0, max=10**7, help="Leave out so many.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Show at most so many.")] = 50,
    json: Json = False,
) -> None:
    """Trends, the newest change first.

    A trend holds one value a run: the mean of an arm's boots. Values are of one host class, case,
    metric, unit and mode, so that they are comparable.
    """
    from mitigauge.tracking.trends import service
    from mitigauge.tracking.trends.page_repository import TrendFilter
    from mitigauge.tracking.trends.schemas import TrendPage

    wanted = TrendFilter(
        environment, host_class, workload, None, find, only_changed=changed, only_open=still_open
    )
    page = answer(
        lambda session: service.list_trends(session, wanted, offset=offset, limit=limit),
        lambda client: client.get(
            "/api/trends",
            TrendPage,
            environment=environment,
            host_class=host_class,
            workload=workload,
            find=find,
            changed=changed,
            still_open=still_open,
            offset=offset,
            limit=limit,
        ),
        reads=True,
    )
    if json:
        print_json(page)
        return
    print_table(
        ["id", "case", "class", "values", "change", "since"],
        [_line(trend) for trend in page.trends],
        empty=NO_TRENDS if wanted == TrendFilter() else "No trend is like that.",
    )
    if page.next is not None:
        say(f"{len(page.trends)} of {page.total}; more with --offset {page.next}")


def _line(trend: TrendSummary) -> list[Cell]:
    change = trend.change
    emulated = " (emulated)" if trend.emulated else ""
    mode = f"{trend.mode} [{trend.line}]" if trend.line else trend.mode
    # Two lines a trend: nine columns do not fit into 80.
    head: list[Cell] = [
        str(trend.id), (trend.case, f"{trend.metric}, {mode}"), f"{trend.host_class}{emulated}",
        str(trend.values),
    ]  # fmt: skip
    if change is None:
        return [*head, "", ""]
    return [*head, (_effect(change), _state(change)), f"{change.at:%Y-%m-%d}"]


def _effect(change: TrendChange) -> str:
    if change.effect_percent is None:
        return f"{change.before:.4g} → {change.after:.4g} {change.unit}, {change.verdict}"
    return f"{change.effect_percent:+.1f} %, {change.verdict}"


def _state(change: TrendChange) -> str:
    return f"{change.kind.replace('_', ' ')}, {change.state}"


@app.command()
def show(trend: Number, json: Json = False) -> None:
    """One trend: its changes, what changed then, and its newest values."""
    from mitigauge.tracking.trends import service
    from mitigauge.tracking.trends.schemas import TrendView

    view = answer(
        lambda session: service.show_trend(session, trend),
        lambda client: client.get(at("/api/trends/{}", trend), TrendView),
        reads=True,
    )
    if json:
        print_json(view)
        return
    _print(view)


def _print(view: TrendView) -> None:
    marks = "  EMULATED" if view.emulated else ""
    marks += ", counted time" if view.clock == "counted" else ""
    say(f"{view.case}, {view.metric_title} ({view.unit}, {view.direction} is better){marks}")
    line = f", {view.line}" if view.line else ""
    say(f"{view.mode}{line} on {view.host_class} ({view.environment})")
    for other in view.others:
        say(f"see trend {other.id} too: {other.why}")
    for change in view.changes:
        say("")
        _print_change(change)
    if view.no_change:
        say(view.no_change)
    for each in view.annotations:
        say(f"{each.said_at:%Y-%m-%d} {each.said_by}: {each.text}")
    say("")
    print_table(
        ["ended (UTC)", "value", "95 %", "boots", "host", "kernel", "run", ""],
        [
            [f"{v.at:%Y-%m-%d %H:%M}", f"{v.value:.6g}",
             "" if v.low is None or v.high is None else f"[{v.low:.6g}, {v.high:.6g}]",
             str(v.boots), v.host, v.kernel, str(v.run_id), "outlier" if v.outlier else ""]
            for v in view.values[-20:]
        ],
        empty="No value.",
    )  # fmt: skip
    if len(view.values) > 20:
        say(f"the newest 20 of {len(view.values) + view.left_out}; all with --json")


def _print_change(change: TrendChange) -> None:
    interval = ""
    if change.ci_low_percent is not None and change.ci_high_percent is not None:
        interval = f" [{change.ci_low_percent:+.1f}, {change.ci_high_percent:+.1f}]"
    version = f", version {change.version} ({change.reason})" if change.version > 1 else ""
    say(f"change {change.id}: {_effect(change)}{interval}, {_state(change)}{version}")
    until = f", until {change.until:%Y-%m-%d %H:%M}" if change.until else ""
    say(
        f"  first value at the new level {change.at:%Y-%m-%d %H:%M} UTC (95 %: one of "
        f"{change.earliest_at:%Y-%m-%d} to {change.latest_at:%Y-%m-%d}){until}; "
        f"{change.before:.6g} → {change.after:.6g} {change.unit}, "
        f"{change.values_before} and {change.values_after} values, p {change.p:.2g}"
    )
    for cause in change.causes:
        say(f"  changed then: {_cause(cause)}")
    if not change.causes:
        say(f"  changed then: {NOTHING_KNOWN}")
    if change.said:
        say(f"  {change.state} by {change.said_by}: {change.said}")


def _cause(cause: Cause) -> str:
    where = f" on {cause.host}" if cause.host else ""
    arrow = f": {cause.before} → {cause.after}" if cause.before or cause.after else ""
    return f"{cause.kind.replace('_', ' ')} ({cause.what}){arrow}{where}"


@app.command()
def update(
    again: Annotated[
        bool, typer.Option("--again", help="Look at all trends, not only at those with new values.")
    ] = False,
    json: Json = False,
) -> None:
    """Take in runs that ended, and look for changes.

    A worker does this by itself whenever a run ends.
    """
    from pydantic import TypeAdapter

    from cli.output import echo_json, errors
    from mitigauge.core.errors import Conflict
    from mitigauge.storage.database.engine import get_engine
    from mitigauge.tracking.regressions.service import take_in
    from mitigauge.tracking.trends.update import Updated
    from mitigauge.tracking.trends.update import update as update_trends

    with stored():
        pass
    with errors().status("trends") as status:
        done = update_trends(
            get_engine(),
            again=again,
            progress=lambda what, some, every: status.update(f"{some} of {every} {what}"),
        )
        with stored() as session:
            new = take_in(session)
    if done is None:
        raise Conflict(
            "another update of trends goes on", hint="A worker does it; look again in a minute."
        )
    if json:
        echo_json(TypeAdapter(Updated).dump_json(done, indent=2).decode())
        return
    say(
        f"{done.runs} runs taken in, {done.trends} trends looked at, "
        f"{done.changes} changes new or said anew, {len(new)} new regressions"
    )


@app.command()
def annotate(
    trend: Number,
    text: Annotated[str, typer.Argument(help="What is known, for those who come after.")],
    change: Annotated[int | None, typer.Option(min=1, help="One of its changes.")] = None,
) -> None:
    """Say something of a trend, or of one of its changes."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.tracking.trends import service
    from mitigauge.tracking.trends.schemas import Annotation

    said = answer(
        lambda session: service.annotate(session, trend, by=OPERATOR, text=text, change_id=change),
        lambda client: client.post(
            at("/api/trends/{}/annotations", trend), Annotation, {"text": text, "change_id": change}
        ),
    )
    say(f"annotation {said.id} of trend {trend}")


@app.command()
def accept(
    change: ChangeNumber,
    text: Annotated[str, typer.Argument(help="Why it is taken as it is.")],
    expected: Annotated[bool, typer.Option("--expected", help="It was known to come.")] = False,
) -> None:
    """Take a change as it is, with the reason.

    Later values never alter it silently: where they say otherwise, they make its next version, and
    that one is open again.
    """
    from mitigauge.access.roles import OPERATOR
    from mitigauge.tracking.trends import service
    from mitigauge.tracking.trends.schemas import TrendChange

    found = answer(
        lambda session: service.accept(session, change, by=OPERATOR, text=text, expected=expected),
        lambda client: client.post(
            at("/api/trends/changes/{}/accept", change),
            TrendChange,
            {"text": text, "expected": expected},
        ),
    )
    say(f"change {found.id} of trend {found.trend_id} is {found.state}: {_effect(found)}")
