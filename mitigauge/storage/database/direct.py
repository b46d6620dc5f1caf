"""A connection straight from the driver, for what must answer at once.

SQLAlchemy takes longer to load than a list takes to make and print. What goes this way reads
one statement's rows and no more; everything else takes :mod:`mitigauge.storage.database.engine`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from mitigauge.core.settings import get_settings
from mitigauge.storage.database.embedded_server import ensure_running
from mitigauge.storage.database.schema_revision import (
    HAS_REVISION,
    REVISION,
    no_answer,
    require_wanted,
)

Row = dict[str, Any]
# The longest statement of a list takes some tenths of a second.
STATEMENT_LIMIT_S = 60
CONNECT_TIMEOUT_S = 10


@contextmanager
def direct_connection() -> Iterator[psycopg.Connection[Row]]:
    """One read-only transaction on a database whose schema is at head.

    Raises :class:`mitigauge.core.errors.NotReady` for any other.
    """
    try:
        with psycopg.connect(
            plain(database_address()),
            row_factory=dict_row,
            connect_timeout=CONNECT_TIMEOUT_S,
            application_name="mitigauge",
            options=f"-c statement_timeout={STATEMENT_LIMIT_S}s",
        ) as connection:
            connection.read_only = True
            require_wanted(_revision(connection))
            yield connection
    except psycopg.OperationalError as error:
        raise no_answer(str(error).strip().partition("\n")[0]) from error


def database_address() -> str:
    """The server's URL; starts our own server where none is configured."""
    settings = get_settings()
    return settings.database_address or ensure_running(settings.home)


def plain(url: str) -> str:
    """*url* as the driver takes it: SQLAlchemy's addresses name the driver too."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)


def _revision(connection: psycopg.Connection[Row]) -> str | None:
    if not any(row["migrated"] for row in connection.execute(HAS_REVISION)):
        return None
    found = connection.execute(REVISION).fetchone()
    return found["version_num"] if found else None
