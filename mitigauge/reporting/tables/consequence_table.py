"""What exits explain of changes, and what single operations did to real work, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.orm import Session

from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    DECIDED,
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.reporting.pages.consequence_schemas import (
    ConsequencesView,
    EstimateView,
    VerdictSummary,
)
from mitigauge.reporting.pages.consequences import show_consequences
from mitigauge.reporting.pages.experiments import show_head
from mitigauge.reporting.tables.kind import Kind, TableQuery

EXITS = (
    "Exits a second × cost of one, beside the measured change of time per unit of work. Percent of "
    "the baseline's, with 95 % intervals over blocks; the rest is not of the exits themselves."
)
OPERATIONS = (
    "Decided changes of single operations, and the primary figures of real work in the same mode "
    "on the same host."
)
NOTHING = "No arm changed the cost of a single operation, and no exits were priced."


class NamedConsequences(ConsequencesView):
    """The same with the experiment's name and state."""

    experiment: str
    state: str
    emulated: bool
    counted: bool


def consequence_table(view: NamedConsequences, query: TableQuery) -> TableView:
    """A section for what exits explain, one for single operations."""
    sections = [
        TableSection(title="What exits explain", meaning=EXITS, tables=[_models(view, query)]),
        TableSection(
            title="Single operations and real work", meaning=OPERATIONS, tables=[_work(view)]
        ),
    ]
    shown = [section for section in sections if section.tables[0].rows]
    return TableView(
        table="consequences",
        title=f"{view.experiment} ({view.state}): consequences",
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state=view.state,
        emulated=view.emulated,
        counted=view.counted,
        notes=[] if shown else [NOTHING],
        sections=shown,
    )


def _models(view: NamedConsequences, query: TableQuery) -> DataTable:
    titles = ("measured", "predicted", "by number", "by cost", "rest")
    return DataTable(
        columns=[
            TableColumn(key="case", title="case"),
            TableColumn(key="host", title="host"),
            TableColumn(key="arm", title="arm"),
            TableColumn(key="rate", title="exits/s", kind="quantity"),
            TableColumn(key="cost", title="cost", kind="quantity"),
            *(TableColumn(key=title, title=title, kind="answer") for title in titles),
        ],
        rows=[
            [
                TextCell(
                    text=f"{model.case}, {model.metric_title}",
                    href=case_path(view.experiment_id, model.case_id, model.host),
                ),
                TextCell(text=model.host),
                TextCell(text=f"{model.arm} against {model.baseline}"),
                Quantity(value=model.rate, unit="count"),
                Quantity(value=model.cost_ns, unit="ns", words="none came"),
                *(
                    _estimate(estimate, model.blocks)
                    for estimate in (
                        model.measured, model.predicted, model.by_rate, model.by_cost, model.rest,
                    )
                ),
            ]
            for model in view.cost_models
            if query.case in (None, model.case_id) and query.host in (None, model.host)
        ],
    )  # fmt: skip


def _estimate(estimate: EstimateView, blocks: int) -> Answer:
    effect = Effect(value=estimate.percent, low=estimate.low, high=estimate.high, n=blocks)
    return Answer(state=CellState.MEASURED, n=blocks, effect=effect)


def _work(view: NamedConsequences) -> DataTable:
    return DataTable(
        columns=[
            TableColumn(key="arm", title="arm"),
            TableColumn(key="host", title="host"),
            TableColumn(key="of", title="of"),
            TableColumn(key="case", title="case"),
            TableColumn(key="change", title="change", kind="answer", parts=DECIDED),
        ],
        rows=list(_work_rows(view)),
    )


def _work_rows(view: NamedConsequences) -> Iterator[list[Cell]]:
    for one in view.consequences:
        named = f"{one.arm} against {one.baseline}"
        for of, figures in (("operation", one.micro), ("real work", one.macro)):
            for figure in figures:
                yield [
                    TextCell(text=named, title=f"{named} ({one.mode})"),
                    TextCell(text=one.host),
                    TextCell(text=of),
                    TextCell(
                        text=f"{figure.case}, {figure.metric_title}",
                        href=case_path(view.experiment_id, figure.case_id, one.host),
                    ),
                    _figure(figure),
                ]


def _figure(figure: VerdictSummary) -> Answer:
    return Answer(state=CellState.MEASURED, effect=Effect.of(figure))


def _read(session: Session, experiment_id: int, _: TableQuery) -> NamedConsequences:
    head = show_head(session, experiment_id)
    found = show_consequences(session, experiment_id)
    return NamedConsequences(
        **found.model_dump(),
        experiment=head.name,
        state=head.state.value,
        emulated=head.emulated,
        counted=head.counted,
    )


KIND = Kind(
    "consequences",
    "What exits explain of each change, and what costs of single operations did to real work.",
    ("case", "host"),
    _read,
    consequence_table,
)
