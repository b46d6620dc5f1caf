"""The loss matrix: two families of modes crossed, by processor. Pure.

Arms are crossed where all of them name modes of the same families (``ibrs/entry+ibpb/on``), and
at least two of these families are in more than one mode. The first two such families are the
axes; arms that differ in anything else, further modes or the kernel, get a table each. The effects
are those of the matrix: against the comparison's baseline, wherever that stands. A factorial design
crosses nothing: it has a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeVar

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import Direction
from mitigauge.measurement.modes.crossing import BOTH, parts
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    HostFacts,
    RowView,
)
from mitigauge.reporting.tables.claims_by_place import ClaimsByPlace, by_place
from mitigauge.reporting.tables.loss_schemas import (
    LossAxis,
    LossBlock,
    LossCell,
    LossChoice,
    LossClaim,
    LossTable,
    LossView,
)

# A page shows so many at a time; the others are asked for by case and metric.
MOST_TABLES = 12
# A loss of what should be high is its change with the other sign.
_MIRRORED = {Bound.AT_LEAST: Bound.AT_MOST, Bound.AT_MOST: Bound.AT_LEAST}


@dataclass(frozen=True, slots=True)
class Slice:
    """Arms that differ in the two families alone."""

    axes: tuple[str, str]
    rest: str
    arms: Mapping[tuple[str, str], ArmView]
    """By the modes of both families; the first of several."""

    def modes(self, axis: int) -> list[str]:
        """The modes of one family, in the order of the arms."""
        return list(dict.fromkeys(pair[axis] for pair in self.arms))


def slices_of(comparison: ComparisonView) -> list[Slice]:
    """The comparison's arms by what else they have in common; none where nothing is crossed."""
    if comparison.factorial:
        return []
    arms = [arm for arm in comparison.arms if not arm.is_aa]
    modes = {arm.id: dict(parts(arm.mode)) for arm in arms}
    families = list(modes[arms[0].id]) if arms else []
    if any(list(of) != families for of in modes.values()):
        return []
    varied = [family for family in families if len({of[family] for of in modes.values()}) > 1]
    if len(varied) < 2:
        return []
    first, second = varied[:2]
    grouped: dict[str, dict[tuple[str, str], ArmView]] = {}
    for arm in arms:
        own = modes[arm.id]
        others = [f"{name}/{mode}" for name, mode in own.items() if name not in (first, second)]
        rest = ", ".join(filter(None, (BOTH.join(others), arm.kernel and f"kernel {arm.kernel}")))
        grouped.setdefault(rest, {}).setdefault((own[first], own[second]), arm)
    return [Slice((first, second), rest, of) for rest, of in grouped.items()]


def crosses(comparisons: Sequence[ComparisonView]) -> bool:
    """Whether anything is crossed."""
    return any(slices_of(comparison) for comparison in comparisons)


def loss_of(
    view: ExperimentView,
    claims: Sequence[ClaimSourceView] = (),
    *,
    case_id: int | None = None,
    metric: str | None = None,
    most: int | None = MOST_TABLES,
) -> LossView:
    """The experiment's loss matrices, with *claims* beside the cells that they are about.

    Of *case_id* and *metric* alone, if they are given; at most *most* of them.
    """
    every = _tables_of(view.comparisons)
    asked = [entry for entry in every if _is_wanted(entry[1][0], case_id, metric)]
    beside = by_place(claims)
    tables = [_table(view, *entry, beside) for entry in islice(asked, most)]
    firsts = {(rows[0].case_id, rows[0].metric): rows[0] for _, rows, _ in every}
    return LossView(
        experiment_id=view.id,
        experiment=view.name,
        state=view.state.value,
        emulated=view.emulated,
        counted=view.counted,
        tables=tables,
        choices=[
            LossChoice(
                case_id=row.case_id,
                case=row.case,
                metric=row.metric,
                metric_title=row.metric_title,
                primary=row.primary,
            )
            for row in firsts.values()
        ],
        left_out=len(every) - len(tables),
    )


def _is_wanted(row: RowView, case_id: int | None, metric: str | None) -> bool:
    return case_id in (None, row.case_id) and metric in (None, row.metric)


def _tables_of(
    comparisons: Sequence[ComparisonView],
) -> list[tuple[ComparisonView, list[RowView], Slice]]:
    """What each table is of, its rows one a host; primary metrics first."""
    found = [
        (comparison, rows, of)
        for comparison in comparisons
        for slices in [slices_of(comparison)]
        for rows in (_by_question(comparison) if slices else [])
        for of in slices
    ]
    return sorted(found, key=lambda entry: not entry[1][0].primary)


