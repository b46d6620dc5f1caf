"""Details of a case as tables, and as rows for CSV. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import neutralise
from mitigauge.core.documents.table import (
    Answer,
    Cell,
    DataTable,
    Quantity,
    TableColumn,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState
from mitigauge.core.errors import InvalidInput
from mitigauge.core.natural_order import natural_order
from mitigauge.reporting.pages.detail_schemas import (
    BreakdownView,
    CurveLine,
    CurvePoint,
    CurveView,
    DetailArm,
    DetailCell,
    DetailsView,
)
from mitigauge.reporting.tables.arm_cells import effect_of, marks

# Loads of a curve that a text shows; the others are in CSV and JSON.
MOST_LOADS = 24
MEANING = (
    "Means over boots with their 95 % interval; changes against the baseline in percent of it, "
    "boots compared within blocks, the interval valid for all arms of a row at once. Exploratory: "
    "no verdict comes of them."
)
NOTHING_DECLARED = "This workload tells nothing besides its metrics."
NOTHING_TOLD = (
    "No boot has told its details yet: they are stored with each result that a worker takes in."
)
DETAIL_COLUMNS = (
    *("case", "host", "emulated", "part", "row", "figure", "unit", "at", "arm", "mode", "baseline"),
    *("boots", "of", "value", "low", "high", "at_least", "change_percent", "change_low"),
    *("change_high", "note"),
)


def detail_table(view: DetailsView, figure: str | None = None) -> TableView:
    """Every table of a case; *figure*: of breakdowns that show one.

    Raises :class:`InvalidInput` for a figure that no breakdown has.
    """
    return TableView(
        table="details",
        title=_title(view),
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state="",
        emulated=view.emulated,
        counted=view.clock is Clock.COUNTED,
        notes=list(_notes(view)),
        sections=list(_sections(view, figure)),
    )


def reached_sections(view: DetailsView) -> Iterator[TableSection]:
    """Where the case's curve reaches thresholds, for a report."""
    if view.curve and view.curve.thresholds:
        for arms in _pairs(view.arms):
            section = _reached(view.curve, arms)
            yield section.model_copy(update={"title": f"{section.title}; {_title(view)}"})


def _title(view: DetailsView) -> str:
    marked = marks(emulated=view.emulated, counted=view.clock is Clock.COUNTED)
    return ", ".join([f"{view.experiment}: {view.case}", f"host {view.host}", *marked])


def _notes(view: DetailsView) -> Iterator[str]:
    if not view.declared:
        yield NOTHING_DECLARED
    elif not any(arm.boots for arm in view.arms):
        yield NOTHING_TOLD
    else:
        yield MEANING
        told = ", ".join(f"{arm.name} {arm.boots}" for arm in view.arms)
        yield f"Boots that tell details: {neutralise(told)}."
    if view.untold:
        yield (
            f"{counted(view.untold, 'boot')} measured the case and tell no details: they are older "
            "than these."
        )


def _sections(view: DetailsView, figure: str | None) -> Iterator[TableSection]:
    known = {f.name for b in view.breakdowns if b.choose == "figure" for f in b.figures}
    if figure is not None and view.breakdowns and figure not in known:
        raise InvalidInput(
            f"no breakdown shows a figure {ascii(figure)[:80]}",
            hint=f"Known: {', '.join(sorted(known, key=natural_order)) or 'none'}.",
        )
    for arms in _pairs(view.arms):
        if view.curve:
            yield from _curve(view.curve, arms)
    for breakdown in view.breakdowns:
        for arms in _pairs(view.arms):
            yield from _breakdown(breakdown, arms, figure)


def _pairs(arms: Sequence[DetailArm]) -> list[Sequence[DetailArm]]:
    """The baseline beside each other arm that tells anything: two columns fit into a mail."""
    baseline = [arm for arm in arms if arm.is_baseline]
    others = [arm for arm in arms if not arm.is_baseline and arm.boots]
    if not others:
        return [baseline] if any(arm.boots for arm in baseline) else []
    return [[*baseline, other] for other in others]


def _curve(curve: CurveView, arms: Sequence[DetailArm]) -> Iterator[TableSection]:
    lines = {line.arm_id: line for line in curve.lines}
    loads = sorted({p.load for arm in arms for p in _points(lines, arm)})
    shown = _thinned(loads)
    title = f"{curve.title}, {curve.value.title.lower()} in {curve.value.unit}: {_against(arms)}"
    if len(shown) < len(loads):
        title += f", {len(shown)} of {len(loads)} loads"
    at = {arm.arm_id: {p.load: p for p in _points(lines, arm)} for arm in arms}
    rows: list[list[Cell]] = [
        [TextCell(text=f"{load:g}"), *(_point(at[arm.arm_id].get(load)) for arm in arms)]
        for load in shown
    ]
    yield _section(title, "", curve.load, arms, rows, with_interval=True)
    if curve.thresholds:
        yield _reached(curve, arms)


def _reached(curve: CurveView, arms: Sequence[DetailArm]) -> TableSection:
    own = [f"the case's own is {row.threshold:g}" for row in curve.thresholds if row.is_own]
    return _section(
        f"{curve.reached.title} by threshold: {_against(arms)}",
        "; ".join(filter(None, [curve.reached.help, *own])),
        curve.value.unit,
        arms,
        [
            [TextCell(text=f"{row.threshold:g}"), *_cells(row.cells, arms, _load)]
            for row in curve.thresholds
        ],
        with_interval=True,
    )


