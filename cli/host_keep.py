"""`mitigauge host`: who has a host, and what waits for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer
from mitigauge.core.documents import units

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client
    from mitigauge.reporting.pages.host_schemas import HostQueue, HostView, QueuedRun

Environment = Annotated[str, typer.Option(help="Environment.")]
Reason = Annotated[str, typer.Option(help="What for; everybody reads it.")]


def reserve(
    name: str,
    until: Annotated[
        str, typer.Option(help="8h, 3d, 2026-12-01 or 2026-12-01T18:00 (UTC); at most 60 days.")
    ],
    reason: Reason,
    environment: Environment = "lab",
    json: Json = False,
) -> None:
    """Keep a host for yourself: no run begins on it before that time.

    A run that holds it goes on until its end. `mitigauge host release` gives it back earlier.
    Everybody sees who has it, until when and what for.
    """
    from mitigauge.access.roles import OPERATOR
    from mitigauge.measurement.fleet.availability import moment
    from mitigauge.measurement.runs import service
    from mitigauge.reporting.pages.host_schemas import HostView
    from mitigauge.storage.database.engine import database_now

    def here(session: Session) -> tuple[datetime, int | None]:
        wanted = moment(until, database_now(session))
        holder = service.reserve(
            session, environment, name, until=wanted, reason=reason, by=OPERATOR
        )
        return wanted, holder

    def there(client: Client) -> tuple[datetime, int | None]:
        wanted = moment(until, datetime.now(UTC))
        body = {"until": wanted, "reason": reason}
        client.post(_at(environment, name, "reserve"), HostView, body)
        return wanted, _run_on(client, environment, name)

    wanted, holder = answer(here, there)
    _say_outcome(
        environment,
        name,
        f"is reserved until {wanted:%Y-%m-%d %H:%M} UTC",
        holder,
        json=json,
    )


def release(name: str, environment: Environment = "lab", json: Json = False) -> None:
    """Let runs begin on a reserved host again, also on one that somebody else reserved."""
    from mitigauge.access.roles import OPERATOR
    from mitigauge.measurement.runs import service

    def there(client: Client) -> str | None:
        owner = _host_there(client, name, environment).reserved_by
        return owner if changed(client, environment, name, "release") else None

    owner = answer(
        lambda session: service.release(session, environment, name, by=OPERATOR, may_break=True),
        there,
    )
    word = "was not reserved" if owner is None else f"is free again; it was {owner}'s"
    _say_outcome(environment, name, word, None, json=json)


def set_aside(
    name: str, reason: Reason, environment: Environment = "lab", json: Json = False
) -> None:
    """Let no run begin on a host until `mitigauge host resume`: it is broken, say.

    A run that holds it goes on until its end. A host that a rule set aside, since it did not answer
    or could not be restored, is probed and comes back by itself; this one does not.
    """
    from mitigauge.access.roles import OPERATOR
    from mitigauge.measurement.runs import service
    from mitigauge.reporting.pages.host_schemas import HostView

    def there(client: Client) -> int | None:
        client.post(_at(environment, name, "set-aside"), HostView, {"reason": reason})
        return _run_on(client, environment, name)

    holder = answer(
        lambda session: service.set_aside(session, environment, name, reason=reason, by=OPERATOR),
        there,
    )
    _say_outcome(environment, name, "is set aside", holder, json=json)


def queue(json: Json = False) -> None:
    """What each host runs, what waits for it, and when that will begin.

    Times are estimates from the boots that a run made, else from those that its host made before.
    """
    from mitigauge.reporting.pages.host_schemas import HostQueue
    from mitigauge.reporting.pages.queue import host_queues

    queues = answer(
        host_queues, lambda client: client.get("/api/queue", list[HostQueue]), reads=True
    )
    if json:
        print_json(queues)
        return
    print_table(
        ["host", "run", "experiment", "comparison", "by", "begins", "takes"],
        [row for each in queues for row in _rows(each)],
        empty="Nothing waits and nothing runs: `mitigauge experiment submit FILE` plans something.",
    )


def host_view(name: str, environment: str | None) -> HostView:
    """One host: what it was when it ran."""
    from mitigauge.reporting.pages.hosts import show_host

    return answer(
        lambda session: show_host(session, name, environment),
        lambda client: _host_there(client, name, environment),
    )


def changed(client: Client, environment: str, name: str, how: str) -> bool:
    """Have the service change a host; False where it is so already."""
    from cli.remote.faults import Problem
    from mitigauge.reporting.pages.host_schemas import HostView

    try:
        client.post(_at(environment, name, how), HostView)
    except Problem as problem:
        if problem.status != 409:
            raise
        return False
    return True


def _at(environment: str, name: str, how: str) -> str:
    return at("/api/hosts/{}/{}/{}", environment, name, how)


def _host_there(client: Client, name: str, environment: str | None) -> HostView:
    from mitigauge.reporting.pages.host_schemas import HostView

    return client.get(at("/api/hosts/{}", name), HostView, environment=environment)


def _run_on(client: Client, environment: str, name: str) -> int | None:
    """The run that holds a host, by its number."""
    from mitigauge.reporting.pages.host_schemas import HostQueue

    for each in client.get("/api/queue", list[HostQueue]):
        if (each.environment, each.host) == (environment, name) and each.running:
            return each.running.run_id
    return None


def _say_outcome(environment: str, name: str, word: str, holder: int | None, *, json: bool) -> None:
    if json:
        print_json(host_view(name, environment))
        return
    say(f"{environment}/{name} {word}")
    if holder is not None:
        say(f"run {holder} still holds it, until its end; `mitigauge host queue` shows how long")


def _rows(of: HostQueue) -> list[list[str]]:
    rows = []
    if of.kept:
        rows.append([of.host, "", of.kept, "", "", "", ""])
    if of.running is not None:
        rows.append([of.host, *_words(of.running), "now", _range(of.running, "takes")])
    rows += [
        [of.host, *_words(run), run.not_known or _range(run, "starts"), _range(run, "takes")]
        for run in of.waiting
    ]
    return rows


def _words(run: QueuedRun) -> list[str]:
    experiment = f"{run.experiment} ({run.experiment_id})"
    return [str(run.run_id), experiment, run.comparison, run.submitted_by]


def _range(run: QueuedRun, what: str) -> str:
    if what == "takes":
        ends = (run.takes_s, run.takes_low_s, run.takes_high_s)
    else:
        ends = (run.starts_in_s, run.starts_low_s, run.starts_high_s)
    if ends[0] is None or ends[1] is None or ends[2] is None:
        return "not known yet"
    about = units.duration(ends[0])
    if ends[1] == ends[2]:
        return f"in {about}" if what == "starts" else about
    prefix = "in " if what == "starts" else ""
    return f"{prefix}{about} ({units.duration(ends[1])} to {units.duration(ends[2])})"
