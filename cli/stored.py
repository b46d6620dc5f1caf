"""How a command reaches the database; its libraries are imported when it does."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


def stored() -> AbstractContextManager[Session]:
    """A transaction on a database whose schema is at head.

    Raises :class:`mitigauge.errors.NotReady` for any other.
    """
    from mitigauge.database import engine as database

    engine = database.get_engine()
    database.require_head(engine)
    return database.transaction()
