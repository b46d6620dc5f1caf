"""Estimates of factorial designs as rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.stats.bounds import Bound, bound_of
from mitigauge.core.stats.factorial import Cost, FactorialEstimate, estimate
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.factorial import MOST_POINTS, design_of
from mitigauge.measurement.experiments.tables import Knob
from mitigauge.measurement.modes.crossing import uncounted
from mitigauge.reporting.pages.factorial import FactorialCase
from mitigauge.reporting.tables.factorial_schemas import FactorialRow, FactorialTable, RowKind
from mitigauge.reporting.tables.loss import losses

TOGETHER, UNEXPLAINED = "all together", "left unexplained"


def table_of(of: FactorialCase, catalog: Catalog) -> FactorialTable:
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
        rows=list(_Rows(of, found, catalog).rows(_shared(knobs, of.plan.pairs))),
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

    def __init__(self, of: FactorialCase, found: FactorialEstimate, catalog: Catalog) -> None:
        self.of, self.found, self.catalog = of, found, catalog

    def rows(self, shared: dict[tuple[str, str], list[str]]) -> Iterator[FactorialRow]:
        """Knobs, pairs, all together, and what is left."""
        bounds = {knob.name: self._bound(knob) for knob in self.of.plan.knobs}
        every = list(bounds.values())
        for knob in self.of.plan.knobs:
            modes = f"{knob.low} to {knob.high}"
            row = self._row("knob", knob.name, self.found.knobs.get(knob.name), modes)
            yield row.model_copy(update={"bound": bounds[knob.name]})
        for pair in self.of.plan.pairs:
            name = " and ".join(pair)
            row = self._row("pair", name, self.found.pairs.get(pair), "beyond each alone")
            bound = of_a_difference([bounds[each] for each in pair])
            yield row.model_copy(update={"shared": shared.get(pair, []), "bound": bound})
        row = self._row("together", TOGETHER, self.found.together, "every knob high, measured")
        yield row.model_copy(update={"bound": of_a_sum(every)})
        row = self._row(
            "unexplained",
            UNEXPLAINED,
            self.found.unexplained,
            "all together without the knobs' sum",
        )
        yield row.model_copy(update={"bound": of_a_difference(every)})

    def _bound(self, knob: Knob) -> Bound:
        """What the cost of a knob says of the true one: an emulator counts no barrier."""
        if not self.of.run.host.emulated:
            return Bound.EXACT
        families = self.catalog.families
        try:
            events = uncounted(knob.high, knob.low, families)
        except (InvalidInput, NotFound, KeyError):
            # A family of modes that is no longer here.
            return Bound.NOTHING
        # Cost is the change for the worse: more events cost more of it, whatever the metric.
        return bound_of(events, "lower", self.of.declared.possible)

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


def of_a_sum(parts: Sequence[Bound]) -> Bound:
    """What the sum of such costs says of the true sum."""
    kinds = set(parts) - {Bound.EXACT}
    if not kinds:
        return Bound.EXACT
    return kinds.pop() if len(kinds) == 1 else Bound.NOTHING


def of_a_difference(parts: Sequence[Bound]) -> Bound:
    """What the difference of such costs says of the true one: nothing where any is a bound."""
    return Bound.EXACT if set(parts) <= {Bound.EXACT} else Bound.NOTHING


def _scaled(value: float | None, scale: float | None) -> float | None:
    return None if value is None or scale is None else value * scale
