"""An operation that was stored is the one that was computed."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest

from mitigauge.analysis.profiles.exact import stored_operation
from mitigauge.analysis.profiles.exact.bill import bill_of
from mitigauge.analysis.profiles.exact.ledger import Branches, Ledger, LedgerFunction, Line
from mitigauge.analysis.profiles.exact.operation import OperationFootprint, operation_of
from mitigauge.analysis.profiles.exact.stored_operation import (
    StoredOperation,
    events_digest,
    packed,
)
from mitigauge.measurement.catalog import Catalog
from tests.unit.exact.ledgers import OPERATIONS, function, ledger

EVENTS = Catalog().events
VERW, IBPB, WRMSR = "0f00e8", "b949000000", "0f30"


def made(boot: int) -> Ledger:
    """A boot with what differs between boots, twins, patched code, and code without a name."""
    chance = random.Random(boot)
    many = [
        function(f"f{n}", {f"i{n}.{line}": chance.choice((1, 2, 0.3)) for line in range(n % 40)})
        for n in range(200)
    ]
    twin = function("f7", {"ret": 1 + boot})
    patched = LedgerFunction(
        name="entry",
        module="kernel",
        is_kernel=True,
        runs=[4 * OPERATIONS, 4 * OPERATIONS + boot],
        lines=[
            Line(0, VERW, "verw", "verw", [OPERATIONS, OPERATIONS + boot], 3),
            Line(0, IBPB, "movl $73, %ecx", "movl", [OPERATIONS, OPERATIONS], 0),
            Line(5, WRMSR, "wrmsr", "wrmsr", [OPERATIONS, OPERATIONS], 0),
            Line(7, "7502", "jne 4 <é>", "jne", [OPERATIONS, OPERATIONS], OPERATIONS),
        ],
    )
    nowhere = function("", {"nop": 1 / 3}, module="libc.so.6")
    found = ledger(*many, twin, patched, nowhere, lines=10 + boot, branches=Branches(
        taken=7, indirect=boot, returns=2
    ))  # fmt: skip
    windows = [
        each.model_copy(update={"instructions": each.instructions + 11}) for each in found.windows
    ]
    return found.model_copy(update={"windows": windows, "operations": OPERATIONS - boot})


BOOTS = {
    "one": [made(0)],
    "two": [made(0), made(1)],
    "three, one without branches": [
        made(1), made(2), ledger(function("f1", {"a": 1}), function("late", {"ret": 2})),
    ],
    "nothing ran": [ledger()],
}  # fmt: skip


@pytest.mark.parametrize("boots", BOOTS.values(), ids=BOOTS)
def test_what_is_read_is_what_was_stored(boots: list[Ledger]) -> None:
    operation = operation_of(boots)
    columns = packed(operation)
    stored = StoredOperation(columns.summary)
    assert stored.whole(columns.lines) == operation
    assert list(stored.totals.functions) == list(operation.functions)
    for field in fields(stored.totals):
        if field.name != "functions":
            assert getattr(stored.totals, field.name) == getattr(operation, field.name)
    assert (stored.totals.steady, stored.totals.counted_ns) == (
        operation.steady, operation.counted_ns,
    )  # fmt: skip


def test_the_instructions_of_one_function_are_read_alone() -> None:
    operation = operation_of(BOOTS["two"])
    columns = packed(operation)
    stored = StoredOperation(columns.summary)
    lengths = set()
    for key, expected in operation.functions.items():
        span = stored.span_of(key)
        if span is None:
            assert not expected.lines
            continue
        lengths.add(span.length)
        frame = columns.lines[span.start : span.start + span.length]
        assert stored.lines_in(frame, key) == expected.lines
    assert stored.span_of(("kernel", "nothing")) is None
    assert len(lengths) > 1
    assert max(lengths) < len(columns.lines) / 2


def test_a_bill_of_other_events_is_that_of_the_computed_operation() -> None:
    operation = operation_of(BOOTS["two"])
    columns = packed(operation)
    whole = StoredOperation(columns.summary).whole(columns.lines)
    assert bill_of(whole, EVENTS) == bill_of(operation, EVENTS)
    assert any(entry.times for entry in bill_of(whole, EVENTS).values())


def test_events_are_told_apart_by_all_that_they_say() -> None:
    name, event = next(iter(EVENTS.items()))
    other = EVENTS | {name: event.model_copy(update={"title": "another"})}
    assert events_digest(other) != events_digest(EVENTS)
    assert events_digest(dict(EVENTS)) == events_digest(EVENTS)


def test_a_form_with_another_figure_is_another_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before a figure was counted must not be shown as if it were 0."""
    told = stored_operation.form()
    schema = stored_operation._SUMMARY.json_schema()
    names = {field.name for field in fields(OperationFootprint)}
    assert names <= set(schema["$defs"]["OperationFootprint"]["properties"])
    monkeypatch.setattr(stored_operation, "VERSION", stored_operation.VERSION + 1)
    stored_operation.form.cache_clear()
    try:
        assert stored_operation.form() != told
    finally:
        monkeypatch.undo()
        stored_operation.form.cache_clear()
    assert stored_operation.form() == told
