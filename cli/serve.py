"""`mitigauge serve`, `mitigauge worker`: the processes of the service."""

from __future__ import annotations

import json
import logging
import sys
from typing import Annotated

import structlog
import typer
import uvicorn
from sqlalchemy import create_engine

from api.app import create_app
from cli.output import console
from mitigauge.database import database_url, get_engine, require_head
from mitigauge.memory import keep_freed_memory
from mitigauge.settings import get_settings
from pipelines.adapters.ansible_host import open_host
from pipelines.advance import Advancer
from pipelines.worker import CONCURRENCY, Worker


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve the API and the dashboard, on loopback unless told otherwise.

    Answers 503 with the way out while the database's schema is not at head.
    """
    keep_freed_memory()
    settings = get_settings()
    address, number = host or settings.bind, port or settings.port
    console.print(f"dashboard: http://{address}:{number}/  (Ctrl-C stops)")
    uvicorn.run(create_app(), host=address, port=number, log_level="warning")


def worker(
    concurrency: Annotated[int, typer.Option(help="Runs advanced at the same time.")] = CONCURRENCY,
) -> None:
    """Advance runs: boot, verify, measure. Start as many as wanted, on any machine.

    A worker may be stopped or killed at any moment; another one, or the same started
    again, goes on where it was.
    """
    _log_in_lines()
    engine = get_engine()
    require_head(engine)
    console.print("worker waits for runs  (Ctrl-C stops after the step in hand)")
    Worker(Advancer(engine, open_host), database_url(), concurrency).run()


def _log_in_lines() -> None:
    """Lines with the time in UTC; tracebacks without local variables, which may be secret."""
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
    # No request is served, so the engine is never connected.
    app = create_app(create_engine("postgresql+psycopg://"))
    typer.echo(json.dumps(app.openapi(), indent=2, sort_keys=True))
