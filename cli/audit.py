"""`mitigauge audit`: who changed what, when and from where."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, errors, harmless, print_json, print_table, remark, say
from cli.remote.choice import chosen_server
from cli.remote.pieces import whole_lines
from cli.source import answer
from cli.stored import stored
from mitigauge.core.errors import InvalidInput

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from datetime import datetime

    from mitigauge.access.audit.repository import AuditFilter
    from mitigauge.access.audit.schemas import AuditEntryView

app = typer.Typer(no_args_is_help=True)

TOLD_EVERY = 5_000
MOST_WORDS = 3

By = Annotated[str, typer.Option("--actor", help="Only of that actor, by the whole name.")]
What = Annotated[str, typer.Option("--action", help="Only that: experiment.submit, host.resume …")]
Kind = Annotated[str, typer.Option("--subject-kind", help="Only things of that kind: host …")]
Of = Annotated[str, typer.Option("--subject", help="Only of that, by its whole name or number.")]
Since = Annotated[str, typer.Option(help="From then on: 2026-12-01 or 2026-12-01T18:00 (UTC).")]
Until = Annotated[str, typer.Option(help="Before then, in the same form.")]
Refused = Annotated[
    bool | None,
    typer.Option("--refused/--done", help="Only what was refused for lack of rights, or the rest."),
]


@app.command("list")
def list_entries(
    actor: By = "",
    action: What = "",
    subject_kind: Kind = "",
    subject: Of = "",
    since: Since = "",
    until: Until = "",
    refused: Refused = None,
    before: Annotated[
        int | None, typer.Option(min=1, help="Only entries with smaller numbers.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 50,
    json: Json = False,
) -> None:
    """What was changed, the newest first: by web, API, command, mail and worker."""
    from mitigauge.access.audit import views
    from mitigauge.access.audit.schemas import AuditPage

    wanted = _filter(actor, action, subject_kind, subject, since, until, refused)
    page = answer(
        lambda session: views.list_entries(session, wanted, before=before, limit=limit),
        lambda client: client.get(
            "/api/audit", AuditPage, before=before, limit=limit, **_parameters(wanted)
        ),
        reads=True,
    )
    if json:
        print_json(page)
        return
    print_table(
        ["id", "at (UTC)", "actor", "way", "from", "action", "of", "what"],
        [_row(entry) for entry in page.entries],
        empty="Nothing that fits was changed.",
    )
    if page.next_before is not None:
        say(f"older ones: --before {page.next_before}")


@app.command("export")
def export_entries(
    output: Annotated[Path, typer.Option("--output", "-o", help="The new file.")],
) -> None:
    """Write all entries as JSON lines, the oldest first, to a new file: whole, or not at all."""
    if output.exists():
        raise InvalidInput(f"{output} is there already", hint="Give another name, or move it.")
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    count = 0
    try:
        with errors().status("audit log") as status, part.open("x") as file, _lines() as all_:
            for line in all_:
                file.write(line)
                count += 1
                if count % TOLD_EVERY == 0:
                    _tell(f"audit log: {count:,} entries", status)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, output)
    except OSError as error:
        raise InvalidInput(
            f"{output} cannot be written: {error.strerror or error}", hint="Give another name."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    say(f"{output}: {count:,} entries")


@contextmanager
def _lines() -> Iterator[Iterator[str]]:
    """Entries as lines of JSON, the oldest first, while their transaction or answer lasts."""
    from mitigauge.access.audit import views

    if not chosen_server():
        with stored() as session:
            yield (f"{each.model_dump_json()}\n" for each in views.export_entries(session))
        return
    from cli.remote.client import client

    with client().pieces("/api/audit/export") as pieces:
        yield whole_lines(pieces)


def _parameters(wanted: AuditFilter) -> dict[str, str | bool | None]:
    """The filter as the API takes it."""
    return {
        "actor": wanted.actor or None,
        "action": wanted.action or None,
        "subject_kind": wanted.subject_kind or None,
        "subject": wanted.subject or None,
        "since": wanted.since.isoformat() if wanted.since else None,
        "until": wanted.until.isoformat() if wanted.until else None,
        "refused": wanted.refused,
    }


def _tell(words: str, status: object) -> None:
    """Say how far it is: in the moving line of a terminal, else in lines."""
    from rich.status import Status

    if errors().is_terminal and isinstance(status, Status):
        status.update(words)
    else:
        remark(words)


def _filter(
    actor: str,
    action: str,
    subject_kind: str,
    subject: str,
    since: str,
    until: str,
    refused: bool | None,
) -> AuditFilter:
    """What is wanted. Raises InvalidInput for a word that no entry has."""
    from mitigauge.access.audit.actions import Action, SubjectKind
    from mitigauge.access.audit.repository import AuditFilter

    for word, known in ((action, Action), (subject_kind, SubjectKind)):
        if word and word not in list(known):
            raise InvalidInput(f"there is no {word[:60]!r}", hint=f"Known: {', '.join(known)}.")
    return AuditFilter(
        actor, action, subject_kind, subject, _moment(since), _moment(until), refused
    )


def _moment(text: str) -> datetime | None:
    """A time, in UTC unless it names a zone; None for no text."""
    from datetime import UTC, datetime

    if not text:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            f"{text[:60]!r} is no time", hint="Give 2026-12-01 or 2026-12-01T18:00 (UTC)."
        ) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _row(entry: AuditEntryView) -> list[str]:
    what = f"refused: {entry.refused}" if entry.refused else _words(entry)
    about = " ".join(filter(None, (entry.subject_kind, entry.subject)))
    origin = ", ".join(filter(None, (entry.address, entry.job)))
    return [
        str(entry.id), f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.actor or "nobody known", entry.way,
        origin, entry.action, about, harmless(what),
    ]  # fmt: skip


def _words(entry: AuditEntryView) -> str:
    """The first values: what they were, where that is known, and what they are."""
    said = []
    for name in list({**entry.before, **entry.after})[:MOST_WORDS]:
        before, after = entry.before.get(name), entry.after.get(name)
        change = f"{before} → {after}" if name in entry.before and name in entry.after else ""
        said.append(f"{name} {change or (after if name in entry.after else before)}")
    return ", ".join(said)
