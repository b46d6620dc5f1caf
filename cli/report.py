"""`mitigauge report`: what is sent to people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.output import echo, echo_json, say
from cli.report_weekly import weekly
from mitigauge.core.errors import InvalidInput, NotFound

app = typer.Typer(no_args_is_help=True, callback=lambda: None)

LARGEST_BYTES = 4 << 20

app.command()(weekly)


@app.command()
def check(
    cover_letter: Annotated[Path, typer.Argument(help="A cover letter, as mail or text.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Look at a cover letter's tables of percentages as its readers will, before it is sent.

    Names rows that stand twice, and asks for intervals and for how many runs stand behind a figure.
    A table of another form is not read. Exit code 1 where it has something to ask.
    """
    from dataclasses import asdict

    import orjson

    from mitigauge.reporting.letters.reply.cover_letter import findings

    found = findings(_text_of(cover_letter))
    if json:
        echo_json(
            orjson.dumps([asdict(each) for each in found], option=orjson.OPT_INDENT_2).decode()
        )
    for each in [] if json else found:
        say(f"{cover_letter.name}:{each.line}: {each.kind}: {each.text}")
    if not found and not json:
        say(f"{cover_letter.name}: nothing to ask")
    sys.exit(1 if found else 0)


@app.command()
def reply(
    name: Annotated[str, typer.Argument(help="A series' name or number.")],
    revision: Annotated[str, typer.Argument(help="v3, or v3+fix-7; empty: the newest.")] = "",
    output: Annotated[
        Path | None, typer.Option(help="Write it there, as `git send-email` takes it.")
    ] = None,
    sender: Annotated[str, typer.Option("--from", help="Who answers: Name <name@host>.")] = "",
    send: Annotated[
        str, typer.Option(help="Send it now, through this SMTP server: host or host:port.")
    ] = "",
    plain_connection: Annotated[
        bool, typer.Option("--plain", help="Send without TLS: a server of this machine.")
    ] = False,
) -> None:
    """Answer a revision's thread with what was measured of it: figures, proof, how to repeat it.

    The mail goes to standard output, to a file, or, when --send says so, to everybody whom the
    patches name, but those who asked for no more answers. Nothing is ever sent by itself.
    """
    from cli.stored import stored
    from mitigauge.reporting.letters.reply.reply import as_file
    from mitigauge.reporting.letters.reply.service import answer
    from mitigauge.tracking.series import request_repository, service

    if send and not sender:
        raise InvalidInput("nobody sends it", hint="Give --from 'Name <name@host>'.")
    with stored() as session:
        found = service.find_revision(session, name, revision)
        mail = answer(session, found, sender=sender)
        mail_name = f"reply-{found.series.name}-{found.label}"
        stopped_by = request_repository.stopped_by(session, found.series_id)
    if send and stopped_by:
        raise InvalidInput(
            f"{stopped_by} asked that {name} is not answered any more",
            hint="`mitigauge series requests` lists that; `mitigauge series ignore` takes it back.",
        )
    content = as_file(mail)
    if output is not None:
        output.write_bytes(content)
        say(f"{output}: {mail['Subject']}")
    if send:
        from mitigauge.reporting.deliveries.service import note_sent
        from pipelines.adapters.mail import send as hand_over

        hand_over(mail, send, encrypted=not plain_connection)
        with stored() as session:
            note_sent(session, mail_name, [str(mail["To"])])
        say(f"sent to {mail['To']}")
    if output is None and not send:
        echo(content.decode())


def _text_of(path: Path) -> str:
    """A mail's text, or a file's."""
    if not path.is_file():
        raise NotFound(f"{path} is not there", hint="Give a file, as `git format-patch` writes it.")
    if path.stat().st_size > LARGEST_BYTES:
        raise InvalidInput(f"{path} is larger than 4 MiB", hint="Give one mail.")
    from email import message_from_bytes, policy

    content = path.read_bytes()
    mail = message_from_bytes(content, policy=policy.default)
    body = mail.get_body(("plain",)) if mail.get("Subject") else None
    try:
        return str(body.get_content()) if body is not None else content.decode(errors="replace")
    except (LookupError, ValueError, KeyError):
        return content.decode(errors="replace")
