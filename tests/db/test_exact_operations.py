"""What operations run is stored as it is shown: the same as computed, until something changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, text

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact import repository, stored_counts
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.operation_service import store_operations
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.profiles.exact.table import PriceList
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.pages import exact as page
from mitigauge.reporting.pages.exact import exact_difference
from mitigauge.reporting.pages.prices import levels_of
from mitigauge.storage.database.engine import advisory_lock, transaction
from mitigauge.storage.database.locks import Lock
from tests.db.test_exact_counts import boots, counted, sides
from tests.db.test_prices import counted as counted_and_priced
from tests.made import Made, make
from tests.unit.exact.test_stored_operation import BOOTS, made

EVENTS = Catalog().events
FUNCTIONS = ("", "entry", "f7", "f33", "nothing")


class Read(Exception):
    """A ledger was read."""


@contextmanager
def no_ledger_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reading a ledger meanwhile is an error."""

    def refused(_session: object, _counts: object) -> dict[int, Ledger]:
        raise Read

    with monkeypatch.context() as patch:
        patch.setattr(repository, "ledgers_of", refused)
        yield


def counted_in(engine: Engine, ledgers: Mapping[tuple[int, int], Ledger]) -> Made:
    """A made experiment with these ledgers of its first case, by arm (0, 1) and block."""
    found = make(engine)
    arms = sorted({arm for _, arm, _ in boots(engine)})
    with transaction(engine) as session:
        for boot, arm, block in boots(engine):
            of = ledgers.get((arms.index(arm), block))
            if of is not None:
                store_counts(session, boot, 1, CountedPass(of))
    return found


def tables(engine: Engine, asked: tuple[Selection, Selection]) -> list[dict[str, Any]]:
    """The answers for several functions."""
    with transaction(engine) as session:
        return [
            exact_difference(session, *asked, function=function).model_dump()
            for function in FUNCTIONS
        ]


TWO = {(arm, block): made(2 * arm + block) for arm in (0, 1) for block in (1, 2)}
FEW = {(0, 1): made(0), (0, 2): made(3), (1, 2): BOOTS["three, one without branches"][2]}


@pytest.mark.parametrize("ledgers", [TWO, FEW], ids=["two boots", "one side with one boot"])
def test_what_is_stored_answers_as_what_is_computed_and_reads_no_ledger(
    engine: Engine, ledgers: Mapping[tuple[int, int], Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sides(engine, counted_in(engine, ledgers))
    computed = tables(engine, asked)
    assert store_operations(engine, EVENTS) == 2
    assert store_operations(engine, EVENTS) == 0
    with no_ledger_read(monkeypatch):
        assert tables(engine, asked) == computed
    assert any(len(each["instructions"]) > 2 for each in computed)
    assert computed[0]["bill"]


def test_until_it_is_stored_it_is_computed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = sides(engine, counted(engine))
    with no_ledger_read(monkeypatch), pytest.raises(Read):
        tables(engine, asked)


def test_a_boot_that_is_counted_later_is_taken_in(engine: Engine) -> None:
    made_of = counted(engine)
    asked = sides(engine, made_of)
    store_operations(engine, EVENTS)
    with transaction(engine) as session:
        later = next(boot for boot, _, block in boots(engine) if block == 3)
        store_counts(session, later, 1, CountedPass(made(5)))
    computed = tables(engine, asked)
    assert {computed[0]["a"]["boots"], computed[0]["b"]["boots"]} == {2, 3}
    assert store_operations(engine, EVENTS) == 1
    assert tables(engine, asked) == computed


def test_a_boot_that_no_longer_counts_is_left_out(engine: Engine) -> None:
    asked = sides(engine, counted(engine))
    store_operations(engine, EVENTS)
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'not_effective' where block = 1"))
    computed = tables(engine, asked)
    assert (computed[0]["a"]["boots"], computed[0]["b"]["boots"]) == (1, 1)
    assert store_operations(engine, EVENTS) == 2
    assert tables(engine, asked) == computed


def test_a_boot_without_counts_is_named_and_changes_nothing(engine: Engine) -> None:
    asked = sides(engine, counted(engine))
    store_operations(engine, EVENTS)
    before = tables(engine, asked)
    with transaction(engine) as session:
        for boot, _, block in boots(engine):
            if block == 3:
                store_counts(session, boot, 1, CountedPass(detail="marks: no answer"))
    assert store_operations(engine, EVENTS) == 0
    after = tables(engine, asked)
    assert after[0]["a"]["missing"] == ["marks: no answer"]
    for table in after:
        table["a"]["missing"] = table["b"]["missing"] = []
    assert after == before


def test_other_files_of_events_have_another_bill_before_and_after_it_is_stored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sides(engine, counted_in(engine, TWO))
    store_operations(engine, EVENTS)
    wrmsr = next(event for event in EVENTS.values() if event.found)
    other = {**EVENTS, "new": wrmsr.model_copy(update={"event": "new", "title": "New"})}
    monkeypatch.setattr(page, "price_list", lambda: PriceList(other, {}))
    with monkeypatch.context() as patch:
        patch.setattr(repository, "operation_row", lambda *_: None)
        computed = tables(engine, asked)
    with no_ledger_read(monkeypatch):
        assert tables(engine, asked) == computed
    assert store_operations(engine, other) == 2
    monkeypatch.setattr(stored_counts, "bill_of", None)
    assert tables(engine, asked) == computed


def test_a_row_that_was_replaced_meanwhile_is_not_read(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sides(engine, counted_in(engine, TWO))
    store_operations(engine, EVENTS)
    stored = tables(engine, asked)
    monkeypatch.setattr(repository, "operation_lines", lambda *_, **__: None)
    assert tables(engine, asked) == stored


def test_a_worker_that_stops_leaves_the_rest_to_the_next(engine: Engine) -> None:
    counted(engine)
    asked = iter([False, True])
    assert store_operations(engine, EVENTS, stopping=lambda: next(asked)) == 1
    assert store_operations(engine, EVENTS) == 1


def test_while_one_worker_works_another_one_does_not(engine: Engine) -> None:
    counted(engine)
    with advisory_lock(engine, Lock.EXACT_OPERATIONS):
        assert store_operations(engine, EVENTS) == 0
    assert store_operations(engine, EVENTS) == 2


def test_what_cannot_be_worked_out_is_tried_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted(engine)

    def torn(_data: bytes) -> Ledger:
        raise ValueError("torn")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "from_bytes", torn)
        assert store_operations(engine, EVENTS) == 2
    assert store_operations(engine, EVENTS) == 0
    with engine.connect() as connection:
        rows = connection.execute(text("select bill, steady, summary from exact_operation"))
        assert {tuple(row) for row in rows} == {(None, None, None)}
        asked = text("select count(*) from exact_operation where bill is null")
        assert connection.scalar(asked) == 2


def test_levels_of_all_cases_and_arms_are_of_stored_bills(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = counted_and_priced(engine)

    def levels() -> object:
        with transaction(engine) as session:
            return levels_of(session, experiment, experiment)

    computed = levels()
    assert store_operations(engine, EVENTS) == 4
    with no_ledger_read(monkeypatch):
        assert levels() == computed


def test_what_no_row_is_stored_of_is_computed_and_stored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sides(engine, counted(engine))
    computed = tables(engine, asked)
    store_operations(engine, EVENTS)
    with engine.begin() as connection:
        connection.execute(text("delete from exact_operation"))
    assert tables(engine, asked) == computed
    assert store_operations(engine, EVENTS) == 2
    with no_ledger_read(monkeypatch):
        assert tables(engine, asked) == computed
