"""`mitigauge job`: what the service does by itself, and following it in a terminal."""

from __future__ import annotations

import textwrap
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, errors, harmless, print_json, print_table, remark, say
from cli.remote.routes import at
from cli.source import answer, followed_answer
from cli.stored import stored
from mitigauge.core.errors import MitigaugeError

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.remote.client import Client
    from mitigauge.jobs.schemas import JobEventView, JobView, JobWhole
    from mitigauge.jobs.states import JobKind

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="A job's number (`mitigauge job list`).")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Follow it until it is over; it goes on anyway.")
]
POLL_S = 1.0
LONGEST_BRIEF = 80
OVER = ("done", "failed", "cancelled")


@app.command("list")
def list_jobs(
    own: Annotated[
        bool, typer.Option("--own", help="Also the service's own, which never end.")
    ] = False,
    find: Annotated[str, typer.Option(help="Words, each in title, subject or who.")] = "",
    state: Annotated[
        list[str] | None, typer.Option(help="queued, running, failed, …; repeated: any of them.")
    ] = None,
    json: Json = False,
) -> None:
    """Jobs that workers do: kernels, revisions, bisections; the newest first."""
    from cli.choices import chosen
    from mitigauge.jobs import views
    from mitigauge.jobs.schemas import JobView
    from mitigauge.jobs.states import JobState

    states = chosen(state, JobState, "--state")
    found = answer(
        lambda session: views.list_jobs(session, standing=own, find=find, states=states),
        lambda client: client.get(
            "/api/jobs", list[JobView], own=own, find=find, state=list(map(str, states))
        ),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["id", "kind", "of", "state", "now", "asked by"],
        [[str(j.id), j.kind, j.title, j.state, brief(j.waits or j.error or j.progress), j.asked_by]
         for j in found],
        empty="No jobs yet: `mitigauge kernel build`, `mitigauge bisect start` and "
        "`mitigauge series start` ask for some.",
    )  # fmt: skip


def brief(said: str) -> str:
    """The beginning of what a job says, for one line of a list; `job show` has it whole."""
    # Line breaks of what came from outside stand as they are spelled.
    first = said.replace("\\n", "\n").strip().partition("\n")[0]
    return textwrap.shorten(first, LONGEST_BRIEF, placeholder=" …")


@app.command()
def show(job: Number, json: Json = False) -> None:
    """One job: what it is about, its log, and who tried what."""
    view = _whole(job)
    if json:
        print_json(view)
        return
    say(f"job {view.id}: {view.kind}: {view.title}")
    say(f"  {view.state}, asked by {view.asked_by} at {view.created_at:%Y-%m-%d %H:%M} UTC")
    for line in filter(None, (view.waits, view.progress, view.error)):
        say(f"  {line}")
    for event in view.events:
        say(f"  {event.at:%H:%M:%S} {event.text}")
    print_table(
        ["attempt", "worker", "outcome", "detail"],
        [[str(a.epoch), a.worker, a.outcome or "under way", a.detail] for a in view.attempts],
        empty="No attempts yet.",
    )


@app.command()
def wait(job: Number, json: Json = False) -> None:
    """Follow a job until it is over. Exit code 0 where it is done, 1 where it is not."""
    view = follow(job)
    if json:
        print_json(view)
    raise typer.Exit(0 if view.state == "done" else 1)


