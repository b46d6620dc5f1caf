"""Database sessions for requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from sqlalchemy.orm import Session

from mitigauge.storage.database.engine import require_head, transaction


@contextmanager
def begin(app: FastAPI) -> Iterator[Session]:
    """One transaction, refused while the schema is not at head."""
    engine = app.state.engine
    if not app.state.ready:
        require_head(engine)
        app.state.ready = True
    with transaction(engine) as session:
        yield session


def _session(request: Request) -> Iterator[Session]:
    """One transaction a request."""
    with begin(request.app) as session:
        yield session


Database = Annotated[Session, Depends(_session, scope="function")]
