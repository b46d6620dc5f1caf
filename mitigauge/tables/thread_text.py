"""Tables of threads as people paste them: plain text for a mailing list, Markdown, or CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mitigauge.documents import units
from mitigauge.documents.forms import Forms
from mitigauge.documents.grid import markdown_grid, text_grid
from mitigauge.documents.parts import counted
from mitigauge.documents.plain_text import indented, markdown, neutralise, paragraph
from mitigauge.tables.counter_schemas import CounterArm
from mitigauge.tables.counter_text import claimed
from mitigauge.tables.thread_schemas import (
    ThreadCell,
    ThreadFigure,
    ThreadRow,
    ThreadsView,
    ThreadTableView,
)
from mitigauge.tables.threads import WINDOW_S

COLUMNS = 78
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
SIGNIFICANT = 0.05
MEASURES = ("wakeups", "run", "wait")


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
                    "claims": "; ".join(claimed(claim) for claim in cell.claims),
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


def thread_text(view: ThreadsView, window_s: float | None = None) -> str:
    """Every table as plain text of at most 78 columns; figures in *window_s*, else the case's."""
    lines = [*paragraph(_title(view), COLUMNS)]
    for note in _missing(view):
        lines += ["", *paragraph(note, COLUMNS)]
    for table in view.tables:
        seconds = window_s or table.window_s
        lines += ["", *paragraph(_caption(table), COLUMNS)]
        lines += paragraph(MEANING.format(window=f"{seconds:g} s"), COLUMNS)
        baseline, *others = table.arms
        for arm in others or [baseline]:
            lines += ["", *_text_arm(table, baseline, arm, seconds)]
        for note in _notes(table, seconds):
            lines += indented("Note: ", neutralise(note), COLUMNS)
    return "\n".join(lines) + "\n"


def thread_markdown(view: ThreadsView, window_s: float | None = None) -> str:
    """The same as Markdown with pipe tables."""
    lines = [f"# {markdown(_title(view))}"]
    for note in _missing(view):
        lines += ["", markdown(note)]
    for table in view.tables:
        seconds = window_s or table.window_s
        lines += ["", f"### {markdown(_caption(table))}", ""]
        # Code spans are ours, and stay.
        lines += [MEANING.format(window=f"{seconds:g} s"), ""]
        head = ["threads", *(_arm(arm) for arm in table.arms)]
        rows = [
            [row.name, *(_markdown_cell(cell, seconds) for cell in row.cells)] for row in table.rows
        ]
        lines += markdown_grid(head, rows)
        lines += [f"\n- {markdown(note)}" for note in _notes(table, seconds)]
    return "\n".join(lines) + "\n"


def _title(view: ThreadsView) -> str:
    return f"{view.experiment} ({view.state}): threads by name"


def _missing(view: ThreadsView) -> Iterator[str]:
    if not view.tables and not view.left_out:
        yield NOTHING_TOLD
    elif view.left_out:
        more = counted(view.left_out, "more case")
        yield f"{more} not shown: name one (`mitigauge experiment threads ID --case NUMBER`)."


def _caption(table: ThreadTableView) -> str:
    marks = ["EMULATED"] if table.emulated else []
    marks += ["COUNTED TIME"] if table.counted else []
    facts = filter(None, [table.host_class, table.processor])
    return ", ".join(
        [f"Threads of {table.case} ({table.comparison})", *facts, f"host {table.host}", *marks]
    )


def _arm(arm: CounterArm) -> str:
    kernel = f", kernel {arm.kernel}" if arm.kernel else ""
    role = " (baseline)" if arm.is_baseline else ""
    return f"{arm.name}{kernel}{role}"


def _notes(table: ThreadTableView, seconds: float) -> Iterator[str]:
    yield f"measured over {table.measured_s:.3g} s a boot"
    if table.left_out:
        yield f"{counted(table.left_out, 'more name')} not shown"
    if table.others is not None:
        names = counted(table.others.names, "other name")
        most = table.others.wakeups * seconds
        yield f"a boot tells of 50 names; up to {names} with {most:.3g} wake-ups are summed"


def _text_arm(
    table: ThreadTableView, baseline: CounterArm, arm: CounterArm, seconds: float
) -> Iterator[str]:
    """One arm against the baseline, a name a line; the load's own are marked."""
    places = [place for place, one in enumerate(table.arms) if one in (baseline, arm)]
    names = [table.arms[place].name for place in places]
    last = places[-1]
    yield from text_grid(
        ["threads", *names, "change", "interval"],
        [
            [
                _name(row),
                *(_number(row.cells[place].wakeups, seconds) for place in places),
                *_change(row.cells[last].wakeups),
            ]
            for row in table.rows
        ],
    )
    for measure in ("run", "wait"):
        rows = [
            [_name(row), *(_number(cell, seconds) for cell in cells)]
            for row in table.rows
            if any(cells := [getattr(row.cells[place], measure) for place in places])
        ]
        if rows:
            yield ""
            yield from text_grid([f"{measure}, ms", *names], rows)
    claims = [
        [_name(row), _change(row.cells[last].wakeups)[0], claimed(claim), claim.outcome.value]
        for row in table.rows
        for claim in row.cells[last].claims
    ]
    if claims:
        yield ""
        yield from text_grid(["threads", "change", "claimed", "outcome"], claims)


def _name(row: ThreadRow) -> str:
    return f"{row.name} (load)" if row.own else row.name


def _number(figure: ThreadFigure | None, seconds: float) -> str:
    if figure is None:
        return "absent"
    value = figure.mean * seconds
    # Counts are told whole.
    return f"{value:.0f}" if 100 <= value < 1e7 else units.humanise(value, "")


def _change(figure: ThreadFigure | None) -> list[str]:
    """Change and interval of an arm; `*` where it is one."""
    if figure is None or figure.change_percent is None:
        return ["", ""]
    low, high = figure.low_percent, figure.high_percent
    digits = units.digits_for(low, high)
    sure = "*" if figure.q is not None and figure.q <= SIGNIFICANT else ""
    between = "" if low is None or high is None else units.interval(low, high, digits=digits)
    return [f"{units.percent(figure.change_percent, digits=digits)}{sure}", between]


def _markdown_cell(cell: ThreadCell, seconds: float) -> str:
    change, between = _change(cell.wakeups)
    told = ", ".join(f"claimed {claimed(claim)}" for claim in cell.claims)
    times = [
        f"{word} {_number(figure, seconds)} ms"
        for word, figure in (("run", cell.run), ("wait", cell.wait))
        if figure is not None
    ]
    parts = [_number(cell.wakeups, seconds), change, between, f"n={cell.n}" if cell.n else ""]
    return " ".join(filter(None, [*parts, *times, f"({told})" if told else ""]))


def thread_forms(seconds: float | None) -> Forms[ThreadsView]:
    """How tables of threads are written, with figures in so many *seconds*.

    Without them as text in the case's window, and as CSV in that of published tables.
    """
    window_s = seconds or WINDOW_S
    return Forms(
        partial(thread_text, window_s=seconds),
        partial(thread_markdown, window_s=seconds),
        thread_columns(window_s),
        partial(thread_rows, window_s=window_s),
    )
