"""The list of experiments, counted in SQL and read without SQLAlchemy, which takes long to load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mitigauge.measurement.experiments.filter import ExperimentFilter, Sort
from mitigauge.reporting.pages.experiment_list_repository import summaries_asked
from mitigauge.reporting.pages.limits import PAGE_SIZE
from mitigauge.reporting.pages.schemas import ExperimentPage, ExperimentSummary
from mitigauge.storage.database.direct import direct_connection


def listed(
    wanted: ExperimentFilter | None = None,
    *,
    before: int | None = None,
    offset: int = 0,
    limit: int = PAGE_SIZE,
) -> ExperimentPage:
    """A page of experiments, newest first: those with an id below *before*, if it is given.

    The same as :func:`mitigauge.reporting.pages.experiments.list_experiments`. Raises
    :class:`mitigauge.core.errors.NotReady` where the database is not at head.
    """
    wanted = wanted or ExperimentFilter()
    statement, given = summaries_asked(wanted, before=before, offset=offset, limit=limit + 1)
    with direct_connection() as connection:
        rows = connection.execute(statement.encode(), given).fetchall()
    return page_of(rows, wanted, offset=offset, limit=limit)


def page_of(
    rows: Iterable[Mapping[str, Any]], wanted: ExperimentFilter, *, offset: int, limit: int
) -> ExperimentPage:
    """The page that *rows* are, of which there is one more than shown where it is not the last."""
    every = list(rows)
    lines = [
        {name: value for name, value in row.items() if name != "total"}
        for row in every
        if row["id"] is not None
    ]
    found = [ExperimentSummary(**line) for line in lines[:limit]]
    more = len(lines) > limit
    return ExperimentPage(
        experiments=found,
        total=every[0]["total"],
        offset=offset,
        next=found[-1].id if more and wanted.sort is Sort.NEWEST else None,
        next_offset=offset + limit if more else None,
    )
