"""Threads by name over arms as a table, and as rows for CSV. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.table import (
    Answer,
    DataTable,
    Quantity,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
    TextCell,
)
from mitigauge.core.effect import CellState
from mitigauge.reporting.tables.arm_cells import (
    arm_columns,
    claim_figure,
    claims_text,
    effect_of,
    experiment_tables,
    place_section,
)
from mitigauge.reporting.tables.thread_schemas import (
    ThreadCell,
    ThreadFigure,
    ThreadRow,
    ThreadsView,
    ThreadTableView,
)

NOTHING_TOLD = (
    "No boot of this experiment told of threads by name. Measure a case of `wakeups` or `window`; "
    "experiments/lab-wakeups.yml is an example."
)
MEANING = (
    "Wake-ups of all threads of a name in {window}, numbers merged, and in ms of that time: how "
    "long they ran, and how long they were ready and waited for a processor. The change against "
    "the baseline is of the wake-ups, with its 95 % interval over boots; exploratory. `*`: q is "
    "at most 0.05 over all names."
)
MEASURES = ("wakeups", "run", "wait")


def thread_table(view: ThreadsView, window_s: float | None = None) -> TableView:
    """Threads by name, a section for each case and host; figures in *window_s*, else the case's."""
    return experiment_tables(
        "threads",
        "threads by name",
        view,
        [_section(view, table, window_s or table.window_s) for table in view.tables],
        notes=_missing(view),
    )


def _missing(view: ThreadsView) -> Iterator[str]:
    if not view.tables and not view.left_out:
        yield NOTHING_TOLD
    elif view.left_out:
        more = counted(view.left_out, "more case")
        yield f"{more} not shown: name one (`mitigauge experiment table ID threads --case NUMBER`)."


def _section(view: ThreadsView, table: ThreadTableView, seconds: float) -> TableSection:
    columns = [
        TableColumn(key="threads", title="threads"),
        *arm_columns(table.arms, ("change", "interval")),
    ]
    return place_section(
        "Threads",
        view.experiment_id,
        table,
        MEANING.format(window=f"{seconds:g} s"),
        DataTable(
            columns=columns,
            rows=[
                [_name(row), *(_answer(cell, seconds) for cell in row.cells)] for row in table.rows
            ],
            more={"run": "run, ms", "wait": "wait, ms"},
            claims="below",
        ),
        [TableNote(text=text, label="Note") for text in _notes(table, seconds)],
    )


def _name(row: ThreadRow) -> TextCell:
    return TextCell(text=row.name, title=row.name, mark="load" if row.own else "")


def _notes(table: ThreadTableView, seconds: float) -> Iterator[str]:
    yield f"measured over {table.measured_s:.3g} s a boot"
    if table.left_out:
        yield f"{counted(table.left_out, 'more name')} not shown"
    if table.others is not None:
        names = counted(table.others.names, "other name")
        most = table.others.wakeups * seconds
        yield f"a boot tells of 50 names; up to {names} with {most:.3g} wake-ups are summed"


def _answer(cell: ThreadCell, seconds: float) -> Answer:
    wakeups = cell.wakeups
    times = {"run": cell.run, "wait": cell.wait}
    return Answer(
        state=CellState.MEASURED if cell.n else CellState.NO_DATA,
        n=cell.n,
        value=None if wakeups is None else _quantity(wakeups, seconds),
        effect=effect_of(
            wakeups.change_percent,
            wakeups.low_percent,
            wakeups.high_percent,
            n=cell.n,
            q=wakeups.q,
            note=wakeups.note,
        )
        if wakeups
        else None,
        more={key: _quantity(each, seconds) for key, each in times.items() if each is not None},
        claims=[claim_figure(claim, claim.source) for claim in cell.claims],
        note=wakeups.note if wakeups else "",
    )


def _quantity(figure: ThreadFigure, seconds: float) -> Quantity:
    # Counts are told whole.
    return Quantity(
        value=figure.mean * seconds,
        low=_times(figure.low, seconds),
        high=_times(figure.high, seconds),
        whole=True,
    )


def thread_columns(window_s: float) -> tuple[str, ...]:
    """The columns of :func:`thread_rows`; the first two as published tables have them."""
    figures = [
        f"{name}{suffix}"
        for name in _figure_columns(window_s)
        for suffix in ("", "_low", "_high", "_change_percent", "_change_low", "_change_high", "_q")
    ]
    return (
        *("state", f"wakeups_in_{window_s:g}s", "threads", "own", "comparison", "case", "host"),
        *("emulated", "counted", "mode", "kernel", "baseline", "n", "at_most"),
        *(column for column in figures if column != f"wakeups_in_{window_s:g}s"),
        "claims",
    )


def _figure_columns(window_s: float) -> tuple[str, ...]:
    return tuple(f"{name}_in_{window_s:g}s" for name in ("wakeups", "run_ms", "wait_ms"))


def thread_rows(view: ThreadsView, window_s: float) -> Iterator[Mapping[str, Any]]:
    """A row for each name and arm, figures in so many seconds."""
    for table in view.tables:
        for row in table.rows:
            for arm, cell in zip(table.arms, row.cells, strict=True):
                yield {
                    "state": arm.name,
                    "threads": row.name,
                    "own": row.own,
                    "comparison": table.comparison,
                    "case": table.case,
                    "host": table.host,
                    "emulated": table.emulated,
                    "counted": table.counted,
                    "mode": arm.mode,
                    "kernel": arm.kernel,
                    "baseline": arm.is_baseline,
                    "n": cell.n,
                    "at_most": row.threads,
                    **_in_window(cell, window_s),
                    "claims": claims_text(cell.claims),
                }


def _in_window(cell: ThreadCell, window_s: float) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name, measure in zip(_figure_columns(window_s), MEASURES, strict=True):
        figure: ThreadFigure | None = getattr(cell, measure)
        of = ThreadFigure(mean=0, low=None, high=None) if figure is None else figure
        found |= {
            name: None if figure is None else _times(of.mean, window_s),
            f"{name}_low": _times(of.low, window_s),
            f"{name}_high": _times(of.high, window_s),
            f"{name}_change_percent": of.change_percent,
            f"{name}_change_low": of.low_percent,
            f"{name}_change_high": of.high_percent,
            f"{name}_q": of.q,
        }
    return found


def _times(rate: float | None, window_s: float) -> float | None:
    return None if rate is None else rate * window_s
