"""A report's tables: cases against arms, cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import Cell, Line, Table
from mitigauge.core.documents.plain_text import neutralise
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.stats.terms import DELTA_PERCENT, FALSE_DISCOVERY_RATE
from mitigauge.reporting.pages.schemas import ArmView, CellView, ComparisonView, RowView


def tables_of(
    comparison: ComparisonView, emulated: Collection[str], counting: Collection[str]
) -> Iterator[Table]:
    """Primary metrics first, each host and metric a table of its own; else in the spec's order.

    *emulated* names the hosts that are, *counting* those whose time counts instructions.
    """
    workloads = list(dict.fromkeys(row.workload for row in comparison.rows))
    metrics = list(dict.fromkeys(row.metric for row in comparison.rows))

    def place(row: RowView) -> tuple[int, bool, int, int]:
        host = comparison.hosts.index(row.host)
        return host, not row.primary, workloads.index(row.workload), metrics.index(row.metric)

    # Counters have a table of their own.
    shown = [row for row in comparison.rows if not row.counter]
    for _, group in groupby(sorted(shown, key=place), key=place):
        rows = list(group)
        host = rows[0].host
        yield _table(comparison, rows, emulated=host in emulated, counts=host in counting)


def _table(
    comparison: ComparisonView, rows: Sequence[RowView], *, emulated: bool, counts: bool
) -> Table:
    first = rows[0]
    shared, labels = _labels([row.case for row in rows])
    notes: list[str] = []
    baseline = next((arm for arm in comparison.arms if arm.is_baseline), None)
    others = [arm for arm in comparison.arms if not arm.is_baseline]
    what = f"{first.direction} is better"
    rank = "" if first.primary else f"; secondary metric, exploratory: q ≤ {FALSE_DISCOVERY_RATE:g}"
    if first.delta_percent != DELTA_PERCENT:
        rank += f"; same: within ±{first.delta_percent:g} %"
    return Table(
        caption=f"{shared or first.workload}: {first.metric_title} ({what}{rank}), "
        f"{comparison.family_title}, {first.host}",
        emulated=emulated,
        counted_time=counts,
        baseline=baseline.name if baseline else "baseline",
        arms=[arm.name for arm in others],
        lines=[
            _line(row, label, baseline, others, notes)
            for row, label in zip(rows, labels, strict=True)
        ],
        notes=notes,
    )


def _labels(cases: Sequence[str]) -> tuple[str, list[str]]:
    """The words all *cases* begin and end with, and each case without them."""
    words = [case.split() for case in cases]
    # At least one word stays, so that no row is without a name; of a single case most do.
    most = min(len(each) for each in words) - 1
    head = _alike(words, most if len(cases) > 1 else min(most, 1))
    tail = _alike([each[head:][::-1] for each in words], most - head) if len(cases) > 1 else 0
    shared = words[0][:head]
    if tail:
        shared = [*shared, "…", *words[0][-tail:]]
    return " ".join(shared), [" ".join(each[head : len(each) - tail]) for each in words]


def _alike(words: Sequence[Sequence[str]], most: int) -> int:
    """How many leading words, up to *most*, every list shares."""
    for place in range(most):
        if len({each[place] for each in words}) > 1:
            return place
    return max(most, 0)


def _line(
    row: RowView,
    label: str,
    baseline: ArmView | None,
    others: Sequence[ArmView],
    notes: list[str],
) -> Line:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    base = by_arm.get(baseline.id) if baseline else None
    value, boots = "no data", 0
    if base is not None and base.mean is not None:
        value, boots = units.humanise(base.mean, neutralise(row.unit, 16)), base.n
    elif base is not None and base.state == CellState.NOT_EFFECTIVE:
        value = "not effective"
    return Line(
        label=label,
        baseline=value,
        baseline_n=f"n={boots}" if boots else "",
        cells=[_cell(by_arm.get(arm.id), notes) for arm in others],
    )


def _cell(cell: CellView | None, notes: list[str]) -> Cell:
    if cell is None or cell.state == CellState.NO_DATA:
        return Cell(verdict="no data", n=f"n={cell.n}" if cell and cell.n else "")
    if cell.state == CellState.NOT_EFFECTIVE:
        return Cell(verdict="not effective")
    effect = cell.effect
    change, between = ("", "") if effect is None else units.effect_parts(effect)
    digits = 1 if effect is None else effect.digits
    undecided = cell.verdict in (None, Verdict.UNDECIDED)
    mde = cell.mde_percent
    return Cell(
        effect=(units.BOUND_SIGN[cell.bound] if change else "") + change,
        interval=between,
        n=f"n={cell.n}",
        verdict=cell.verdict.value if cell.verdict else "undecided",
        mde=units.detectable(mde, digits=digits) if undecided and mde is not None else "",
        note=_footnote(cell.note, notes),
    )


def _footnote(note: str, notes: list[str]) -> int:
    if not note:
        return 0
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1