def _by_question(comparison: ComparisonView) -> list[list[RowView]]:
    grouped: dict[tuple[int, str], list[RowView]] = {}
    for row in comparison.rows:
        grouped.setdefault((row.case_id, row.metric), []).append(row)
    return list(grouped.values())


def _table(
    view: ExperimentView,
    comparison: ComparisonView,
    rows: Sequence[RowView],
    of: Slice,
    beside: ClaimsByPlace,
) -> LossTable:
    row = rows[0]
    baseline = next(arm for arm in comparison.arms if arm.is_baseline)
    facts = [view.host_facts.get(each.host) or HostFacts(name=each.host) for each in rows]
    # Hosts of one class stand together, in the order of the experiment.
    classes = list(dict.fromkeys(each.host_class or each.processor for each in facts))
    pairs = sorted(
        zip(rows, facts, strict=True),
        key=lambda pair: classes.index(pair[1].host_class or pair[1].processor),
    )
    return LossTable(
        comparison=comparison.name,
        case_id=row.case_id,
        case=row.case,
        workload=row.workload,
        metric=row.metric,
        metric_title=row.metric_title,
        unit=row.unit,
        direction=row.direction,
        primary=row.primary,
        rest=of.rest,
        baseline=f"{baseline.name} ({baseline.mode})",
        first=LossAxis(family=of.axes[0], modes=of.modes(0)),
        second=LossAxis(family=of.axes[1], modes=of.modes(1)),
        blocks=[
            LossBlock(
                host=each.host,
                host_class=fact.host_class,
                processor=fact.processor,
                emulated=fact.emulated or (comparison.emulated and len(comparison.hosts) == 1),
                counted=fact.clock is Clock.COUNTED,
                cells=list(_cells(each, of, beside)),
            )
            for each, fact in pairs
        ],
    )


def _cells(row: RowView, of: Slice, beside: ClaimsByPlace) -> Iterator[LossCell]:
    by_arm = {cell.arm_id: cell for cell in row.cells}
    for pair in product(of.modes(0), of.modes(1)):
        arm = of.arms.get(pair)
        if arm is not None and arm.id in by_arm:
            yield _cell(row, pair, arm, by_arm[arm.id], beside)


def _cell(
    row: RowView,
    pair: tuple[str, str],
    arm: ArmView,
    cell: CellView,
    beside: ClaimsByPlace,
) -> LossCell:
    loss, _ = losses(row.direction, cell.effect_percent, cell.effect_percent)
    low, high = losses(row.direction, cell.ci_low_percent, cell.ci_high_percent)
    claims = beside.get((row.case_id, row.metric, row.host, arm.id), [])
    return LossCell(
        first=pair[0],
        second=pair[1],
        arm_id=arm.id,
        arm=arm.name,
        is_baseline=arm.is_baseline,
        state=cell.state,
        n=cell.n,
        mean=cell.mean,
        loss_percent=None if arm.is_baseline else loss,
        low_percent=None if arm.is_baseline else low,
        high_percent=None if arm.is_baseline else high,
        bound=cell.bound if row.direction == "lower" else _MIRRORED.get(cell.bound, cell.bound),
        mde_percent=cell.mde_percent,
        verdict=cell.verdict,
        note=cell.note,
        observed=arm.observed if cell.state == CellState.NOT_EFFECTIVE else [],
        claims=[
            _claim(row.direction, source, claim)
            for source, claim in claims
            if claim.outcome is not ClaimOutcome.OTHER_PROCESSOR
        ],
    )


def _claim(direction: Direction, source: ClaimSourceView, claim: ClaimView) -> LossClaim:
    low, high = losses(direction, claim.low_percent, claim.high_percent)
    return LossClaim(
        source=source.name,
        label=claim.note or source.name,
        low_percent=low,
        high_percent=high,
        outcome=claim.outcome,
        reason=claim.reason,
    )


Figure = TypeVar("Figure", float, float | None)


def losses(direction: Direction, low: Figure, high: Figure) -> tuple[Figure, Figure]:
    """A range of changes as a range of losses, the lowest first; None stays None."""
    if direction == "lower":
        return low, high
    return _turned(high), _turned(low)


def _turned(change: Figure) -> Figure:
    """The change with its sign turned round, and no negative zero."""
    return change if change is None else 0.0 - change
