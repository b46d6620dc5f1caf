"""Two operations as a page and a command show them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.profiles.diff.sides import Selection
from mitigauge.profiles.exact.difference import (
    FunctionPair,
    LinePair,
    function_pairs,
    interval_of,
    line_pairs,
)
from mitigauge.profiles.exact.ledger import Ledger
from mitigauge.profiles.exact.operation import FunctionRuns, LineRuns, Operation, operation_of
from mitigauge.profiles.exact.schemas import (
    ExactFunctionRow,
    ExactLineRow,
    ExactSide,
    ExactTable,
    Mark,
)

# More than a page can be read with.
MOST_FUNCTIONS = 2000
# Instructions an operation below which a function is not worth a row.
LEAST_SHOWN = 0.005
# Runs an operation below which an instruction is another program's, or an interrupt's.
LEAST_RUNS = 0.002


@dataclass(frozen=True, slots=True)
class CountedGroup:
    """The boots of one side: their ledgers, and why others have none."""

    label: str
    of: Selection
    ledgers: Sequence[Ledger]
    missing: Sequence[str]


def exact_table(
    title: str,
    a: CountedGroup,
    b: CountedGroup,
    *,
    renamed: Mapping[str, str],
    function: str,
) -> ExactTable:
    """Both groups compared, with the instructions of *function* (by its name in B's kernel)."""
    operations = [operation_of(group.ledgers) if group.ledgers else None for group in (a, b)]
    left, right = operations
    sides = [_side(group, of) for group, of in zip((a, b), operations, strict=True)]
    if left is None or right is None:
        return _empty(title, a, sides, function)
    pairs = function_pairs(left, right, renamed)
    shown = [
        pair
        for pair in pairs
        if max(_mean(pair.a), _mean(pair.b)) >= LEAST_SHOWN or abs(pair.difference) >= LEAST_SHOWN
    ]
    chosen = next((pair for pair in pairs if function and pair.key[1] == function), None)
    bounds = interval_of(left.values, right.values)
    return ExactTable(
        title=title,
        host=a.of.host,
        a=sides[0],
        b=sides[1],
        why_none="",
        difference=right.instructions - left.instructions,
        exact=right.steady - left.steady,
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
        functions=[_function_row(pair) for pair in shown[:MOST_FUNCTIONS]],
        left_out=max(0, len(shown) - MOST_FUNCTIONS),
        function=function,
        instructions=[_line_row(pair) for pair in line_pairs(chosen) if _ran(pair)]
        if chosen
        else [],
    )


def _mean(function: FunctionRuns | None) -> float:
    return function.mean if function else 0.0


def _ran(pair: LinePair) -> bool:
    return any(side is not None and side.mean >= LEAST_RUNS for side in (pair.a, pair.b))


def _side(group: CountedGroup, of: Operation | None) -> ExactSide:
    return ExactSide(
        label=group.label,
        of=group.of,
        boots=of.boots if of else 0,
        instructions=of.instructions if of else 0.0,
        steady=of.steady if of else 0,
        counted_ns=of.counted_ns if of else 0.0,
        measured_ns=of.seconds * 1e9 if of else 0.0,
        lines=of.lines if of else 0.0,
        pages=of.pages if of else 0.0,
        missing=list(dict.fromkeys(group.missing)),
    )


def _empty(title: str, a: CountedGroup, sides: Sequence[ExactSide], function: str) -> ExactTable:
    reasons = list(dict.fromkeys(reason for side in sides for reason in side.missing))
    without = " and ".join(side.label for side in sides if not side.boots)
    why = "; ".join(reasons) or (
        "only profiled cases of emulated hosts in counted time have them, of workloads that can "
        "mark their operations (docs/exact.md)"
    )
    return ExactTable(
        title=title,
        host=a.of.host,
        a=sides[0],
        b=sides[1],
        why_none=f"No exact counts of {without}: {why}.",
        difference=0.0,
        exact=0,
        functions=[],
        left_out=0,
        function=function,
        instructions=[],
    )


def _function_row(pair: FunctionPair) -> ExactFunctionRow:
    module, name = pair.key
    # Where both sides ran whole numbers there is nothing to be unsure of.
    bounds = None
    if pair.exact is None and pair.a and pair.b:
        bounds = interval_of(pair.a.values, pair.b.values)
    return ExactFunctionRow(
        function=name,
        module=module,
        was=pair.was,
        a=_mean(pair.a),
        b=_mean(pair.b),
        difference=pair.difference,
        exact=pair.exact,
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
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
        mark=mark,
    )


def _place(side: LineRuns | None) -> int | None:
    return side.line.place if side else None


def _runs(side: LineRuns | None) -> float:
    if side is None:
        return 0.0
    return float(side.steady) if side.steady is not None else side.mean
