"""Estimates of factorial designs as rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.clock import Clock
from mitigauge.experiments.factorial import MOST_POINTS, design_of
from mitigauge.pages.factorial import FactorialCase
from mitigauge.stats.factorial import Cost, FactorialEstimate, estimate
from mitigauge.tables.factorial_schemas import FactorialRow, FactorialTable, RowKind
from mitigauge.tables.loss import losses

TOGETHER, UNEXPLAINED = "all together", "left unexplained"


def table_of(of: FactorialCase) -> FactorialTable:
    """What the boots of one case tell."""
    knobs = [knob.name for knob in of.plan.knobs]
    found = estimate(knobs, of.plan.pairs, of.boots)
    names = {of.plan.high(arm.full_mode): arm.name for arm in of.comparison.arms}
    arm, off = found.furthest or ((), 0.0)
    return FactorialTable(
        comparison=of.comparison.name,
        host=of.run.host.name,
        emulated=of.run.host.emulated,
        counted=of.run.clock == Clock.COUNTED,
        case_id=of.case.id,
        case=of.case.title,
        metric=of.metric,
        metric_title=of.declared.title,
        unit=of.declared.unit,
        direction=of.declared.direction,
        base=found.base,
        boots=found.boots,
        planned=of.planned,
        df=found.df,
        rows=list(_Rows(of, found).rows(_shared(knobs, of.plan.pairs))),
        scatter=found.scatter,
        furthest=names.get(arm, ""),
        furthest_by=off,
        not_effective=[
            f"{arm}: {reason}" if reason else arm for arm, reason in of.not_effective.items()
        ],
    )


def _shared(
    knobs: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], list[str]]:
    design = design_of(tuple(knobs), tuple(pairs), MOST_POINTS)
    return {
        pair: [" and ".join(other) for other in others] for pair, others in design.shared().items()
    }


class _Rows:
    """The rows of one estimate."""

    def __init__(self, of: FactorialCase, found: FactorialEstimate) -> None:
        self.of, self.found = of, found

    def rows(self, shared: dict[tuple[str, str], list[str]]) -> Iterator[FactorialRow]:
        """Knobs, pairs, all together, and what is left."""
        for knob in self.of.plan.knobs:
            modes = f"{knob.low} to {knob.high}"
            yield self._row("knob", knob.name, self.found.knobs.get(knob.name), modes)
        for pair in self.of.plan.pairs:
            name = " and ".join(pair)
            row = self._row("pair", name, self.found.pairs.get(pair), "beyond each alone")
            yield row.model_copy(update={"shared": shared.get(pair, [])})
        yield self._row("together", TOGETHER, self.found.together, "every knob high, measured")
        yield self._row(
            "unexplained",
            UNEXPLAINED,
            self.found.unexplained,
            "all together without the knobs' sum",
        )

    def _row(self, kind: RowKind, name: str, cost: Cost | None, help_: str) -> FactorialRow:
        if cost is None:
            return FactorialRow(kind=kind, name=name, help=help_, value=None, shared=[])
        direction, base = self.of.declared.direction, self.found.base
        value, _ = losses(direction, cost.value, cost.value)
        low, high = losses(direction, cost.low, cost.high)
        scale = 100.0 / base if base else None
        return FactorialRow(
            kind=kind,
            name=name,
            help=help_,
            value=value,
            low=low,
            high=high,
            percent=_scaled(value, scale),
            low_percent=_scaled(low, scale),
            high_percent=_scaled(high, scale),
            shared=[],
        )


def _scaled(value: float | None, scale: float | None) -> float | None:
    return None if value is None or scale is None else value * scale
