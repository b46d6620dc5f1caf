"""Database sessions for requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from mitigauge.database import require_head, transaction


def _session(request: Request) -> Iterator[Session]:
    """One transaction a request, refused while the schema is not at head."""
    engine = request.app.state.engine
    if not request.app.state.ready:
        require_head(engine)
        request.app.state.ready = True
    with transaction(engine) as session:
        yield session


Database = Annotated[Session, Depends(_session, scope="function")]