def _section(
    title: str,
    meaning: str,
    lead: str,
    arms: Sequence[DetailArm],
    rows: list[list[Cell]],
    *,
    with_interval: bool = False,
) -> TableSection:
    """A table: what a row is of, a column for each arm, and the change where it is told."""
    columns = [
        TableColumn(key="row", title=lead),
        *(
            TableColumn(
                key=f"arm-{arm.arm_id}",
                title=arm.name,
                kind="quantity",
                with_interval=with_interval,
            )
            for arm in arms
        ),
        TableColumn(key="change", title="change", kind="answer"),
    ]
    shown = columns[: max(map(len, rows), default=len(arms) + 1)]
    return TableSection(title=title, meaning=meaning, tables=[DataTable(columns=shown, rows=rows)])


def _points(lines: Mapping[int, CurveLine], arm: DetailArm) -> Sequence[CurvePoint]:
    line = lines.get(arm.arm_id)
    return line.points if line else ()


def _thinned(loads: Sequence[float]) -> Sequence[float]:
    """At most :data:`MOST_LOADS`, evenly, the first and the last among them."""
    if len(loads) <= MOST_LOADS:
        return loads
    places = {round(i * (len(loads) - 1) / (MOST_LOADS - 1)) for i in range(MOST_LOADS)}
    return [loads[place] for place in sorted(places)]


def _breakdown(
    breakdown: BreakdownView, arms: Sequence[DetailArm], figure: str | None
) -> Iterator[TableSection]:
    figures = {one.name: one for one in breakdown.figures}
    titles = {row.name: row.title for row in breakdown.rows}
    by_row = breakdown.choose == "row"
    wanted = figure if figure in figures else next(iter(figures))
    for chosen in titles if by_row else [wanted]:
        lines = [
            line for line in breakdown.lines if (line.row if by_row else line.figure) == chosen
        ]
        if not lines:
            continue
        name = titles[chosen] if by_row else figures[chosen].title
        yield _section(
            f"{breakdown.title}, {name}: {_against(arms)}",
            "",
            "figure" if by_row else breakdown.of,
            arms,
            [
                [
                    TextCell(text=figures[line.figure].title if by_row else titles[line.row]),
                    *_cells(line.cells, arms, partial(_value, unit=figures[line.figure].unit)),
                ]
                for line in lines
            ],
        )


def _value(cell: DetailCell, unit: str) -> Quantity:
    return Quantity(value=cell.value, unit=unit, words="absent")


def _load(cell: DetailCell) -> Quantity:
    """At which load a threshold was reached, or in how many boots."""
    return Quantity(
        value=cell.value,
        low=cell.low,
        high=cell.high,
        boots=cell.boots,
        of=cell.of,
        at_least=cell.at_least,
        words=f"in {cell.boots} of {cell.of} boots" if cell.of else "no boot",
    )


def _cells(
    cells: Sequence[DetailCell], arms: Sequence[DetailArm], made: Callable[[DetailCell], Quantity]
) -> list[Cell]:
    """The arms' values, and the last one's change where there are two."""
    by_arm = {cell.arm_id: cell for cell in cells}
    shown: list[Cell] = [made(by_arm[arm.arm_id]) for arm in arms]
    return [*shown, _change(by_arm[arms[-1].arm_id])] if len(arms) > 1 else shown


def _change(cell: DetailCell) -> Answer:
    return Answer(
        state=CellState.MEASURED,
        n=cell.boots,
        effect=effect_of(cell.change_percent, cell.change_low, cell.change_high, note=cell.note),
    )


def _point(point: CurvePoint | None) -> Quantity:
    if point is None:
        return Quantity()
    return Quantity(value=point.value, low=point.low, high=point.high, boots=point.boots)


def _against(arms: Sequence[DetailArm]) -> str:
    names = [arm.name for arm in reversed(arms)]
    return neutralise(" against ".join(names))


def detail_rows(view: DetailsView) -> Iterator[Mapping[str, Any]]:
    """A row for each figure and arm, with :data:`DETAIL_COLUMNS`."""
    arms = {arm.arm_id: arm for arm in view.arms}
    if view.curve:
        for line in view.curve.lines:
            for point in line.points:
                yield {
                    **_row_of(view, arms[line.arm_id], "curve", "", view.curve.value.title),
                    "unit": view.curve.value.unit, "at": point.load, "boots": point.boots,
                    "of": line.boots, "value": point.value, "low": point.low, "high": point.high,
                }  # fmt: skip
        for row in view.curve.thresholds:
            for cell in row.cells:
                yield {
                    **_row_of(view, arms[cell.arm_id], "reached", "", view.curve.reached.title),
                    "unit": view.curve.reached.unit, "at": row.threshold, **_cell_fields(cell),
                }  # fmt: skip
    for breakdown in view.breakdowns:
        unit = {figure.name: figure.unit for figure in breakdown.figures}
        for of in breakdown.lines:
            for cell in of.cells:
                yield {
                    **_row_of(view, arms[cell.arm_id], breakdown.name, of.row, of.figure),
                    "unit": unit[of.figure], **_cell_fields(cell),
                }  # fmt: skip


def _row_of(view: DetailsView, arm: DetailArm, part: str, row: str, figure: str) -> dict[str, Any]:
    return dict.fromkeys(DETAIL_COLUMNS, "") | {
        "case": view.case, "host": view.host, "emulated": view.emulated, "part": part, "row": row,
        "figure": figure, "arm": arm.name, "mode": arm.mode, "baseline": arm.is_baseline,
    }  # fmt: skip


def _cell_fields(cell: DetailCell) -> dict[str, Any]:
    return cell.model_dump(exclude={"arm_id"})
