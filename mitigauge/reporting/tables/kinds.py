"""The kinds of tables that an experiment has, by name.

A further kind is a module with a :class:`mitigauge.reporting.tables.kind.Kind`, and its line here.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from mitigauge.core.errors import NotFound
from mitigauge.reporting.pages.detail_schemas import DetailsView
from mitigauge.reporting.pages.details import first_detailed, show_details
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.tables import (
    factorial_table,
    function_table,
    instruction_table,
    matrix_table,
    revision_line_table,
)
from mitigauge.reporting.tables.counter_table import COUNTER_COLUMNS, counter_rows, counter_table
from mitigauge.reporting.tables.detail_table import DETAIL_COLUMNS, detail_rows, detail_table
from mitigauge.reporting.tables.kind import EmptyTable, Kind, TableQuery
from mitigauge.reporting.tables.loss_table import LOSS_COLUMNS, loss_rows, loss_table
from mitigauge.reporting.tables.service import counters_beside, losses_beside, threads_beside
from mitigauge.reporting.tables.thread_table import thread_columns, thread_rows, thread_table
from mitigauge.reporting.tables.threads import WINDOW_S


def _read_details(
    session: Session, experiment_id: int, query: TableQuery
) -> DetailsView | EmptyTable:
    case = query.case
    if case is None:
        case = first_detailed(session, experiment_id, query.host)
    if case is None:
        return EmptyTable(
            experiment_id=experiment_id,
            experiment=show_head(session, experiment_id).name,
            why="No case tells details. Workloads that declare `details` do, desktop among them: "
            "`mitigauge experiment submit experiments/lab-desktop.yml`.",
        )
    return show_details(session, experiment_id, case, query.host)


COUNTERS = Kind(
    "counters",
    "Counters of one operation over all arms: cycles, instructions, branch misses and others.",
    ("case", "host"),
    lambda session, id_, query: counters_beside(session, id_, case_id=query.case, host=query.host),
    lambda view, _: counter_table(view),
    lambda view, _: (COUNTER_COLUMNS, counter_rows(view)),
    of_runs=True,
)
THREADS = Kind(
    "threads",
    "Which threads are woken, run and wait, by name, over all arms.",
    ("case", "host", "seconds"),
    lambda session, id_, query: threads_beside(session, id_, case_id=query.case, host=query.host),
    lambda view, query: thread_table(view, query.seconds),
    lambda view, query: (
        thread_columns(query.seconds or WINDOW_S),
        thread_rows(view, query.seconds or WINDOW_S),
    ),
    of_runs=True,
)
LOSS = Kind(
    "loss",
    "Two families of modes crossed: what each combination loses, by processor.",
    ("case", "metric"),
    lambda session, id_, query: losses_beside(
        session, id_, case_id=query.case, metric=query.metric
    ),
    lambda view, _: loss_table(view),
    lambda view, _: (LOSS_COLUMNS, loss_rows(view)),
    of_runs=True,
)
DETAILS = Kind(
    "details",
    "What a case tells besides its metrics: load curve, density by threshold, phases, actions.",
    ("case", "host", "figure"),
    _read_details,
    lambda view, query: detail_table(view, query.figure),
    lambda view, _: (DETAIL_COLUMNS, detail_rows(view)),
    of_runs=True,
)
KINDS: dict[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        matrix_table.KIND,
        factorial_table.KIND,
        LOSS,
        COUNTERS,
        THREADS,
        DETAILS,
        function_table.KIND,
        instruction_table.KIND,
        revision_line_table.KIND,
    )
}


def kind_named(name: str) -> Kind[Any]:
    """The kind of that name. Raises :class:`NotFound`."""
    kind = KINDS.get(name)
    if kind is None:
        raise NotFound(
            f"there is no table {ascii(name)[:80]}", hint=f"Choose one of {', '.join(KINDS)}."
        )
    return kind
