"""Which arm of a tournament is best, as tables and as rows for CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.ranking_words import ranking_words
from mitigauge.core.clock import Clock
from mitigauge.core.documents import units
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import Effect
from mitigauge.core.errors import NotFound
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.ranking import Place
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.tables.arm_cells import experiment_tables, marks
from mitigauge.reporting.tables.kind import Kind, TableQuery
from mitigauge.reporting.tables.ranking_schemas import RankingRow, RankingTable, RankingView

NO_TOURNAMENT = (
    "No comparison of this experiment is a tournament. Give one `tournament: true`, and one case "
    "with one primary metric; experiments/bhb-variants.yml is an example."
)
MEANING = (
    "At each look an arm drops out where it is surely worse than the best mean; the best arm drops "
    "out with a probability of 1 % at most, over all looks and arms."
)
RANKING_COLUMNS = (
    *("comparison", "host", "emulated", "case", "metric", "arm", "mode", "kernel", "place"),
    *("mean", "unit", "effect_percent", "low_percent", "high_percent", "blocks", "decided"),
)
_OF_ROW = set(RANKING_COLUMNS) & set(RankingRow.model_fields)
_OF_TABLE = (set(RANKING_COLUMNS) & set(RankingTable.model_fields)) - _OF_ROW
# Boots that are still to come, or were not made.
_NOT_MADE = (BootState.PLANNED, BootState.SKIPPED)


def read_ranking(session: Session, experiment_id: int, query: TableQuery) -> RankingView:
    """The experiment's tournaments. Raises :class:`NotFound`."""
    head = show_head(session, experiment_id)
    runs = [run for run in run_rows.runs_of(session, experiment_id) if run.comparison.tournament]
    asked = [run for run in runs if query.host in (None, run.host.name)]
    if not asked and query.host is not None:
        raise NotFound(
            f"experiment {experiment_id} has no tournament on host {query.host}",
            hint="Leave the host out to see which there are.",
        )
    return RankingView(
        experiment_id=head.id,
        experiment=head.name,
        state=head.state.value,
        emulated=head.emulated,
        counted=head.counted,
        tables=[_table(session, run) for run in asked],
    )


def _table(session: Session, run: Run) -> RankingTable:
    comparison, ranking = run.comparison, run.ranking
    case, declared = comparison.primary
    metric = next(name for name, each in case.metrics.items() if each is declared)
    arms = comparison.arms
    names = [arm.name for arm in arms]
    made = [
        boot
        for boot in run_rows.boot_lines(session, [run.id])
        if boot.state not in _NOT_MADE and boot.state != BootState.INVALID
    ]
    return RankingTable(
        comparison=comparison.name,
        host=run.host.name,
        emulated=run.host.emulated,
        counted=run.clock == Clock.COUNTED,
        case_id=case.id,
        case=case.title,
        metric=metric,
        metric_title=declared.title,
        unit=declared.unit,
        delta_percent=declared.delta_percent,
        blocks=ranking.blocks if ranking else 0,
        boots=len({(boot.block, boot.place) for boot in made}),
        planned=comparison.blocks * len(arms),
        is_decided=ranking is not None and ranking.is_decided,
        words=ranking_words(ranking, names, declared.delta_percent),
        rows=[
            RankingRow(
                arm=names[each.position],
                mode=arms[each.position].full_mode,
                kernel=arms[each.position].kernel,
                place=each.place,
                blocks=each.blocks,
                mean=each.mean,
                effect_percent=each.effect_percent,
                low_percent=each.low_percent,
                high_percent=each.high_percent,
            )
            for each in (ranking.arms if ranking else ())
        ],
    )


def ranking_table(view: RankingView) -> TableView:
    """A section for each comparison and host."""
    return experiment_tables(
        "ranking",
        "which arm is best",
        view,
        [_section(view, table) for table in view.tables],
        notes=[] if view.tables else [NO_TOURNAMENT],
    )


def _section(view: RankingView, table: RankingTable) -> TableSection:
    marked = marks(emulated=table.emulated, counted=table.counted)
    where = [f"host {table.host}", *marked]
    return TableSection(
        title=", ".join([f"Ranking of {table.comparison} by {table.case}", *where]),
        meaning=f"{table.words}.",
        href=case_path(view.experiment_id, table.case_id, table.host),
        emulated=table.emulated,
        counted=table.counted,
        tables=[_arms(view, table)] if table.rows else [],
        notes=[TableNote(text=note) for note in _notes(table)],
    )


def _arms(view: RankingView, table: RankingTable) -> DataTable:
    return DataTable(
        caption=f"{table.metric_title}, in percent of the first",
        columns=[
            TableColumn(key="arm", title="arm"),
            TableColumn(key="place", title="place"),
            TableColumn(key="mean", title="mean", kind="quantity"),
            TableColumn(key="change", title="of the first, 95 %"),
            TableColumn(key="blocks", title="blocks"),
        ],
        rows=[_cells(view, table, row) for row in table.rows],
    )  # fmt: skip


def _cells(view: RankingView, table: RankingTable, row: RankingRow) -> list[Cell]:
    path = f"{case_path(view.experiment_id, table.case_id, table.host)}&metric={table.metric}"
    what = f"{row.arm}: {row.mode}{f', kernel {row.kernel}' if row.kernel else ''}"
    return [
        TextCell(text=row.arm, title=what),
        TextCell(text=row.place.value),
        Quantity(value=row.mean, unit=table.unit),
        _change(row, path),
        TextCell(text=str(row.blocks)),
    ]


def _change(row: RankingRow, path: str) -> Cell:
    if row.effect_percent is None:
        absent = row.place is not Place.FIRST
        return TextCell(text="not a boot in every block" if absent else "")
    effect = Effect(value=row.effect_percent, low=row.low_percent, high=row.high_percent)
    return TextCell(text=" ".join(units.effect_parts(effect)), href=path)


def _notes(table: RankingTable) -> Iterator[str]:
    if not table.rows:
        return
    yield MEANING
    yield (
        f"{table.boots} of {counted(table.planned, 'planned boot')} were made. An arm that is "
        "worse has the figures that it dropped out with, against the arm that was first then."
    )


def ranking_rows(view: RankingView) -> Iterator[Mapping[str, Any]]:
    """A row for each arm, with :data:`RANKING_COLUMNS`."""
    for table in view.tables:
        of_table = {**table.model_dump(include=_OF_TABLE), "decided": table.is_decided}
        for row in table.rows:
            yield {**of_table, **row.model_dump(include=_OF_ROW, mode="json")}


KIND = Kind(
    "ranking",
    "Arms of a tournament: which is best, which dropped out and after how many blocks.",
    ("host",),
    read_ranking,
    lambda view, _: ranking_table(view),
    lambda view, _: (RANKING_COLUMNS, ranking_rows(view)),
    of_runs=True,
)
