"""Tables for other programs: what a page shows, and raw iterations. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from mitigauge.views.iterations import IterationLine
from mitigauge.views.schemas import ExperimentView

# A spreadsheet takes a text that begins like this for a formula, and runs it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
MATRIX_COLUMNS = (
    *("comparison", "host", "emulated", "workload", "case", "metric", "unit", "direction"),
    *("primary", "arm", "mode", "baseline", "state", "n", "blocks", "mean", "effect_percent"),
    *("ci_low_percent", "ci_high_percent", "p", "q", "mde_percent", "verdict"),
    *("decided_after", "version", "note"),
)
_CELL_COLUMNS = MATRIX_COLUMNS[MATRIX_COLUMNS.index("state") :]


def harmless(value: object) -> object:
    """A cell's value: text that a spreadsheet would take for a formula gets an apostrophe."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


def matrix_rows(view: ExperimentView) -> Iterator[Mapping[str, Any]]:
    """A row for each cell of the experiment's matrices, with :data:`MATRIX_COLUMNS`."""
    for comparison in view.comparisons:
        arms = {arm.id: arm for arm in comparison.arms}
        for row in comparison.rows:
            for cell in row.cells:
                arm = arms[cell.arm_id]
                yield {
                    "comparison": comparison.name,
                    "host": row.host,
                    "emulated": view.host_facts[row.host].emulated,
                    "workload": row.workload,
                    "case": row.case,
                    "metric": row.metric,
                    "unit": row.unit,
                    "direction": row.direction,
                    "primary": row.primary,
                    "arm": arm.name,
                    "mode": arm.mode,
                    "baseline": arm.is_baseline,
                    **{name: getattr(cell, name) for name in _CELL_COLUMNS},
                }


def iteration_rows(lines: Iterable[IterationLine]) -> Iterator[Mapping[str, Any]]:
    """A row for each value, with the fields of :class:`IterationLine`."""
    return (line._asdict() for line in lines)


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
