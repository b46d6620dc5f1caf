"""The line of the series that an experiment measured a revision of, as a table."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.table import (
    Answer,
    DataTable,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.tables.kind import EmptyTable, Kind, TableQuery
from mitigauge.tracking.series import repository
from mitigauge.tracking.series.revision_line import LinePoint, LineRow, SeriesLine, line

MEANING = (
    "What was said of each case and arm in each revision: change against the baseline of its own "
    "experiment in percent of it, with its 95 % interval, as it was given."
)


class ExperimentLine(SeriesLine):
    """The line with the experiment that it was asked for."""

    experiment_id: int
    experiment: str
    state: str
    series: str
    emulated: bool
    counted: bool


def revision_line_table(view: ExperimentLine, query: TableQuery) -> TableView:
    """A row for each case and arm, a column for each revision."""
    rows = [row for row in view.rows if query.host in (None, row.host)]
    table = DataTable(
        columns=[
            TableColumn(key="case", title="case"),
            TableColumn(key="arm", title="arm"),
            TableColumn(key="host", title="host"),
            *(TableColumn(key=name, title=name, kind="answer") for name in view.revisions),
            TableColumn(key="first_worse", title="first worse"),
        ],
        rows=[
            [
                _case(row),
                TextCell(text=row.arm),
                TextCell(text=row.host, mark="emulated" if row.emulated else ""),
                *map(_answer, row.points),
                TextCell(text=row.first_worse),
            ]
            for row in rows
        ],
    )
    section = TableSection(
        title=f"Revisions of {view.series}", meaning=MEANING, href=f"/series/{view.series}",
        emulated=any(row.emulated for row in rows), counted=any(row.counted for row in rows),
        tables=[table],
    )  # fmt: skip
    return TableView(
        table="revision-line",
        title=f"{view.experiment} ({view.state}): line of the series {view.series}",
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state=view.state,
        emulated=view.emulated,
        counted=view.counted,
        notes=[] if rows else ["No revision of this series has a verdict yet."],
        sections=[section] if rows else [],
        more=f"{counted(view.left_out, 'more row')} not shown." if view.left_out else "",
    )


def _case(row: LineRow) -> TextCell:
    return TextCell(text=f"{row.case}, {row.metric}", title=f"{row.case}, {row.metric_title}")


def _answer(point: LinePoint | None) -> Answer:
    if point is None:
        return Answer(state=CellState.NO_DATA)
    return Answer(state=point.state, n=point.n, effect=Effect.of(point))


def _read(session: Session, experiment_id: int, _: TableQuery) -> ExperimentLine | EmptyTable:
    head = show_head(session, experiment_id)
    series = repository.of_experiment(session, experiment_id)
    if series is None:
        why = (
            f"Experiment {experiment_id} measured no revision of a series: `mitigauge series list` "
            "names those that there are."
        )
        return EmptyTable(experiment_id=head.id, experiment=head.name, why=why)
    return ExperimentLine(
        **line(session, series).model_dump(),
        experiment_id=head.id,
        experiment=head.name,
        state=head.state.value,
        series=series.name,
        emulated=head.emulated,
        counted=head.counted,
    )


KIND = Kind(
    "revision-line",
    "What was said of each case and arm in every revision of the experiment's series.",
    ("host",),
    _read,
    revision_line_table,
)
