"""Counter tables as people paste them: plain text for a mailing list, Markdown, or CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mitigauge.documents import units
from mitigauge.documents.forms import Forms
from mitigauge.documents.grid import markdown_grid, text_grid
from mitigauge.documents.parts import counted
from mitigauge.documents.plain_text import indented, markdown, neutralise, paragraph, width
from mitigauge.tables.counter_schemas import (
    CounterArm,
    CounterCell,
    CounterClaim,
    CounterRow,
    CountersView,
    CounterTable,
)

COLUMNS = 78
NOTHING_COUNTED = (
    'No case of this experiment counts. Give a case of `syscall` the parameter `counters: "yes"`; '
    "experiments/bhb-loop-variants.yml is an example."
)
MEANING = "Change against the baseline in percent of it, with its 95 % interval; exploratory."
COUNTER_COLUMNS = (
    *("case", "host", "host_class", "processor", "emulated", "metric", "unit", "arm", "mode"),
    *("kernel", "baseline", "state", "n", "mean", "change_percent", "low_percent"),
    *("high_percent", "verdict", "claims"),
)


def counter_text(view: CountersView) -> str:
    """Every table as plain text of at most 78 columns."""
    return "\n".join([*paragraph(_title(view), COLUMNS), *counter_lines(view)]) + "\n"


def counter_markdown(view: CountersView) -> str:
    """The same as Markdown with pipe tables."""
    return "\n".join([f"# {markdown(_title(view))}", *counter_markdown_lines(view)]) + "\n"


def _title(view: CountersView) -> str:
    return f"{view.experiment} ({view.state}): counters"


def counter_lines(view: CountersView) -> Iterator[str]:
    """The tables in plain text, each after an empty line."""
    for line in _missing(view):
        yield ""
        yield from paragraph(line, COLUMNS)
    for table in view.tables:
        yield ""
        yield from paragraph(_caption(table), COLUMNS)
        yield from paragraph(MEANING, COLUMNS)
        baseline, *others = table.arms
        for arm in others:
            yield ""
            yield from _text_arm(table, baseline, arm)
        if table.absent:
            yield from indented("Absent: ", neutralise(_absent(table)), COLUMNS)


def counter_markdown_lines(view: CountersView) -> Iterator[str]:
    """The tables in Markdown."""
    for line in _missing(view):
        yield ""
        yield markdown(line)
    for table in view.tables:
        yield ""
        yield f"### {markdown(_caption(table))}"
        yield ""
        yield MEANING
        yield ""
        head = ["counter", *(_arm(arm) for arm in table.arms)]
        yield from markdown_grid(head, [_markdown_row(table, row) for row in table.rows])
        if table.absent:
            yield ""
            yield f"- Absent: {markdown(_absent(table))}"


def counter_rows(view: CountersView) -> Iterator[Mapping[str, Any]]:
    """A row for each counter and arm, with :data:`COUNTER_COLUMNS`."""
    for table in view.tables:
        arms = {arm.arm_id: arm for arm in table.arms}
        for row in table.rows:
            for cell in row.cells:
                arm = arms[cell.arm_id]
                yield {
                    "case": table.case,
                    "host": table.host,
                    "host_class": table.host_class,
                    "processor": table.processor,
                    "emulated": table.emulated,
                    "metric": row.metric,
                    "unit": row.unit,
                    "arm": arm.name,
                    "mode": arm.mode,
                    "kernel": arm.kernel,
                    "baseline": arm.is_baseline,
                    "state": cell.state,
                    "n": cell.n,
                    "mean": cell.mean,
                    "change_percent": cell.change_percent,
                    "low_percent": cell.low_percent,
                    "high_percent": cell.high_percent,
                    "verdict": cell.verdict.value if cell.verdict else "",
                    "claims": "; ".join(claimed(claim) for claim in cell.claims),
                }


def claimed(claim: CounterClaim) -> str:
    """A published change: ``+25.2%``, or its lowest and highest."""
    low, high = units.percent(claim.low_percent), units.percent(claim.high_percent)
    return low if low == high else f"{low} to {high}"


def _missing(view: CountersView) -> Iterator[str]:
    if not view.tables and not view.left_out:
        yield NOTHING_COUNTED
    elif view.left_out:
        more = counted(view.left_out, "more table")
        yield f"{more} not shown: name a case (`mitigauge experiment counters ID --case NUMBER`)."


def _caption(table: CounterTable) -> str:
    marks = ["EMULATED"] if table.emulated else []
    marks += ["COUNTED TIME"] if table.counted else []
    facts = filter(None, [table.host_class, table.processor])
    return ", ".join(
        [f"Counters of {table.case} ({table.comparison})", *facts, f"host {table.host}", *marks]
    )


def _absent(table: CounterTable) -> str:
    return f"{', '.join(table.absent)}: this host does not count them"


def _arm(arm: CounterArm) -> str:
    kernel = f", kernel {arm.kernel}" if arm.kernel else ""
    role = " (baseline)" if arm.is_baseline else ""
    return f"{arm.name}{kernel}{role}"


def _text_arm(table: CounterTable, baseline: CounterArm, arm: CounterArm) -> Iterator[str]:
    """One arm against the baseline, a counter a line."""
    head = ["counter", baseline.name, arm.name, "change", "interval", "n", "verdict"]
    rows, claims = [], []
    for row in table.rows:
        by_arm = {cell.arm_id: cell for cell in row.cells}
        base, cell = by_arm.get(baseline.arm_id), by_arm.get(arm.arm_id)
        shown = [row.metric, _value(base, row), _value(cell, row), *_change(cell)]
        rows.append(shown)
        claims.append(", ".join(claimed(claim) for claim in cell.claims) if cell else "")
    wide = text_grid([*head, "claimed"], [[*r, c] for r, c in zip(rows, claims, strict=True)])
    if any(claims) and max(map(width, wide)) <= COLUMNS:
        yield from wide
        return
    grid = text_grid(head, rows)
    # A verdict that does not fit in is told by its interval.
    yield from (
        grid if max(map(width, grid)) <= COLUMNS else text_grid(head[:5], [r[:5] for r in rows])
    )
    if any(claims):
        yield ""
        yield from text_grid(
            ["counter", "change", "claimed"],
            [[r[0], r[3], c] for r, c in zip(rows, claims, strict=True) if c],
        )


def _markdown_row(table: CounterTable, row: CounterRow) -> list[str]:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    texts = []
    for arm in table.arms:
        cell = by_arm.get(arm.arm_id)
        told = ", ".join(f"claimed {claimed(claim)}" for claim in cell.claims) if cell else ""
        change, between, boots, verdict = _change(cell)
        parts = [_value(cell, row), change, between, boots and f"n={boots}", verdict]
        texts.append(" ".join(filter(None, [*parts, f"({told})" if told else ""])))
    return [f"{row.title} ({row.unit})", *texts]


def _value(cell: CounterCell | None, row: CounterRow) -> str:
    if cell is None or cell.mean is None:
        return "not effective" if cell and cell.state == "not_effective" else "absent"
    # The unit of a counter is its name; a time needs its own.
    return units.humanise(cell.mean, "" if row.is_counter else neutralise(row.unit, 16))


def _change(cell: CounterCell | None) -> Sequence[str]:
    """Change, interval, boots and verdict."""
    if cell is None or cell.change_percent is None:
        return ["", "", str(cell.n) if cell and cell.n else "", ""]
    low, high = cell.low_percent, cell.high_percent
    digits = units.digits_for(low, high)
    between = "" if low is None or high is None else units.interval(low, high, digits=digits)
    verdict = cell.verdict.value if cell.verdict else "undecided"
    return [units.percent(cell.change_percent, digits=digits), between, str(cell.n), verdict]


COUNTER_FORMS = Forms(counter_text, counter_markdown, COUNTER_COLUMNS, counter_rows)
