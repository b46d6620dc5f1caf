"""`mitigauge report`: what is sent to people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.output import echo_json, say
from mitigauge.errors import InvalidInput, NotFound

app = typer.Typer(no_args_is_help=True, callback=lambda: None)

LARGEST_BYTES = 4 << 20


@app.command()
def check(
    cover_letter: Annotated[Path, typer.Argument(help="A cover letter, as mail or text.")],
    earlier: Annotated[
        list[Path] | None,
        typer.Option(help="The same of an earlier revision; may be given several times."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Look at a cover letter's figures as its readers will, before it is sent.

    Asks for baseline, direction, units, intervals and counts, and names rows that stand twice,
    lack figures, or have the very figures of an earlier revision. Exit code 1 where it has
    something to ask.
    """
    from dataclasses import asdict

    import orjson

    from mitigauge.reports.cover_letter import findings

    older = {path.name: _text_of(path) for path in earlier or []}
    found = findings(_text_of(cover_letter), older)
    if json:
        echo_json(
            orjson.dumps([asdict(each) for each in found], option=orjson.OPT_INDENT_2).decode()
        )
    for each in [] if json else found:
        say(f"{cover_letter.name}:{each.line}: {each.kind}: {each.text}")
    if not found and not json:
        say(f"{cover_letter.name}: nothing to ask")
    sys.exit(1 if found else 0)


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
