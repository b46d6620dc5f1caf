"""Which revision of a series costs least, of those that do as much of what protects. Pure.

A variant is set against the revision that is asked. One that does less of an event that protects
(`modes/events/`), in any case, is out before anything is ranked: a loop with fewer branches is
cheap. The others are ranked in each case by exact counts, and by what is predicted for each
processor; who cannot be told from the first one there is alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from mitigauge.tracking.studies.costs import Costs, costs_any
from mitigauge.tracking.studies.kernel_sets import stands_for
from mitigauge.tracking.studies.schemas import (
    EventCost,
    Gate,
    KernelSet,
    PatchCost,
    ProcessorCost,
    Variant,
    VariantPlace,
    VariantRanking,
)

NO_EVENT = "no case runs anything that is known to protect"

Place = tuple[str, str]
"""A case and its host."""


def variants_of(
    sets: Sequence[KernelSet], titles: Mapping[str, str], costs: Costs
) -> list[Variant]:
    """Each of *sets*, the first of which is the revision that is asked, past the gate or not.

    *titles*: of each revision.
    """
    asked = sets[0]
    protects = any(event.protects and event.a for event in _events(costs(asked, asked)))
    return [_variant(each, sets, titles, costs, protects=protects) for each in sets]


def _variant(
    each: KernelSet, sets: Sequence[KernelSet], titles: Mapping[str, str], costs: Costs, *,
    protects: bool,
) -> Variant:  # fmt: skip
    title = titles[each.revision]
    if each is sets[0]:
        return Variant(name=each.revision, title=title, gate=Gate.REFERENCE)
    if not each.release:
        why = each.skipped or "its kernel was not built"
        return Variant(name=each.revision, title=title, gate=Gate.UNKNOWN, why=why)
    stands = stands_for(sets, each)
    same_as = "" if stands is each else stands.revision
    if stands is sets[0]:
        return Variant(name=each.revision, title=title, gate=Gate.PASSED, same_as=same_as)
    found = costs(sets[0], each)
    gate, why = _gate(found) if protects else (Gate.UNKNOWN, NO_EVENT)
    return Variant(
        name=each.revision, title=title, gate=gate, why=why, same_as=same_as, costs=found
    )


def _gate(costs: Sequence[PatchCost]) -> tuple[Gate, str]:
    """Whether a variant with those costs does as much of what protects, and why not."""
    told = [(event, f"{_change(event)} an operation of {cost.case} on {cost.host}")
            for cost in costs for event in cost.events if event.protects]  # fmt: skip
    less = [say for event, say in told if event.exact is not None and event.exact < 0]
    more = [say for event, say in told if event.exact is not None and event.exact > 0]
    unsure = [say for event, say in told if event.exact is None]
    unknown = [f"{cost.case} on {cost.host}: {cost.why_none}" for cost in costs if cost.why_none]
    if less and more:
        why = f"it does less of one thing and more of another: {less[0]}, {more[0]}"
        return Gate.UNKNOWN, why
    if less:
        return Gate.OUT, "; ".join(less)
    if unsure or unknown:
        why = f"operations differ among themselves: {unsure[0]}" if unsure else unknown[0]
        return Gate.UNKNOWN, why
    return Gate.PASSED, ""


def _change(event: EventCost) -> str:
    return f"{event.title} from {event.a:.4g} to {event.b:.4g}"


def _events(costs: Iterable[PatchCost]) -> Iterator[EventCost]:
    return chain.from_iterable(cost.events for cost in costs)


def rankings_of(
    sets: Sequence[KernelSet], variants: Sequence[Variant], costs: Costs
) -> list[VariantRanking]:
    """Those that are not out, case by case: by counts first, then by processor.

    Of variants with the same code the first one alone; a case in which one is not counted is left
    out.
    """
    left = [
        each
        for each, variant in zip(sets, variants, strict=True)
        if each.release and not variant.same_as and variant.gate is not Gate.OUT
    ]
    if len(left) < 2:
        return []
    compared = _Compared(costs)
    return [
        ranking
        for place in compared.of(left[0], left[0])
        if all(compared.is_counted(left[0], each, place) for each in left)
        for ranking in _in_case(place, left, compared)
    ]


class _Compared:
    """Pairs of kernels, each compared once."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._known: dict[tuple[str, str], dict[Place, PatchCost]] = {}

    def of(self, before: KernelSet, after: KernelSet) -> dict[Place, PatchCost]:
        pair = before.name, after.name
        if pair not in self._known:
            found = self._costs(before, after)
            self._known[pair] = {(cost.case, cost.host): cost for cost in found}
        return self._known[pair]

    def is_counted(self, before: KernelSet, after: KernelSet, place: Place) -> bool:
        cost = self.of(before, after).get(place)
        return cost is not None and not cost.why_none


def _in_case(
    place: Place, left: Sequence[KernelSet], compared: _Compared
) -> Iterator[VariantRanking]:
    case, host = place
    to_asked = [compared.of(left[0], each)[place] for each in left]
    first = left[_least([cost.difference for cost in to_asked])]
    yield VariantRanking(
        case=case, host=host, processor="", title="",
        places=_sorted(_counted(each, compared.of(first, each)[place]) for each in left),
    )  # fmt: skip
    for known in to_asked[0].predictions:
        found = [_of(cost, known.processor) for cost in to_asked]
        ns = [each.ns for each in found if each is not None]
        if len(ns) < len(left):
            continue
        first = left[_least(ns)]
        to_first = [(each, _of(compared.of(first, each)[place], known.processor)) for each in left]
        yield VariantRanking(
            case=case, host=host, processor=known.processor, title=known.title,
            places=_sorted(_predicted(each, of) for each, of in to_first if of is not None),
        )  # fmt: skip


def _least(values: Sequence[float]) -> int:
    """Which of them is the least; the first of several."""
    return min(range(len(values)), key=values.__getitem__)


def _of(cost: PatchCost, processor: str) -> ProcessorCost | None:
    return next((each for each in cost.predictions if each.processor == processor), None)


def _counted(each: KernelSet, cost: PatchCost) -> VariantPlace:
    more = float(cost.exact) if cost.exact is not None else cost.difference
    return VariantPlace(
        name=each.revision, more=more, low=more, high=more, is_alike=not costs_any(cost)
    )


def _predicted(each: KernelSet, of: ProcessorCost) -> VariantPlace:
    return VariantPlace(
        name=each.revision, more=of.ns, low=of.low, high=of.high, is_alike=of.low <= 0,
        missing=of.missing,
    )  # fmt: skip


def _sorted(places: Iterable[VariantPlace]) -> list[VariantPlace]:
    return sorted(places, key=lambda each: each.more)
