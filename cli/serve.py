"""`mitigauge serve`: the API and the dashboard."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Annotated

import typer

from api.addresses import EVERYWHERE, is_loopback, url_host
from cli.output import console, say

# The web service, the worker and what they stand on are imported by the process they are for.


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0: any free one.", min=0, max=65535)
    ] = None,
    login_key_from_stdin: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Serve the API and the dashboard, on loopback unless told otherwise.

    On loopback, in a terminal, it prints a link that lets a browser in as admin; elsewhere
    tokens let in: `mitigauge token create`. Answers 503 with the way out while the
    database's schema is not at head.
    """
    from api.app import create_app
    from api.server import listen, make_server
    from cli.memory import keep_freed_memory
    from mitigauge.access.secret import new_secret
    from mitigauge.core.logs.setup import configure_logs
    from mitigauge.core.settings import get_settings

    keep_freed_memory()
    settings = get_settings()
    configure_logs(settings)
    _require_same_key()
    address = host or settings.bind
    # Before anything is said: a link to where nobody answers would lead to somebody else.
    listener = listen(address, settings.port if port is None else port)
    number = listener.getsockname()[1]
    # Whoever started this shows the link itself.
    key = sys.stdin.readline().strip() if login_key_from_stdin else ""
    # What is no terminal is kept for long and read by many: a journal, a log of a CI.
    prints_link = not login_key_from_stdin and is_loopback(address) and sys.stdout.isatty()
    if prints_link:
        key = new_secret()
    elif not is_loopback(address):
        key = ""
    server = make_server(create_app(bound=address, login_key=key), address, number)
    base = dashboard_url(address, number)
    if not key:
        say(f"dashboard: {base}/  (Ctrl-C stops)")
        say(WITHOUT_TERMINAL if is_loopback(address) else WITHOUT_LINK)
    elif prints_link:
        from rich.text import Text

        # Not wrapped: terminals take a link to the end of the line.
        link = Text.assemble("dashboard: ", (login_link(base, key), "bold"))
        console().print(link, soft_wrap=True)
        say("This link lets a browser in as admin; keep it. Ctrl-C stops.")
    server.run(sockets=[listener])


def _require_same_key() -> None:
    """Refuse to begin with another access key than the service's other machines.

    While the database cannot tell, the service begins all the same, and answers 503.
    """
    from cli.stored import stored
    from mitigauge.access.service import require_same_key
    from mitigauge.core.errors import NotReady

    with suppress(NotReady), stored() as session:
        require_same_key(session)


WITHOUT_LINK = (
    "It listens beyond this machine, so there is no link to log in: make a token for everybody "
    "who may use it, `mitigauge token create NAME --role viewer|submitter|approver|admin`. "
    "Names under which it is reached go into MITIGAUGE_ALLOWED_HOSTS."
)

WITHOUT_TERMINAL = (
    "No link to log in is printed where no terminal is: it would let in whoever reads it. Make a "
    "token and log in with it, `mitigauge token create NAME --role admin`, or start "
    "`mitigauge serve` in a terminal."
)


def dashboard_url(address: str, port: int) -> str:
    """Where browsers find what listens on *address*."""
    # What listens on every address is asked for by none such as 0.0.0.0.
    name = "localhost" if address in EVERYWHERE else url_host(address)
    return f"http://{name}:{port}"


def login_link(base: str, key: str, path: str = "/login") -> str:
    """The link that lets a browser in and shows *path*.

    The key stands behind #, which browsers send to nobody: it is in no request, so in no
    log of a server or proxy and in no Referer. The page takes it out of the address, so
    that it does not stay in the browser's history either.
    """
    return f"{base}{path}#key={key}"


def openapi() -> None:
    """Print the API's OpenAPI description, from which the dashboard's types are made."""
    from sqlalchemy import create_engine

    from api.app import create_app

    # No request is served, so the engine is never connected.
    app = create_app(create_engine("postgresql+psycopg://"))
    typer.echo(json.dumps(app.openapi(), indent=2, sort_keys=True))
