"""Rows that an upgrade drops are written to a file in the state directory first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import get_settings


def write_rows(
    connection: Connection, queries: Mapping[str, str], name: str, say: Callable[[str], None]
) -> None:
    """Write what each query gives to file *name*, a line of JSON a row; no file for no row.

    A line is ``{"table": …, "row": {…}}``. The file is whole when this returns. Raises NotReady
    where it cannot be written.
    """
    rows = _rows(connection, queries)
    first = next(rows, None)
    if first is None:
        return
    path = get_settings().home / name
    part = path.with_name(f"{name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(first)
            file.writelines(rows)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise NotReady(
            f"rows of what went from this version cannot be written to {path}: {error.strerror}",
            hint="Make room or the directory writable, then run `mitigauge db upgrade` again.",
        ) from error
    say(f"rows of what went from this version are written to {path}")


def _rows(connection: Connection, queries: Mapping[str, str]) -> Iterator[str]:
    for table, query in queries.items():
        statement = text(f"select row_to_json(kept) from ({query}) as kept")
        for row in connection.execute(statement).scalars():
            yield _line(table, row)


def _line(table: str, row: Any) -> str:
    return json.dumps({"table": table, "row": row}, ensure_ascii=False) + "\n"
