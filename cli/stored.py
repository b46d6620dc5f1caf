"""How a command reaches the database; its libraries are imported when it does."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from cli.remote.choice import require_local

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


def stored(*, reads: bool = False) -> AbstractContextManager[Session]:
    """A transaction on a database whose schema is at head; *reads*: nothing is written in it.

    Raises :class:`mitigauge.core.errors.NotReady` for any other, and :class:`LocalOnly` where a
    service is given: then no database of this machine's is started or opened.
    """
    require_local("with a database")
    from mitigauge.storage.database import engine as database

    engine = database.get_engine()
    database.require_head(engine)
    return database.reading() if reads else database.transaction()
