"""Prices for `mitigauge cost`: stored, at the pace of now, or measured; of each kind of core."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from cli import cost_prices, price_here
from cli.cost_prices import Prices, at_pace_of_now, call_ns, measured_prices, stored_prices
from mitigauge.analysis.prices.definitions import Machine, Price, Processor, Source
from mitigauge.analysis.prices.trust import Trust
from mitigauge.core.errors import NotFound, NotReady

CPUINFO = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 151
stepping\t: 2
model name\t: 12th Gen Intel(R) Core(TM) i9-12900K
flags\t\t: fpu avx_vnni serialize
"""


def price(event: str, ns: float) -> Price:
    return Price(event=event, ns=ns, low=0.9 * ns, high=1.1 * ns, source=Source(title="made"))


def machine(*prices: Price, refused: dict[str, str] | None = None) -> Machine:
    made = Machine(
        machine="here", at=date(2026, 11, 30), program="0" * 64, cycle_ns=0.2, prices=prices,
        refused=refused or {},
    )  # fmt: skip
    return made.model_copy(update={"digest": made.own_digest()})


def ns_of(processor: Processor) -> float:
    """Of a VERW."""
    of = processor.price_of("verw")
    assert of
    return of.ns


def stored(*prices: Price) -> Prices:
    of = Processor(processor="p", title="P", prices=prices)
    return Prices([of], {}, "a file", Trust.TRUSTED, "P", [])


@pytest.fixture
def hybrid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with two kinds of core."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(CPUINFO)
    monkeypatch.setattr(price_here, "CPUINFO", cpuinfo)
    monkeypatch.setattr(price_here, "kinds_of_cores", lambda: {"core": {0}, "atom": {1}})


def times(monkeypatch: pytest.MonkeyPatch, machines: Sequence[Machine]) -> None:
    def timed(seconds: float, events: object) -> list[Machine]:
        return list(machines)

    monkeypatch.setattr(cost_prices, "_timed", timed)


def test_a_processor_with_two_kinds_of_core_has_a_price_of_each(
    hybrid: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times(monkeypatch, [machine(price("verw", 10)), machine(price("verw", 30))])
    prices = measured_prices(10, {"verw"})
    assert [ns_of(each) for each in prices.processors] == [10, 30]
    assert "cores of several kinds (core, atom): figures are ranges over them" in prices.notes


def test_without_a_file_of_each_kind_nothing_is_stored(hybrid: None) -> None:
    assert stored_prices("") is None


def test_one_kind_without_a_price_leaves_none(
    hybrid: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times(monkeypatch, [machine(price("verw", 10)), machine(refused={"verw": "no"})])
    prices = measured_prices(10, {"verw"})
    assert prices.processors == []
    assert prices.refused == {"verw": "no"}


def test_where_no_compiler_is_there_are_no_prices_and_a_note_says_why(
    hybrid: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(seconds: float, events: object) -> list[Machine]:
        raise NotReady("no C compiler is there")

    monkeypatch.setattr(cost_prices, "_timed", lacks)
    prices = measured_prices(10, {"verw"})
    assert prices.processors == []
    assert prices.notes[0] == "no prices: no C compiler is there"


def test_nothing_is_measured_where_nothing_is_in_force(
    hybrid: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(cost_prices, "_timed")
    assert measured_prices(10, set()).processors == []


def test_a_stored_price_is_as_much_dearer_as_a_system_call_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times(monkeypatch, [machine(price("system-call", 150))])
    prices = at_pace_of_now(stored(price("system-call", 100), price("verw", 10)), 40)
    assert ns_of(prices.processors[0]) == pytest.approx(15)
    assert prices.notes == ["prices × 1.50: as much longer a system call takes now"]
    assert call_ns(prices) == pytest.approx(0.9 * 150)


@pytest.mark.parametrize("seconds", [0, 40])
def test_where_the_pace_cannot_be_told_stored_prices_stay_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    times(monkeypatch, [machine(price("lfence", 3))])
    prices = at_pace_of_now(stored(price("system-call", 100), price("verw", 10)), seconds)
    assert ns_of(prices.processors[0]) == 10
    assert prices.notes == ["prices are those of a calm processor: a busy one takes longer"]


def test_prices_are_as_far_off_as_they_are_in_loads(
    hybrid: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short loops alone would tell an interval that is too narrow."""
    times(monkeypatch, [machine(price("verw", 10)), machine(price("verw", 30))])
    prices = measured_prices(10, {"verw"})
    assert {each.misfit_percent for each in prices.processors} == {26.0}


def test_a_processor_is_named_or_refused() -> None:
    prices = stored_prices("amd-26-2-1")
    assert prices
    assert prices.processors[0].processor == "amd-26-2-1"
    assert prices.refused["ibpb"]
    with pytest.raises(NotFound, match="nobody"):
        stored_prices("nobody")
