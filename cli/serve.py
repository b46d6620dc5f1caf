"""`mitigauge serve`, `mitigauge worker`: the processes of the service."""

from __future__ import annotations

import json
import logging
import sys
from typing import Annotated

import typer

from api.addresses import EVERYWHERE, is_loopback, url_host
from cli.output import console, say

# The web service, the worker and what they stand on are imported by the process they are for.


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    login_key_from_stdin: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Serve the API and the dashboard, on loopback unless told otherwise.

    On loopback it prints a link that lets a browser in as admin; on any other address,
    tokens let in: `mitigauge token create`. Answers 503 with the way out while the
    database's schema is not at head.
    """
    from api.app import create_app
    from api.server import make_server
    from cli.memory import keep_freed_memory
    from mitigauge.access.secret import new_secret
    from mitigauge.settings import get_settings

    keep_freed_memory()
    logging.basicConfig(level=logging.WARNING)
    settings = get_settings()
    address, number = host or settings.bind, port or settings.port
    # Whoever started this shows the link itself; here it would end in a log file.
    key = sys.stdin.readline().strip() if login_key_from_stdin else new_secret()
    if not is_loopback(address):
        key = ""
    server = make_server(create_app(bound=address, login_key=key), address, number)
    base = dashboard_url(address, number)
    if not key:
        say(f"dashboard: {base}/  (Ctrl-C stops)")
        say(WITHOUT_LINK)
    elif not login_key_from_stdin:
        from rich.text import Text

        # Not wrapped: terminals take a link to the end of the line.
        link = Text.assemble("dashboard: ", (login_link(base, key), "bold"))
        console().print(link, soft_wrap=True)
        say("This link lets a browser in as admin; keep it. Ctrl-C stops.")
    server.run()


WITHOUT_LINK = (
    "It listens beyond this machine, so there is no link to log in: make a token for everybody "
    "who may use it, `mitigauge token create NAME --role viewer|submitter|approver|admin`. "
    "Names under which it is reached go into MITIGAUGE_ALLOWED_HOSTS."
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


def worker(
    concurrency: Annotated[
        int | None, typer.Option(help="Runs advanced at the same time, at most.", min=1)
    ] = None,
) -> None:
    """Do what the service does by itself. Start as many as wanted, on any machine.

    A worker advances runs (boot, verify, measure) on the hosts that its inventory and keys reach,
    builds kernels where its machine has the programs for it, takes bisections and revisions on, and
    looks at archives and mails where its settings say so. `mitigauge worker list` shows what each
    can do. It may be stopped or killed at any moment; another one, or the same started again, goes
    on where it was.
    """
    from mitigauge.database.engine import database_url, get_engine, require_head
    from pipelines.adapters.ansible_host import open_host
    from mitigauge.settings import get_settings
    from pipelines.advance import Advancer
    from pipelines.jobs import runners_of
    from pipelines.jobs.engine import JobAdvancer
    from pipelines.worker import CONCURRENCY, Worker, name_of_this

    _log_in_lines()
    engine = get_engine()
    require_head(engine)
    settings = get_settings()
    name = name_of_this(settings)
    say(f"worker {name} waits for runs and jobs  (Ctrl-C stops after the step in hand)")
    Worker(
        Advancer(engine, open_host),
        database_url(),
        concurrency or CONCURRENCY,
        JobAdvancer(engine, runners_of(settings), name),
        name=name,
    ).run()


def _log_in_lines() -> None:
    """Lines with the time in UTC; tracebacks without local variables, which may be secret."""
    import structlog

    logging.basicConfig(level=logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(
                colors=sys.stdout.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


def openapi() -> None:
    """Print the API's OpenAPI description, from which the dashboard's types are made."""
    from sqlalchemy import create_engine

    from api.app import create_app

    # No request is served, so the engine is never connected.
    app = create_app(create_engine("postgresql+psycopg://"))
    typer.echo(json.dumps(app.openapi(), indent=2, sort_keys=True))
