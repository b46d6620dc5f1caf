"""Recording a database's rows to a file, and playing them back into an empty one.

Browser tests and screenshots show a run that really happened on the emulated hosts:
``python -m tests.recording save FILE`` writes it from the configured database.
"""

from __future__ import annotations

import base64
import gzip
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    LargeBinary,
    MetaData,
    Table,
    Uuid,
    func,
    select,
    text,
)

from mitigauge.storage.database.engine import get_engine

# Tables of the migrations and of the queue.
NOT_OURS = ("alembic_version", "procrastinate")
RECORDED = Path(__file__).parent / "fixtures" / "lab-demo.json.gz"


def save(engine: Engine, path: Path) -> None:
    """Write all rows of all our tables."""
    with engine.connect() as connection:
        rows = {
            str(table.name): [
                {str(name): value for name, value in row._mapping.items()}
                for row in connection.execute(select(table).order_by(*table.primary_key))
            ]
            for table in _tables(connection)
        }
    path.write_bytes(gzip.compress(orjson.dumps(rows, default=_as_text), mtime=0))


def _tables(connection: Connection) -> list[Table]:
    """Our tables as they are in the database, whatever its revision, parents first."""
    found = MetaData()
    found.reflect(connection, only=lambda name, _: not name.startswith(NOT_OURS))
    return found.sorted_tables


def _as_text(value: Any) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def rows_of(table: str, path: Path = RECORDED) -> list[dict[str, Any]]:
    """The recorded rows of one table, which the schema of today may not have any more."""
    rows: list[dict[str, Any]] = orjson.loads(gzip.decompress(path.read_bytes()))[table]
    return rows


def load(engine: Engine, path: Path = RECORDED) -> None:
    """Put recorded rows into an empty database of the revision they were recorded at."""
    rows = orjson.loads(gzip.decompress(path.read_bytes()))
    with engine.begin() as connection:
        for table in _tables(connection):
            if rows.get(table.name):
                connection.execute(table.insert(), [_typed(table, row) for row in rows[table.name]])
                _set_sequence(connection, table)


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(table, name, value) for name, value in row.items()}


def _value(table: Table, name: str, value: Any) -> Any:
    kind = table.c[name].type
    if value is not None and isinstance(kind, DateTime):
        return datetime.fromisoformat(value)
    if value is not None and isinstance(kind, Uuid):
        return UUID(value)
    if value is not None and isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    return value


def _set_sequence(connection: Any, table: Table) -> None:
    if "id" not in table.c:
        return
    newest = connection.execute(select(func.max(table.c.id))).scalar_one()
    connection.execute(
        text("select setval(pg_get_serial_sequence(:table, 'id'), :newest)"),
        {"table": table.name, "newest": newest},
    )


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "save":
        sys.exit("usage: python -m tests.recording save FILE")
    save(get_engine(), Path(sys.argv[2]))
