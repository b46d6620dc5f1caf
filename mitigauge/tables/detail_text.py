"""Details of a case as people paste them: plain text for a mailing list, Markdown, or CSV. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mitigauge.clock import Clock
from mitigauge.documents import units
from mitigauge.documents.forms import Forms
from mitigauge.documents.grid import markdown_grid, text_grid
from mitigauge.documents.parts import counted
from mitigauge.documents.plain_text import markdown, neutralise, paragraph, width
from mitigauge.errors import InvalidInput
from mitigauge.pages.detail_schemas import (
    BreakdownView,
    CurveLine,
    CurvePoint,
    CurveView,
    DetailArm,
    DetailCell,
    DetailsView,
)

COLUMNS = 78
# Loads of a curve that a text shows; the others are in CSV and JSON.
MOST_LOADS = 24
# Characters of names in a table that is too wide.
SHORT = 16
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


@dataclass(frozen=True, slots=True)
class Grid:
    """One table, before anybody decides how it looks."""

    title: str
    meaning: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def detail_text(view: DetailsView, figure: str | None = None) -> str:
    """Every table as plain text of at most 78 columns; *figure*: of breakdowns that show one.

    Raises :class:`InvalidInput` for a figure that no breakdown has.
    """
    lines = [*paragraph(_title(view), COLUMNS)]
    for said in _said(view):
        lines += ["", *paragraph(said, COLUMNS)]
    for grid in _grids(view, figure):
        lines += ["", *paragraph(grid.title, COLUMNS)]
        lines += [*paragraph(grid.meaning, COLUMNS)] if grid.meaning else []
        lines += ["", *_fitting(grid)]
    return "\n".join(lines) + "\n"


def detail_markdown(view: DetailsView, figure: str | None = None) -> str:
    """The same as Markdown with pipe tables."""
    lines = [f"# {markdown(_title(view))}"]
    for said in _said(view):
        lines += ["", markdown(said)]
    for grid in _grids(view, figure):
        lines += ["", f"### {markdown(grid.title)}"]
        lines += ["", markdown(grid.meaning)] if grid.meaning else []
        lines += ["", *markdown_grid(grid.head, grid.rows)]
    return "\n".join(lines) + "\n"


def reached_lines(views: Sequence[DetailsView]) -> Iterator[str]:
    """Of each case whose curve reaches thresholds, where it does: plain text, for a report."""
    for view in views:
        for grid in _reached_grids(view):
            yield ""
            yield from paragraph(f"{grid.title}; {_title(view)}", COLUMNS)
            yield from paragraph(grid.meaning, COLUMNS) if grid.meaning else ()
            yield from _fitting(grid)


def reached_markdown_lines(views: Sequence[DetailsView]) -> Iterator[str]:
    """The same in Markdown."""
    for view in views:
        for grid in _reached_grids(view):
            yield from ("", f"### {markdown(f'{grid.title}; {_title(view)}')}", "")
            yield from (markdown(grid.meaning), "") if grid.meaning else ()
            yield from markdown_grid(grid.head, grid.rows)


def _reached_grids(view: DetailsView) -> Iterator[Grid]:
    if view.curve and view.curve.thresholds:
        for arms in _pairs(view.arms):
            yield _reached(view.curve, arms)


def _fitting(grid: Grid) -> list[str]:
    """The grid in plain text; names are cut where it would be wider than a mail."""
    lines = text_grid(grid.head, grid.rows)
    if max(map(width, lines)) <= COLUMNS:
        return lines
    head = [neutralise(name, SHORT) for name in grid.head]
    return text_grid(head, [[neutralise(row[0], SHORT), *row[1:]] for row in grid.rows])


def _title(view: DetailsView) -> str:
    marks = ["EMULATED"] if view.emulated else []
    marks += ["COUNTED TIME"] if view.clock is Clock.COUNTED else []
    return ", ".join([f"{view.experiment}: {view.case}", f"host {view.host}", *marks])


def _said(view: DetailsView) -> Iterator[str]:
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


def _grids(view: DetailsView, figure: str | None) -> Iterator[Grid]:
    known = {f.name for b in view.breakdowns if b.choose == "figure" for f in b.figures}
    if figure is not None and view.breakdowns and figure not in known:
        raise InvalidInput(
            f"no breakdown shows a figure {ascii(figure)[:80]}",
            hint=f"Known: {', '.join(sorted(known)) or 'none'}.",
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


def _curve(curve: CurveView, arms: Sequence[DetailArm]) -> Iterator[Grid]:
    lines = {line.arm_id: line for line in curve.lines}
    loads = sorted({p.load for arm in arms for p in _points(lines, arm)})
    shown = _thinned(loads)
    title = f"{curve.title}, {curve.value.title.lower()} in {curve.value.unit}: {_against(arms)}"
    if len(shown) < len(loads):
        title += f", {len(shown)} of {len(loads)} loads"
    at = {arm.arm_id: {p.load: p for p in _points(lines, arm)} for arm in arms}
    yield Grid(
        title,
        "",
        [curve.load, *(arm.name for arm in arms)],
        [[f"{load:g}", *(_point(at[arm.arm_id].get(load)) for arm in arms)] for load in shown],
    )
    if curve.thresholds:
        yield _reached(curve, arms)


def _reached(curve: CurveView, arms: Sequence[DetailArm]) -> Grid:
    own = [f"the case's own is {row.threshold:g}" for row in curve.thresholds if row.is_own]
    return Grid(
        f"{curve.reached.title} by threshold: {_against(arms)}",
        "; ".join(filter(None, [curve.reached.help, *own])),
        [curve.value.unit, *(arm.name for arm in arms), *_change(arms)],
        [
            [f"{row.threshold:g}", *_cells(row.cells, arms, reached_words)]
            for row in curve.thresholds
        ],
    )


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
) -> Iterator[Grid]:
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
        yield Grid(
            f"{breakdown.title}, {name}: {_against(arms)}",
            "",
            ["figure" if by_row else breakdown.of, *(a.name for a in arms), *_change(arms)],
            [
                [
                    figures[line.figure].title if by_row else titles[line.row],
                    *_cells(line.cells, arms, _valued(figures[line.figure].unit)),
                ]
                for line in lines
            ],
        )


def _valued(unit: str) -> Callable[[DetailCell], str]:
    def value(cell: DetailCell) -> str:
        return "absent" if cell.value is None else units.humanise(cell.value, unit)

    return value


def _cells(
    cells: Sequence[DetailCell], arms: Sequence[DetailArm], words: Callable[[DetailCell], str]
) -> list[str]:
    """The arms' values, and the last one's change where there are two."""
    by_arm = {cell.arm_id: cell for cell in cells}
    shown = [words(by_arm[arm.arm_id]) for arm in arms]
    return [*shown, change_words(by_arm[arms[-1].arm_id])] if len(arms) > 1 else shown


def reached_words(cell: DetailCell) -> str:
    """``4.21 [3.90, 4.53]``, ``≥ 4.5, 4 of 6 boots``, or in how many boots it was reached."""
    if cell.value is None:
        return f"in {cell.boots} of {cell.of} boots" if cell.of else "no boot"
    value = units.humanise(cell.value, "")
    if cell.at_least:
        return f"≥ {value}, {cell.boots} of {cell.of} boots"
    return f"{value} {_between(cell.low, cell.high)}".rstrip()


def change_words(cell: DetailCell) -> str:
    """The change with its interval, where there is one."""
    if cell.change_percent is None:
        return ""
    return units.effect(cell.change_percent, cell.change_low, cell.change_high)


def _point(point: CurvePoint | None) -> str:
    if point is None:
        return ""
    return f"{units.humanise(point.value, '')} {_between(point.low, point.high)}".rstrip()


def _between(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "one boot"
    return f"[{units.humanise(low, '')}, {units.humanise(high, '')}]"


def _against(arms: Sequence[DetailArm]) -> str:
    names = [arm.name for arm in reversed(arms)]
    return neutralise(" against ".join(names))


def _change(arms: Sequence[DetailArm]) -> list[str]:
    return ["change"] if len(arms) > 1 else []


def detail_rows(view: DetailsView) -> Iterator[Mapping[str, Any]]:
    """A row for each figure and arm, with :data:`DETAIL_COLUMNS`."""
    arms = {arm.arm_id: arm for arm in view.arms}
    if view.curve:
        for line in view.curve.lines:
            for point in line.points:
                yield {
                    **_of(view, arms[line.arm_id], "curve", "", view.curve.value.title),
                    "unit": view.curve.value.unit, "at": point.load, "boots": point.boots,
                    "of": line.boots, "value": point.value, "low": point.low, "high": point.high,
                }  # fmt: skip
        for row in view.curve.thresholds:
            for cell in row.cells:
                yield {
                    **_of(view, arms[cell.arm_id], "reached", "", view.curve.reached.title),
                    "unit": view.curve.reached.unit, "at": row.threshold, **_told(cell),
                }  # fmt: skip
    for breakdown in view.breakdowns:
        unit = {figure.name: figure.unit for figure in breakdown.figures}
        for of in breakdown.lines:
            for cell in of.cells:
                yield {
                    **_of(view, arms[cell.arm_id], breakdown.name, of.row, of.figure),
                    "unit": unit[of.figure], **_told(cell),
                }  # fmt: skip


def _of(view: DetailsView, arm: DetailArm, part: str, row: str, figure: str) -> dict[str, Any]:
    return dict.fromkeys(DETAIL_COLUMNS, "") | {
        "case": view.case, "host": view.host, "emulated": view.emulated, "part": part, "row": row,
        "figure": figure, "arm": arm.name, "mode": arm.mode, "baseline": arm.is_baseline,
    }  # fmt: skip


def _told(cell: DetailCell) -> dict[str, Any]:
    return cell.model_dump(exclude={"arm_id"})


def detail_forms(figure: str | None = None) -> Forms[DetailsView]:
    """How details are written; *figure*: that of breakdowns which show one."""
    return Forms(
        partial(detail_text, figure=figure),
        partial(detail_markdown, figure=figure),
        DETAIL_COLUMNS,
        detail_rows,
    )
