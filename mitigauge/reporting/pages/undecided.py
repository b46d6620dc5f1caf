"""What of an experiment is undecided, why, and what it takes to decide it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.more_blocks import blocks_to_decide
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.experiments.repository import layouts_of
from mitigauge.measurement.experiments.spec_model import MAX_BLOCKS
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.reporting.pages.schemas import CellView, ComparisonView, ExperimentView, RowView


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UndecidedCell(_Answer):
    """An arm of a case and metric without a verdict on one host."""

    case_id: int
    case: str
    metric: str
    host: str
    arm: str
    blocks: int
    effect_percent: float | None
    mde_percent: float | None = Field(description="smallest effect that these blocks show")
    needed: int | None = Field(description="blocks that would decide it; null: more than there are")
    outlook: str = Field(description="what it takes to decide it")
    why: str


class Undecided(_Answer):
    """All of them, and the blocks that decide those that blocks can decide."""

    experiment_id: int
    cells: list[UndecidedCell]
    blocks: int | None = Field(description="the most that a cell needs; null: none can be decided")
    boots: int = Field(description="of as many blocks, over all hosts and arms")
    hours: float | None = Field(description="at the pace of this experiment; null: not known")


def undecided(session: Session, experiment_id: int) -> Undecided:
    """What is undecided of primary metrics. Raises NotFound."""
    view = show_experiment(session, experiment_id)
    layouts = layouts_of(session, experiment_id)
    cells = [
        _cell(comparison, row, cell, layouts.get(comparison.id, 1))
        for comparison in view.comparisons
        for row in comparison.rows
        if row.primary
        for cell in row.cells
        if _is_undecided(cell)
    ]
    blocks = max((each.needed for each in cells if each.needed), default=None)
    boots = _boots(view, blocks or 0)
    return Undecided(
        experiment_id=experiment_id,
        cells=cells,
        blocks=blocks,
        boots=boots,
        hours=_hours(view, boots),
    )


def measure_again(session: Session, experiment_id: int, blocks: int, *, by: str) -> int:
    """Submit the experiment's spec once more with so many blocks; the new experiment's id.

    Blocks are planned before the first boot, as the error rates depend on it: an experiment that
    is over gets none any more. Raises :class:`Conflict` while it goes on, and InvalidInput.
    """
    view = show_experiment(session, experiment_id)
    if view.state not in FINAL_STATES:
        raise Conflict(
            f"experiment {experiment_id} goes on: further blocks may decide it",
            hint=f"`mitigauge experiment wait {experiment_id}` follows it.",
        )
    text = with_blocks(view.spec_text, blocks)
    return submit_text(session, text, name=f"experiment {experiment_id} again", submitted_by=by)


def with_blocks(spec_text: str, blocks: int) -> str:
    """The spec with so many blocks in each comparison. Raises :class:`InvalidInput`."""
    if not 1 <= blocks <= MAX_BLOCKS:
        raise InvalidInput(
            f"{blocks} blocks", hint=f"Give 1 to {MAX_BLOCKS}; each is a boot of every arm."
        )
    # As YAML 1.2 has it: an arm may be called `off`.
    spec: dict[str, Any] = parse_yaml(spec_text, "the spec").data
    spec["blocks"] = blocks
    for comparison in spec.get("comparisons", ()):
        comparison.pop("blocks", None)
    return str(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True, width=96))


def _is_undecided(cell: CellView) -> bool:
    return cell.state is CellState.MEASURED and cell.verdict in (None, Verdict.UNDECIDED)


def _cell(comparison: ComparisonView, row: RowView, cell: CellView, layouts: int) -> UndecidedCell:
    arm = next((each.name for each in comparison.arms if each.id == cell.arm_id), "")
    # Where layouts are the replicates, more blocks of the same ones tell little more.
    is_exact = layouts == 1 and cell.bound is Bound.EXACT
    needed = _needed(row, cell, len(comparison.arms) - 1) if is_exact else None
    outlook = _outlook(cell, needed, layouts)
    return UndecidedCell(
        case_id=row.case_id,
        case=row.case,
        metric=row.metric,
        host=row.host,
        arm=arm,
        blocks=cell.blocks,
        effect_percent=cell.effect_percent,
        mde_percent=cell.mde_percent,
        needed=needed,
        outlook=outlook,
        why=" ".join((*_why(row, cell), outlook)),
    )


def _needed(row: RowView, cell: CellView, arms: int) -> int | None:
    if cell.effect_percent is None or cell.mde_percent is None:
        return None
    return blocks_to_decide(
        effect=cell.effect_percent, detectable=cell.mde_percent, blocks=cell.blocks,
        arms=arms, margin=row.delta_percent, most=MAX_BLOCKS,
    )  # fmt: skip


def _outlook(cell: CellView, needed: int | None, layouts: int) -> str:
    if cell.bound is not Bound.EXACT:
        return "What is not counted here keeps it open, however many blocks there are."
    if cell.blocks < layouts:
        return f"{cell.blocks} of {layouts} layouts were booted: the rest would tell more."
    if layouts > 1:
        return (
            f"Each kernel's {layouts} layouts are what is compared: more layouts would tell more, "
            "more blocks of these hardly."
        )
    if cell.mde_percent is None:
        return "How many would decide it cannot be told."
    if needed is None:
        return f"If boots scatter as these did, {MAX_BLOCKS} blocks hardly decide it either."
    return f"If boots scatter as these did, some {needed} blocks would decide it."


def _why(row: RowView, cell: CellView) -> Iterator[str]:
    if cell.note:
        yield f"{cell.note}."
    if cell.mde_percent is None:
        yield f"{cell.blocks} blocks do not tell how much boots scatter."
        return
    yield (
        f"{cell.blocks} blocks show {cell.mde_percent:.3g} % and more, and `same` needs the whole "
        f"interval within ±{row.delta_percent:g} %."
    )


def _boots(view: ExperimentView, blocks: int) -> int:
    return sum(blocks * len(each.arms) * len(each.hosts) for each in view.comparisons)


def _hours(view: ExperimentView, boots: int) -> float | None:
    if not view.started_at or not view.finished_at or not view.boots_done:
        return None
    each = (view.finished_at - view.started_at).total_seconds() / view.boots_done
    return round(boots * each / 3600, 2)
