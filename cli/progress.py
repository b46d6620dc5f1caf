"""Following an experiment in a terminal: a bar a run, or lines where there is no terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.output import console, harmless, say
from cli.remote.routes import at
from cli.source import followed_answer
from mitigauge.core.documents.parts import counted
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.letters.report.host_time import host_time
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.schemas import EventView, ProgressView, RunView

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client

INTERVAL_S = 1.0
# Without a terminal, quiet stretches still show a line this often.
QUIET_S = 30.0
PLAY_EVENTS = ("ansible",)


def follow(experiment_id: int) -> ExperimentState:
    """Show progress until the experiment is over; returns how it ended."""
    progress = (_follow_live if console().is_terminal else _follow_lines)(experiment_id)
    for run in progress.runs:
        if run.host_time:
            say(host_time(run, run.host_time))
    return progress.state


def _load(experiment_id: int, after: int) -> tuple[ProgressView, list[EventView]]:
    """Progress first: of an end that comes between both readings, the lines are told too."""

    def here(session: Session) -> tuple[ProgressView, list[EventView]]:
        progress = views.show_progress(session, experiment_id)
        return progress, views.list_events(session, experiment_id, after)

    def there(client: Client) -> tuple[ProgressView, list[EventView]]:
        progress = client.get(at("/api/experiments/{}/progress", experiment_id), ProgressView)
        path = at("/api/experiments/{}/log", experiment_id)
        return progress, client.get(path, list[EventView], after=after)

    return followed_answer(here, there)


def _follow_live(experiment_id: int) -> ProgressView:
    after = 0
    with Live(console=console(), refresh_per_second=4, transient=False) as live:
        while True:
            progress, events = _load(experiment_id, after)
            after = events[-1].id if events else after
            for event in events:
                if event.kind not in PLAY_EVENTS:
                    live.console.print(_event_line(event))
            live.update(_bars(progress))
            if progress.is_over and not events:
                return progress
            time.sleep(INTERVAL_S)


def _follow_lines(experiment_id: int) -> ProgressView:
    after, spoke = 0, time.monotonic()
    while True:
        progress, events = _load(experiment_id, after)
        for event in events:
            after = event.id
            if event.kind not in PLAY_EVENTS:
                console().print(_event_line(event))
                spoke = time.monotonic()
        if time.monotonic() - spoke > QUIET_S:
            for run in progress.runs:
                say(f"  {run_words(run)}")
            spoke = time.monotonic()
        if progress.is_over and not events:
            return progress
        time.sleep(INTERVAL_S)


def _event_line(event: EventView) -> Text:
    return Text(harmless(f"{event.at:%H:%M:%S} {event.host or 'experiment'}: {event.text}"))


def _bars(progress: ProgressView) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for run in progress.runs:
        table.add_row(
            Text(harmless(run.host)),
            ProgressBar(
                total=max(run.boots_total, 1),
                completed=run.boots_done + run.boots_left_out,
                width=24,
            ),
            Text(harmless(run_words(run))),
        )
    return Group(table)


def run_words(run: RunView) -> str:
    """Where the run stands, what it does, and how long it will take."""
    block = f"block {run.block}/{run.blocks}, " if run.block else ""
    faults = f", {counted(run.lab_faults, 'lab fault')}" if run.lab_faults else ""
    doing = run.error or run.detail
    return (
        f"{run.host} {run.comparison}: {block}boot {run.boots_done}/{run.boots_total}, "
        f"{doing}{faults}{time_left(run)}"
    )


def time_left(run: RunView) -> str:
    """The estimate in words, or that there is none yet."""
    if run.state not in (RunState.QUEUED, RunState.RUNNING):
        return ""
    if run.seconds_left_low is None or run.seconds_left_high is None:
        return ", no estimate before the first boot is done"
    low, high = run.seconds_left_low / 60, run.seconds_left_high / 60
    least, most = round(low), max(round(high), 1)
    return f", about {least}-{most} min left" if least < most else f", about {most} min left"
