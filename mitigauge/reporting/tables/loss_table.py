"""Two families of modes crossed as a table, and as rows for CSV. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    DECIDED,
    Answer,
    DataTable,
    Quantity,
    TableChoice,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState, Effect
from mitigauge.reporting.tables.arm_cells import claim_figure, experiment_tables, marks
from mitigauge.reporting.tables.loss_schemas import LossBlock, LossCell, LossTable, LossView

NOTHING_CROSSED = (
    "No comparison of this experiment crosses two families of modes. Give a comparison "
    "`cross: [ibrs, ibpb]`, or arms with modes like `ibrs/entry+ibpb/on`; "
    "experiments/ibrs-ibpb-loss.yml is an example."
)
LOSS_COLUMNS = (
    *("processor", "host_class", "host", "emulated", "case", "metric", "first_family", "first"),
    *("second_family", "second", "rest", "arm", "state", "loss_percent", "low_percent"),
    *("high_percent", "bound", "n", "verdict", "claims"),
)


def loss_table(view: LossView) -> TableView:
    """The loss matrices, a section for each metric of a case, a table for each host."""
    return experiment_tables(
        "loss",
        "loss matrix",
        view,
        [_section(view, table) for table in view.tables],
        notes=[] if view.choices else [NOTHING_CROSSED],
        choices=[
            TableChoice(
                title=f"{choice.case}, {choice.metric_title}",
                query={"case": str(choice.case_id), "metric": choice.metric},
            )
            for choice in view.choices
        ],
        more=_left_out(view) if view.left_out else "",
    )


def _section(view: LossView, table: LossTable) -> TableSection:
    return TableSection(
        title=_caption(table),
        meaning=_meaning(table),
        emulated=any(block.emulated for block in table.blocks),
        counted=any(block.counted for block in table.blocks),
        tables=[
            DataTable(
                caption=_of_host(block),
                columns=[
                    TableColumn(key="first", title=table.first.family),
                    TableColumn(key="second", title=table.second.family),
                    TableColumn(key="loss", title="loss", kind="answer", parts=DECIDED),
                ],
                rows=[
                    [
                        TextCell(text=cell.first),
                        TextCell(text=cell.second),
                        _answer(cell, table, path),
                    ]
                    for path in [_path(view, table, block)]
                    for cell in block.cells
                ],
                crossed=True,
                claims_title="Claimed losses beside it:",
                notes=[TableNote(text=note) for note in _notes(block)],
            )
            for block in table.blocks
        ],
    )


def _path(view: LossView, table: LossTable, block: LossBlock) -> str:
    """The page of the table's metric on the host."""
    return f"{case_path(view.experiment_id, table.case_id, block.host)}&metric={table.metric}"


def _answer(cell: LossCell, table: LossTable, path: str) -> Answer:
    told = f"the kernel said: {'; '.join(cell.observed)}" if cell.observed else cell.note
    return Answer(
        state=cell.state,
        n=cell.n,
        value=None if cell.mean is None else Quantity(value=cell.mean, unit=table.unit),
        effect=None
        if cell.loss_percent is None or cell.state != CellState.MEASURED
        else Effect(
            value=cell.loss_percent,
            low=cell.low_percent,
            high=cell.high_percent,
            n=cell.n,
            verdict=cell.verdict,
            mde=cell.mde_percent,
            bound=cell.bound,
            note=cell.note,
        ),
        claims=[claim_figure(claim, claim.label) for claim in cell.claims],
        note=told,
        href=path,
    )


def _caption(table: LossTable) -> str:
    rest = f", with {table.rest}" if table.rest else ""
    return (
        f"Loss of {table.metric_title} by {table.first.family} and {table.second.family}{rest}: "
        f"{table.case}"
    )


def _meaning(table: LossTable) -> str:
    worse = "longer or more" if table.direction == "lower" else "less"
    return (
        f"Loss: change for the worse ({worse}) in percent of {table.baseline}, with its 95 % "
        "interval and n boots."
    )


def _of_host(block: LossBlock) -> str:
    name = block.host_class or block.processor or "processor unknown"
    processor = block.processor if block.processor not in ("", name) else ""
    return ", ".join(
        filter(
            None,
            [
                name,
                processor,
                f"host {block.host}",
                *marks(emulated=block.emulated, counted=block.counted),
            ],
        )
    )


def _notes(block: LossBlock) -> Iterator[str]:
    """What stands behind cells without a figure, and how the claims came out."""
    for cell in block.cells:
        where = f"{cell.first}, {cell.second}"
        if cell.state == CellState.NOT_EFFECTIVE:
            said = "; ".join(cell.observed) or cell.note or "nothing"
            yield f"{where}: not effective, the kernel said: {said}"
        elif cell.note:
            yield f"{where}: {cell.note}"
    outcomes = [(c.outcome, c.reason) for cell in block.cells for c in cell.claims]
    for outcome, reason in dict.fromkeys(outcomes):
        number = outcomes.count((outcome, reason))
        yield f"claims {outcome.value.replace('_', ' ')}: {number} ({reason})"


def _left_out(view: LossView) -> str:
    return (
        f"{counted(view.left_out, 'more table')} not shown: name a case and a metric "
        "(`mitigauge experiment table ID loss --case NUMBER --metric NAME`)."
    )


def loss_rows(view: LossView) -> Iterator[Mapping[str, Any]]:
    """A row for each cell, with :data:`LOSS_COLUMNS`."""
    for table in view.tables:
        for block in table.blocks:
            for cell in block.cells:
                yield {
                    "processor": block.processor,
                    "host_class": block.host_class,
                    "host": block.host,
                    "emulated": block.emulated,
                    "case": table.case,
                    "metric": table.metric,
                    "first_family": table.first.family,
                    "first": cell.first,
                    "second_family": table.second.family,
                    "second": cell.second,
                    "rest": table.rest,
                    "arm": cell.arm,
                    "state": cell.state,
                    "loss_percent": cell.loss_percent,
                    "low_percent": cell.low_percent,
                    "high_percent": cell.high_percent,
                    "bound": cell.bound.value,
                    "n": cell.n,
                    "verdict": cell.verdict.value if cell.verdict else "",
                    "claims": "; ".join(
                        f"{c.label} {units.claimed(c.low_percent, c.high_percent)}"
                        for c in cell.claims
                    ),
                }
