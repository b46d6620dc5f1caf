"""Two operations as a page and a command show them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.analysis.prices.definitions import INSTRUCTION, Processor
from mitigauge.analysis.prices.prediction import predicted
from mitigauge.analysis.profiles.exact.bill import Entry
from mitigauge.analysis.profiles.exact.counted_group import Counted, CountedGroup, why_none
from mitigauge.analysis.profiles.exact.difference import (
    FunctionPair,
    Interval,
    LinePair,
    function_pairs,
    interval_of,
    intervals_of,
    line_pairs,
)
from mitigauge.analysis.profiles.exact.footprint import is_repeated
from mitigauge.analysis.profiles.exact.footprint_table import footprint_rows
from mitigauge.analysis.profiles.exact.operation import LineRuns, OperationTotals
from mitigauge.analysis.profiles.exact.schemas import (
    BillRow,
    ExactFunctionRow,
    ExactLineRow,
    ExactSide,
    ExactTable,
    Mark,
    PredictedCost,
    PredictedPart,
)
from mitigauge.measurement.modes.families import HardwareEvent

# More than a page can be read with.
MOST_FUNCTIONS = 2000
# Instructions an operation below which a function is not worth a row.
LEAST_SHOWN = 0.005
# Runs an operation below which an instruction is another program's, or an interrupt's.
LEAST_RUNS = 0.002


@dataclass(frozen=True, slots=True)
class PriceList:
    """What is looked for in the code that ran, and what it costs where."""

    events: Mapping[str, HardwareEvent]
    processors: Mapping[str, Processor]
    first: Sequence[str] = ()
    """Processors whose predictions stand first, in this order."""


def exact_table(
    title: str,
    a: CountedGroup,
    b: CountedGroup,
    *,
    renamed: Mapping[str, str],
    function: str,
    prices: PriceList,
) -> ExactTable:
    """Both groups compared, with the instructions of *function* (by its name in B's kernel)."""
    sides = [_side(group, group.counted.operation if group.counted else None) for group in (a, b)]
    if a.counted is None or b.counted is None:
        return _empty(title, (a, b), sides, function)
    left, right = a.counted.operation, b.counted.operation
    pairs = function_pairs(left, right, renamed)
    shown = [pair for pair in pairs if max(*pair.means, abs(pair.difference)) >= LEAST_SHOWN]
    chosen = next((pair for pair in pairs if function and pair.key[1] == function), None)
    low, high = interval_of(left.values, right.values)
    exact = None if any(map(_is_partly_open, pairs)) else right.steady - left.steady
    bill = _bill(a.counted, b.counted, prices)
    return ExactTable(
        title=title,
        host=a.of.host,
        a=sides[0],
        b=sides[1],
        why_none="",
        difference=right.instructions - left.instructions,
        exact=exact,
        low=low,
        high=high,
        functions=_function_rows(shown[:MOST_FUNCTIONS]),
        left_out=max(0, len(shown) - MOST_FUNCTIONS),
        footprint=footprint_rows(left.footprint, right.footprint),
        bill=bill,
        predictions=_predictions(
            right.instructions - left.instructions if exact is None else exact, bill, prices
        ),
        function=function,
        instructions=_instructions(chosen, a.counted, b.counted) if chosen else [],
    )


def _instructions(of: FunctionPair, a: Counted, b: Counted) -> list[ExactLineRow]:
    left = a.lines_of(of.key_of_a) if of.a else ()
    right = b.lines_of(of.key) if of.b else ()
    return [_line_row(pair) for pair in line_pairs(left, right) if _ran(pair)]


def _ran(pair: LinePair) -> bool:
    return any(side is not None and side.mean >= LEAST_RUNS for side in (pair.a, pair.b))


def _side(group: CountedGroup, of: OperationTotals | None) -> ExactSide:
    return ExactSide(
        label=group.label,
        of=group.of,
        boots=of.boots if of else 0,
        instructions=of.instructions if of else 0.0,
        steady=of.steady if of else 0,
        counted_ns=of.counted_ns if of else 0.0,
        measured_ns=of.seconds * 1e9 if of else 0.0,
        lines=of.footprint.lines if of else 0.0,
        pages=of.footprint.pages if of else 0.0,
        missing=list(dict.fromkeys(group.missing)),
    )


def _empty(
    title: str, groups: tuple[CountedGroup, CountedGroup], sides: Sequence[ExactSide], function: str
) -> ExactTable:
    return ExactTable(
        title=title,
        host=groups[0].of.host,
        a=sides[0],
        b=sides[1],
        why_none=why_none(groups),
        difference=0.0,
        exact=0,
        functions=[],
        left_out=0,
        footprint=[],
        bill=[],
        predictions=[],
        function=function,
        instructions=[],
    )


def _bill(a: Counted, b: Counted, prices: PriceList) -> list[BillRow]:
    left, right = a.bill(prices.events), b.bill(prices.events)
    return [
        BillRow(
            event=name,
            title=left[name].title,
            a=left[name].times,
            b=right[name].times,
            difference=right[name].times - left[name].times,
            exact=_whole_difference(left[name], right[name]),
        )
        for name in left
        if max(left[name].times, right[name].times) >= LEAST_RUNS
    ]


def _whole_difference(a: Entry, b: Entry) -> int | None:
    return None if a.steady is None or b.steady is None else b.steady - a.steady


def _is_partly_open(pair: FunctionPair) -> bool:
    """Whether a part of each operation is in the function, and nobody knows how much."""
    return pair.exact is None and any(side is not None and side.steady for side in (pair.a, pair.b))


def _predictions(
    instructions: float, bill: Sequence[BillRow], prices: PriceList
) -> list[PredictedCost]:
    """What differs in each operation, at each processor's prices.

    Those that are to be first are, then those with the fewest missing prices.
    """
    change: dict[str, float] = {INSTRUCTION: instructions}
    change |= {row.event: row.difference if row.exact is None else row.exact for row in bill}
    found = [(processor, predicted(change, processor)) for processor in prices.processors.values()]
    places = {name: place for place, name in enumerate(prices.first)}
    found.sort(key=lambda of: (places.get(of[0].processor, len(places)), len(of[1].missing)))
    return [
        PredictedCost(
            processor=processor.processor,
            title=processor.title,
            ns=cost.ns,
            low=cost.low,
            high=cost.high,
            parts=[
                PredictedPart(event=part.event, times=part.times, ns=part.ns, source=part.source)
                for part in cost.parts
            ],
            missing=list(cost.missing),
        )
        for processor, cost in found
    ]


def _function_rows(pairs: Sequence[FunctionPair]) -> list[ExactFunctionRow]:
    # Where both sides ran whole numbers there is nothing to be unsure of. One by one, the intervals
    # of a long list take longer than all the rest of the page.
    unsure = {
        pair.key: (pair.a.values, pair.b.values)
        for pair in pairs
        if pair.a and pair.b and pair.exact is None
    }
    intervals = dict(zip(unsure, intervals_of(list(unsure.values())), strict=True))
    return [_function_row(pair, intervals.get(pair.key, (None, None))) for pair in pairs]


def _function_row(pair: FunctionPair, interval: Interval) -> ExactFunctionRow:
    module, name = pair.key
    low, high = interval
    return ExactFunctionRow(
        function=name,
        module=module,
        was=pair.was,
        a=pair.means[0],
        b=pair.means[1],
        difference=pair.difference,
        exact=pair.exact,
        low=low,
        high=high,
        mark=_mark_of_function(pair),
    )


def _mark_of_function(pair: FunctionPair) -> Mark:
    if pair.a is None:
        return "new"
    if pair.b is None:
        return "gone"
    return "renamed" if pair.was else ""


def _line_row(pair: LinePair) -> ExactLineRow:
    mark: Mark = "new" if pair.a is None else "gone" if pair.b is None else ""
    return ExactLineRow(
        place_a=_place(pair.a),
        place_b=_place(pair.b),
        text_a=pair.a.line.text if pair.a else "",
        text_b=pair.b.line.text if pair.b else "",
        a=_runs(pair.a),
        b=_runs(pair.b),
        repeats_a=_repeats(pair.a),
        repeats_b=_repeats(pair.b),
        mark=mark,
    )


def _place(side: LineRuns | None) -> int | None:
    return side.line.place if side else None


def _repeats(side: LineRuns | None) -> float:
    if side is None or not is_repeated(bytes.fromhex(side.line.code)):
        return 0.0
    return float(side.taken if side.taken_steady is None else side.taken_steady)


def _runs(side: LineRuns | None) -> float:
    if side is None:
        return 0.0
    return float(side.steady) if side.steady is not None else side.mean
