"""Rows for other programs: CSV, and lines of JSON. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

# A spreadsheet takes a text that begins like this for a formula, and runs it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(value: object) -> object:
    """A cell's value: text that a spreadsheet would take for a formula gets an apostrophe."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The rows as CSV (RFC 4180) in pieces, header first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([harmless(row[name]) for name in columns])
        if buffer.tell() > 1 << 16:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def as_json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each row as a line of JSON."""
    return (orjson.dumps(row).decode() + "\n" for row in rows)
