"""`mitigauge report weekly`: what changed on the fleet in a week."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import echo, echo_json, errors, print_json, print_table, say
from cli.remote.choice import chosen_server, require_local
from cli.remote.routes import at
from cli.source import answer
from mitigauge.core.errors import InvalidInput

if TYPE_CHECKING:
    from cli.remote.client import Client
    from mitigauge.reporting.letters.weekly.service import Report


class Form(StrEnum):
    """How the report looks."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    MAIL = "mail"


def weekly(
    which: Annotated[
        str,
        typer.Argument(
            metavar="WEEK",
            help="2026-W47; default: the last week that is over and has anything.",
        ),
    ] = "",
    week: Annotated[str, typer.Option(help="The same.", hidden=True)] = "",
    form: Annotated[Form, typer.Option("--format", help="How it looks.")] = Form.TEXT,
    to: Annotated[Path | None, typer.Option(help="Write it there instead.")] = None,
    send: Annotated[
        list[str] | None, typer.Option(help="Send it to this address now; as often as needed.")
    ] = None,
    server: Annotated[
        str, typer.Option(help="SMTP server, host or host:port; else MITIGAUGE_MAIL_SERVER.")
    ] = "",
    sender: Annotated[
        str,
        typer.Option("--from", help="Who sends it: Name <name@host>; else MITIGAUGE_MAIL_FROM."),
    ] = "",
    plain_connection: Annotated[
        bool, typer.Option("--plain", help="Send without TLS: a server of this machine.")
    ] = False,
    made: Annotated[bool, typer.Option("--list", help="List the reports that were made.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """What changed in a week: regressions, their causes, and what the figures rest on.

    The report is made from what is stored, and stored itself: the dashboard shows it.
    Made again it changes only where later data do. A worker makes it when a week is over, and sends
    it to MITIGAUGE_WEEKLY_TO if that names anybody; nothing is sent else, but by --send.
    """
    if made:
        _list(json=json)
        return
    if which and week and which != week:
        raise InvalidInput(f"{which} and {week} are two weeks", hint="Give one of them.")
    week = which or week
    form = Form.JSON if json else form
    if chosen_server():
        _show_there(week, form, to, send or [])
        return
    receivers = _checked(send or [], server, sender)
    report = _make(week)
    if to is not None:
        to.write_bytes(report.rendered(form, base=_base()))
        say(f"{to}: {report.document.subject}")
    if receivers:
        _send(report, receivers, server, sender, plain=plain_connection)
    if to is None and not receivers:
        text = report.rendered(form, base=_base()).decode()
        echo_json(text.rstrip("\n")) if form is Form.JSON else echo(text.rstrip("\n"))


def _show_there(week: str, form: Form, to: Path | None, send: list[str]) -> None:
    """The report as the service has made it: its worker makes one when a week is over."""
    from cli.remote.client import client
    from mitigauge.reporting.letters.weekly.views import WeeklyView
    from mitigauge.reporting.letters.weekly.week import Week

    if send:
        require_local("report weekly --send", "Its worker sends to MITIGAUGE_WEEKLY_TO.")
    wanted = str(Week.parse(week)) if week else _newest_there(client())
    path = at("/api/weekly/{}/report", wanted)
    content = client().content(path, format=form.value)
    if to is not None:
        to.write_bytes(content)
        say(f"{to}: {client().get(at('/api/weekly/{}', wanted), WeeklyView).document.subject}")
        return
    text = content.decode().rstrip("\n")
    echo_json(text) if form is Form.JSON else echo(text)


def _newest_there(client: Client) -> str:
    """The newest week that is over, else the newest. Raises NotFound where there is none."""
    from mitigauge.core.errors import NotFound
    from mitigauge.reporting.letters.weekly.views import WeeklyLine

    lines = client.get("/api/weekly", list[WeeklyLine])
    if not lines:
        raise NotFound("no weekly report was made yet", hint="A worker makes it after the week.")
    return next((line.week for line in lines if line.complete), lines[0].week)


def _base() -> str:
    from mitigauge.core.settings import get_settings

    return get_settings().public_url.rstrip("/")


def _make(week: str) -> Report:
    from mitigauge.reporting.letters.weekly import service
    from mitigauge.reporting.letters.weekly.week import Week
    from mitigauge.storage.database import engine as database

    engine = database.get_engine()
    database.require_head(engine)
    if week:
        wanted = Week.parse(week)
    else:
        with database.transaction() as session:
            wanted = service.default_week(session)
    with errors().status(f"report of week {wanted}"):
        return service.make(engine, wanted)


def _checked(receivers: list[str], server: str, sender: str) -> list[str]:
    """The receivers, once it is clear that something can be sent."""
    from mitigauge.core.settings import get_settings
    from mitigauge.reporting.letters.weekly.mail import addressed

    settings = get_settings()
    for each in receivers:
        addressed(each)
    if receivers and not (server or settings.mail_server):
        raise InvalidInput("no server takes it", hint="Give --server HOST or host:port.")
    if receivers and not (sender or settings.mail_from):
        raise InvalidInput("nobody sends it", hint="Give --from 'Name <name@host>'.")
    return receivers


def _send(report: Report, to: list[str], server: str, sender: str, *, plain: bool) -> None:
    from mitigauge.core.settings import get_settings
    from mitigauge.reporting.deliveries.service import note_sent
    from mitigauge.storage.database.engine import transaction
    from pipelines.adapters.mail import send as hand_over

    settings = get_settings()
    mail = report.mail(sender=sender or settings.mail_from, to=to, base=_base())
    encrypted = settings.mail_encrypted and not plain
    hand_over(mail, server or settings.mail_server, encrypted=encrypted)
    with transaction() as session:
        note_sent(session, f"weekly-{report.data.week}", to)
    say(f"sent to {', '.join(to)}: {report.document.subject}")


def _list(*, json: bool) -> None:
    from mitigauge.reporting.letters.weekly import service
    from mitigauge.reporting.letters.weekly.views import WeeklyLine

    lines = answer(
        service.listed, lambda client: client.get("/api/weekly", list[WeeklyLine]), reads=True
    )
    if json:
        print_json(lines)
        return
    print_table(
        ["week", "new worse", "new better", "still open", "made", "sent"],
        [
            [line.week, str(line.new_worse), str(line.new_better), str(line.open_worse),
             f"{line.made_at:%Y-%m-%d %H:%M}{'' if line.complete else ', week not over'}",
             f"{line.sent_at:%Y-%m-%d %H:%M}" if line.sent_at else "no"]
            for line in lines
        ],
        empty="No report yet: `mitigauge report weekly` makes the last week's.",
    )  # fmt: skip
