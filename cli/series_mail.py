"""`mitigauge series requests`: what people asked for by mail, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, echo, print_json, print_table, say
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    pass

Number = Annotated[int, typer.Argument(help="A request's number (`mitigauge series requests`).")]


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
    from mitigauge.tracking.series import faults
    from mitigauge.tracking.series import request_repository as repository
    from mitigauge.tracking.series.schemas import RequestView
    from mitigauge.tracking.series.states import RequestState

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
        empty="No requests yet: docs/series.md says how they come.",
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
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series import request_service

    with stored() as session:
        digest = request_service.find(session, request).mail_sha256
    echo(blob_store(get_settings()).read(digest).decode(errors="replace"))


def approve(request: int, digest: str) -> None:
    """Carry out a request that waits for a person, if its mail has that digest."""
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store
    from mitigauge.tracking.series import request_service
    from mitigauge.tracking.studies.service import ask_by_mail
    from pipelines.adapters.build_root import known_bases

    settings = get_settings()
    with stored() as session:
        row = request_service.find(session, request)
        means = request_service.Means(blob_store(settings), known_bases(settings), ask_by_mail)
        request_service.approve(session, row, means, digest)
        said = f"request {row.id} is {row.state}: {row.why}"
    say(said)


def ignore(request: Number) -> None:
    """Leave a request alone: it gets no answer. Takes back a `#mitigauge stop`, too.

    What is measured for it already goes on.
    """
    from mitigauge.tracking.series import request_service

    with stored() as session:
        row = request_service.find(session, request)
        request_service.ignore(session, row)
        said = f"request {row.id} of {row.sender} is ignored"
    say(said)