@app.command()
def cancel(job: Number) -> None:
    """End a job; what it builds is stopped, and hosts of its experiments are restored first."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.jobs import service
    from mitigauge.jobs.schemas import JobView

    answer(
        lambda session: service.cancel(session, job, OPERATOR),
        lambda client: client.post(at("/api/jobs/{}/cancel", job), JobView),
    )
    say(f"job {job} is cancelled")


def print_asked(job: int, *, json: bool) -> None:
    """Say that a job goes on without this command."""
    view = job_view(job)
    if json:
        print_json(view)
        return
    say(f"job {job}: {view.title}: {view.state}")
    say(f"`mitigauge job wait {job}` follows it, `mitigauge job cancel {job}` ends it")


def looked_now(kinds: Sequence[JobKind]) -> None:
    """Have the service's own jobs of those kinds go on now, and say what they find.

    Raises NotReady where no worker does any of them.
    """
    from mitigauge.core.errors import NotReady
    from mitigauge.jobs import repository, views
    from mitigauge.jobs.states import NEEDS

    begun: dict[int, tuple[int, int]] = {}
    with stored() as session:
        able = views.served(session)
        for kind in kinds:
            job = repository.open_job(session, kind, "", lock=True)
            if job is not None and NEEDS[kind] in able:
                begun[job.id] = (job.epoch, repository.last_event_id(session, job.id))
                repository.wake(session, kind, "")
    if not begun:
        raise NotReady(
            "no worker looks at archives or mails",
            hint="Set MITIGAUGE_WATCH_SERIES=true or MITIGAUGE_MAILDIR for a worker; see "
            "docs/series.md.",
        )
    for number, (epoch, last) in begun.items():
        _say_look(number, epoch, last)


def _say_look(job: int, epoch: int, last: int) -> None:
    """Wait for the next look to end, and say what it found."""
    from mitigauge.jobs import service, views

    while True:
        with stored() as session:
            row = service.find(session, job)
            over, error, title = row.epoch > epoch and row.holder is None, row.error, row.title
            lines = views.list_events(session, job, last)
        if over:
            break
        time.sleep(POLL_S)
    for line in lines:
        say(harmless(line.text))
    if error:
        raise MitigaugeError(error, hint=f"`mitigauge job show {job}` has all of it.")
    if not lines:
        say(f"{title}: nothing new")


def follow(job: int) -> JobView:
    """Say what a job does until it is over. Raises nothing of its own: it goes on without us."""
    from lab.progress import ConsoleProgress

    after = 0
    try:
        with ConsoleProgress(errors()) as progress:
            while True:
                view, lines = _news(job, after)
                for line in lines:
                    progress.stage(harmless(line.text))
                    after = line.id
                if view.state in OVER:
                    return view
                progress.detail(harmless(view.waits or view.progress))
                time.sleep(POLL_S)
    except KeyboardInterrupt:
        remark(f"job {job} goes on: `mitigauge job wait {job}` follows it again")
        raise


def followed(job: int) -> JobView:
    """The job once it is done; raises MitigaugeError with its own words where it is not."""
    view = follow(job)
    if view.state == "failed":
        raise MitigaugeError(view.error, hint=f"`mitigauge job show {job}` has all of it.")
    if view.state == "cancelled":
        raise MitigaugeError(f"job {job} was cancelled by {view.cancelled_by}")
    return view


def job_view(job: int) -> JobView:
    """One job as it stands. Raises NotFound."""
    from mitigauge.jobs import views
    from mitigauge.jobs.schemas import JobView

    return answer(
        lambda session: views.view_job(session, job),
        lambda client: client.get(at("/api/jobs/{}", job), JobView),
        reads=True,
    )


def _news(job: int, after: int) -> tuple[JobView, Sequence[JobEventView]]:
    """One job as it stands, and the lines of its log after that one."""
    from mitigauge.jobs import views
    from mitigauge.jobs.schemas import JobView, JobWhole

    def there(client: Client) -> tuple[JobView, Sequence[JobEventView]]:
        whole = client.get(at("/api/jobs/{}", job), JobWhole)
        view = JobView.model_validate(dict(whole))
        return view, [line for line in whole.events if line.id > after]

    return followed_answer(
        lambda session: (views.view_job(session, job), views.list_events(session, job, after)),
        there,
    )


def _whole(job: int) -> JobWhole:
    from mitigauge.jobs import views
    from mitigauge.jobs.schemas import JobWhole

    return answer(
        lambda session: views.show_job(session, job),
        lambda client: client.get(at("/api/jobs/{}", job), JobWhole),
        reads=True,
    )
