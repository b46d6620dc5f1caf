"""Two experiments side by side: what each said of the same case, metric, arm and host."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.orm import Session

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    Answer,
    Cell,
    DataTable,
    TableChoice,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.effect_difference import Change, change_difference
from mitigauge.core.view import View
from mitigauge.reporting.pages.experiments import list_experiments, show_experiment
from mitigauge.reporting.pages.schemas import CellView, ExperimentSummary, ExperimentView, RowView
from mitigauge.reporting.tables.kind import Kind, TableQuery
from mitigauge.reporting.tables.matrix_table import answer_of, is_asked

MOST_CHOICES = 20
MEANING = (
    "Change of each arm against its own experiment's baseline in percent of it, with the 95 % "
    "interval that was given; the difference is the second over the first, its interval from "
    "theirs. Exploratory: no verdict comes of it."
)
# case, metric, arm, host
Key = tuple[str, str, str, str]
Measured = dict[Key, tuple[RowView, CellView]]


class Pair(View):
    """The experiment, the other one, and others that could be chosen."""

    first: ExperimentView
    second: ExperimentView | None
    choices: list[ExperimentSummary]


def side_by_side_table(pair: Pair, query: TableQuery) -> TableView:
    """A section for each arm and host that both have; the difference of their effects."""
    first, second = pair.first, pair.second
    sections = [] if second is None else list(_sections(first, second, query))
    return TableView(
        table="side-by-side",
        title=f"{_named(first)} beside {_named(second) if second else 'another experiment'}",
        experiment_id=first.id,
        experiment=first.name,
        state=first.state.value,
        emulated=first.emulated or (second is not None and second.emulated),
        counted=first.counted or (second is not None and second.counted),
        notes=[] if sections else [_nothing(second)],
        sections=sections,
        choices=[
            TableChoice(title=f"beside {each.id}, {each.name}", query={"other": str(each.id)})
            for each in pair.choices
            if each.id != first.id
        ],
    )


def _named(view: ExperimentView) -> str:
    return f"experiment {view.id}, {view.name} ({view.state.value})"


def _nothing(second: ExperimentView | None) -> str:
    if second is None:
        return "Name the other experiment: `mitigauge experiment table ID side-by-side --other ID`."
    return (
        f"Experiment {second.id} has no case, metric, arm and host in common with this one that "
        "both measured."
    )


def _sections(
    first: ExperimentView, second: ExperimentView, query: TableQuery
) -> Iterator[TableSection]:
    ours, theirs = _measured(first, query), _measured(second, query)
    common: dict[tuple[str, str], list[Key]] = {}
    for key in ours:
        if key in theirs:
            common.setdefault(key[2:], []).append(key)
    for (arm, host), keys in common.items():
        facts = [view.host_facts.get(host) for view in (first, second)]
        yield TableSection(
            title=f"{arm} on {host}, {counted(len(keys), 'figure')} in both",
            meaning=MEANING,
            emulated=any(each.emulated for each in facts if each),
            counted=first.counted or second.counted,
            tables=[
                DataTable(
                    columns=[
                        TableColumn(key="case", title="case"),
                        TableColumn(key="metric", title="metric"),
                        *(
                            TableColumn(key=key, title=title, kind="answer")
                            for key, title in (
                                ("first", f"in {first.id}"),
                                ("second", f"in {second.id}"),
                                ("difference", "difference"),
                            )
                        ),
                    ],
                    rows=[_row(first, ours[key], theirs[key]) for key in keys],
                )
            ],
        )


def _measured(view: ExperimentView, query: TableQuery) -> Measured:
    """Cells with an effect, the first of each key."""
    found: Measured = {}
    for comparison in view.comparisons:
        arms = {arm.id: arm.name for arm in comparison.arms if not arm.is_aa}
        for row in comparison.rows:
            for cell in row.cells if is_asked(row, query) else ():
                if cell.effect is not None and cell.arm_id in arms:
                    key = (row.case, row.metric, arms[cell.arm_id], row.host)
                    found.setdefault(key, (row, cell))
    return found


def _row(
    first: ExperimentView, ours: tuple[RowView, CellView], theirs: tuple[RowView, CellView]
) -> list[Cell]:
    (row, cell), (_, other) = ours, theirs
    assert cell.effect is not None
    assert other.effect is not None
    return [
        TextCell(text=row.case, href=case_path(first.id, row.case_id, row.host)),
        TextCell(text=row.metric, title=row.metric_title),
        *(answer_of(each, row.unit) for each in (cell, other)),
        Answer(state=CellState.MEASURED, effect=_difference(cell.effect, other.effect)),
    ]


def _difference(first: Effect, second: Effect) -> Effect | None:
    both = [Change(each.value, each.low, each.high) for each in (first, second)]
    found = change_difference(both[0], both[1])
    return None if found is None else Effect(value=found.value, low=found.low, high=found.high)


def _read(session: Session, experiment_id: int, query: TableQuery) -> Pair:
    if query.other == experiment_id:
        raise InvalidInput(
            "an experiment stands beside another one, not beside itself", hint="Name another one."
        )
    return Pair(
        first=show_experiment(session, experiment_id),
        second=None if query.other is None else show_experiment(session, query.other),
        choices=list_experiments(session, limit=MOST_CHOICES).experiments,
    )


KIND = Kind(
    "side-by-side",
    "Two experiments: what each said of the same cases and arms, and the difference.",
    ("other", "host", "metric"),
    _read,
    side_by_side_table,
)
