"""`mitigauge series mail`: requests that come by mail, and their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, echo, print_json, print_table, say
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from sqlalchemy import Engine

    from pipelines.series_mail import Desk, Outbox

AnswerToDir = Annotated[
    Path | None, typer.Option("--answer-to-dir", help="Write answers there, a file each.")
]
Send = Annotated[
    str, typer.Option("--send", help="Send answers through this SMTP server: host or host:port.")
]
From = Annotated[str, typer.Option("--from", help="Who answers: Name <name@host>.")]
Plain = Annotated[bool, typer.Option("--plain", help="Send without TLS: a server of this machine.")]
Number = Annotated[int, typer.Argument(help="A request's number (`mitigauge series requests`).")]
POLL_S = 10.0


def mail(
    maildir: Annotated[
        Path, typer.Option(help="Where mails to the service are delivered; its new/ is read.")
    ],
    answer_to_dir: AnswerToDir = None,
    send: Send = "",
    sender: From = "",
    plain_connection: Plain = False,
    once: Annotated[
        bool, typer.Option("--once", help="Deal with what is there, then end.")
    ] = False,
) -> None:
    """Deal with mails that ask for a test, and answer them.

    A mail asks by a line of its own that begins with #mitigauge, in plain text, as an answer to a
    mail of the series:

      #mitigauge test                that revision; with a diff: with it on top

      #mitigauge test base VERSION   the same on another base that is here

      #mitigauge stop                no more answers to you, nor to that series

    It is carried out where its sender is in MITIGAUGE_SENDERS and a key in MITIGAUGE_KEYRING
    proves it (patatt). Any other waits for `mitigauge series approve --request NUMBER --digest
    DIGEST` and gets no answer before. Any mail server, fetchmail or mbsync can
    deliver into a Maildir.

    Each is answered twice: what was understood, and what came of it. Answers are files, for
    `git send-email`, unless --send says otherwise. What is to be measured is built and submitted
    by `mitigauge series start` or `mitigauge series watch`, which also does all of this where
    MITIGAUGE_MAILDIR is set.
    """
    import time

    from mitigauge.database import engine as database

    box = outbox(answer_to_dir, send, sender, plain=plain_connection)
    engine = database.get_engine()
    database.require_head(engine)
    at_work = desk(engine, box)
    while True:
        at_work.look(maildir)
        at_work.answer()
        if once:
            return
        time.sleep(POLL_S)


def requests(
    waiting: Annotated[
        bool, typer.Option("--waiting", help="Only those that wait for a person.")
    ] = False,
    mail: Annotated[
        int | None, typer.Option("--mail", help="Print the whole mail of that request instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Requests that came by mail, the newest first, and what became of them."""
    if mail is not None:
        _print_mail(mail)
        return
    from mitigauge.series import faults
    from mitigauge.series import request_repository as repository
    from mitigauge.series.schemas import RequestView
    from mitigauge.series.states import RequestState

    with stored() as session:
        rows = repository.listed(session, RequestState.WAITING if waiting else "")
        found = [RequestView.model_validate(row) for row in rows]
        set_aside = faults.words(session, faults.MAILDIR)
    if json:
        print_json(found)
        return
    print_table(
        ["id", "from", "asks", "of", "state", "why", "answered"],
        [[str(r.id), r.sender, r.line, r.about, r.state, r.error or r.why, r.answered]
         for r in found],
        empty="No requests yet: `mitigauge series mail --help` says how they come.",
    )  # fmt: skip
    for line in set_aside:
        say(f"set aside: {line}")
    for request in found:
        if request.state == RequestState.WAITING:
            say(
                f"`mitigauge series requests --mail {request.id}` prints it, "
                f"`mitigauge series approve --request {request.id} --digest "
                f"{request.mail_sha256[:16]}` carries it out"
            )


def _print_mail(request: int) -> None:
    from mitigauge.files.blobs import blob_store
    from mitigauge.series import request_service
    from mitigauge.settings import get_settings

    with stored() as session:
        digest = request_service.find(session, request).mail_sha256
    echo(blob_store(get_settings()).read(digest).decode(errors="replace"))


def approve(request: int, digest: str) -> None:
    """Carry out a request that waits for a person, if its mail has that digest."""
    from mitigauge.files.blobs import blob_store
    from mitigauge.series import request_service
    from mitigauge.settings import get_settings
    from pipelines.series_mail import known_bases

    settings = get_settings()
    with stored() as session:
        row = request_service.find(session, request)
        request_service.approve(
            session, row, request_service.Means(blob_store(settings), known_bases(settings)), digest
        )
        said = f"request {row.id} is {row.state}: {row.why}"
    say(said)


def ignore(request: Number) -> None:
    """Leave a request alone: it gets no answer. Takes back a `#mitigauge stop`, too.

    What is measured for it already goes on.
    """
    from mitigauge.series import request_service

    with stored() as session:
        row = request_service.find(session, request)
        request_service.ignore(session, row)
        said = f"request {row.id} of {row.sender} is ignored"
    say(said)


def outbox(directory: Path | None, server: str, sender: str, *, plain: bool) -> Outbox:
    """Where answers go. Raises InvalidInput unless one way is named."""
    from pipelines.series_mail import Outbox

    return Outbox(directory, server, sender, encrypted=not plain)


def desk(engine: Engine, box: Outbox) -> Desk:
    """Who reads mails and answers them, telling the terminal."""
    from mitigauge.files.blobs import blob_store
    from mitigauge.settings import get_settings
    from pipelines.series_mail import Desk

    settings = get_settings()
    return Desk(engine, blob_store(settings), settings, box, say)


def look(at_work: Desk, maildir: Path) -> None:
    """A look whose faults do not end a command that follows series beside."""
    from mitigauge.errors import MitigaugeError

    try:
        at_work.look(maildir)
    except MitigaugeError as error:
        say(error.message)
