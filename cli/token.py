"""`mitigauge token`: who may use the service over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.stored import stored
from mitigauge.access.roles import DEFAULT_DAYS, Role
from mitigauge.core.errors import InvalidInput

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The person or program that has it.")]


@app.command()
def create(
    name: Name,
    role: Annotated[
        Role,
        typer.Option(
            help="viewer reads; submitter and runner (a CI) also submit, and cancel their own; "
            "approver cancels everybody's; admin may do all."
        ),
    ],
    days: Annotated[
        int | None, typer.Option(help=f"How long it lasts; {DEFAULT_DAYS} if not given.")
    ] = None,
    never: Annotated[bool, typer.Option("--never", help="It never expires.")] = False,
    json: Json = False,
) -> None:
    """Make a token and print it. It is shown this once: only its HMAC is stored."""
    if never and days is not None:
        raise InvalidInput("both --days and --never are given", hint="Give one of them.")
    from mitigauge.access import service

    lasting = None if never else days if days is not None else DEFAULT_DAYS
    with stored() as session:
        made = service.create_token(session, name, role, days=lasting)
    if json:
        print_json(made)
        return
    # Alone on its line and on stdout, so that it can be copied and piped.
    typer.echo(made.token)
    say(
        f"{made.name} is {made.role}, until {_day(made.expires_at, 'it is revoked')}. "
        "Keep the token now: it is not shown again."
    )


@app.command("list")
def list_tokens(json: Json = False) -> None:
    """All tokens with role, expiry and last use, the newest first."""
    from mitigauge.access import service

    with stored() as session:
        found = service.list_tokens(session)
    if json:
        print_json(found)
        return
    print_table(
        ["name", "role", "state", "created", "expires", "last used"],
        [
            [
                t.name,
                t.role,
                t.state,
                _day(t.created_at, ""),
                _day(t.expires_at, "never"),
                _minute(t.last_used_at),
            ]
            for t in found
        ],
        empty="No token yet. `mitigauge token create NAME --role viewer` makes one.",
    )


@app.command()
def revoke(name: Name) -> None:
    """End a token and the browser sessions that it began, at once."""
    from mitigauge.access import service

    with stored() as session:
        service.revoke_token(session, name)
    say(f"the token {name} is revoked")


def _day(at: datetime | None, otherwise: str) -> str:
    return f"{at:%Y-%m-%d}" if at else otherwise


def _minute(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else "never"
