"""A published table beside what rates, bills and prices predict of it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from mitigauge.analysis.claims.files import ClaimEntry, ClaimFile
from mitigauge.analysis.prices.claim_prediction import (
    Pace,
    PredictedClaim,
    Rate,
    Rates,
    agreement,
    implied_claims,
    one_of,
    predicted_claims,
)
from mitigauge.analysis.prices.definitions import Price, Processor, Source
from mitigauge.analysis.prices.processors import (
    bills_of_questions,
    claims_of,
    processors_of,
    rates_of_tables,
)
from mitigauge.analysis.prices.ranking import BillOfMode, Bills
from mitigauge.measurement.catalog import Catalog

BILLS = Bills(
    bills="b", operation="exit", source="counted",
    modes=(
        BillOfMode(mode="off", title="off", events={}),
        BillOfMode(mode="ibpb", title="ibpb", events={"ibpb": 1}),
        BillOfMode(mode="clear", title="clear", events={"bhb-long": 1}),
    ),
)  # fmt: skip


def processor(name: str = "p", **prices: float) -> Processor:
    return Processor(
        processor=name, title=name.upper(),
        prices=tuple(
            Price(event=event.replace("_", "-"), ns=ns, low=0.98 * ns, high=1.02 * ns,
                  source=Source(title=f"of {name}"))
            for event, ns in prices.items()
        ),
    )  # fmt: skip


def claim(change: float, mode: str = "vmscape/ibpb", **case: object) -> ClaimEntry:
    return ClaimEntry(metric="throughput", mode=mode, change=change, case=case)


def table(*claims: ClaimEntry, baseline: str = "vmscape/off") -> ClaimFile:
    return ClaimFile(
        name="t", title="T", citation="c", workload="iperf", baseline=baseline, claims=list(claims)
    )


def rates(*cases: Rate, pace: Pace | None = None) -> Rates:
    return Rates(
        rates="t", claims="t", bills="b", processors=("p",), host="h", source="s", pace=pace,
        modes={"vmscape/off": "off", "vmscape/ibpb": "ibpb", "vmscape/bhb-clear": "clear"},
        cases=cases,
    )  # fmt: skip


def rate(per_second: float, processors: int = 1, **case: object) -> Rate:
    return Rate(
        case=case, per_second=per_second, low=0.99 * per_second, high=1.01 * per_second,
        processors=processors,
    )  # fmt: skip


def one(of: Rates, claims: ClaimFile, by: Processor) -> PredictedClaim:
    [row] = predicted_claims(of, claims, BILLS, by)
    return row


def test_a_case_takes_longer_by_its_rate_times_the_price() -> None:
    """50,000 a second at 2,000 ns are 100 ms more for each second: 1 / 1.1 of the throughput."""
    row = one(rates(rate(50_000, network="user")), table(claim(-9.0, network="user")),
              processor(ibpb=2000))  # fmt: skip
    assert row.percent == pytest.approx(-100 * 0.1 / 1.1, rel=0.01)
    assert row.low < row.percent < row.high
    assert row.is_right
    assert row.holds


def test_several_processors_share_the_rate() -> None:
    row = one(rates(rate(50_000, processors=4, n=1)), table(claim(-9.0, n=1)), processor(ibpb=2000))
    assert row.percent == pytest.approx(-100 * 0.025 / 1.025, rel=0.01)


def test_the_rate_of_a_slow_host_is_brought_to_a_fast_one() -> None:
    """An operation takes 100 times as long there, so that a real processor does 100 times more."""
    pace = Pace(there_ns=100_000, here_ns=1000, low=900, high=1100, source="s")
    row = one(rates(rate(500, n=1), pace=pace), table(claim(-9.0, n=1)), processor(ibpb=2000))
    assert row.percent == pytest.approx(-100 * 0.1 / 1.1, rel=0.03)
    wide = pace.model_copy(update={"low": 500.0, "high": 2000.0})
    unsure = one(rates(rate(500, n=1), pace=wide), table(claim(-9.0, n=1)), processor(ibpb=2000))
    assert unsure.high - unsure.low > 2 * (row.high - row.low)


def test_a_mode_against_one_that_costs_more_is_faster() -> None:
    """204k and 323k operations a second, as published: 1.8 µs apart."""
    row = one(
        rates(rate(500_000, n=1)),
        table(claim(58.0, "vmscape/bhb-clear", n=1), baseline="vmscape/ibpb"),
        processor(ibpb=2000, bhb_long=60),
    )
    assert row.percent == pytest.approx(100 * (2.0 / 1.03 - 1), rel=0.02)
    assert row.is_right


def test_what_all_cells_have_beside_is_beside_the_prediction_too() -> None:
    of = rates(rate(50_000, n=1).model_copy(update={"beside": -4.0}))
    row = one(of, table(claim(-12.0, n=1)), processor(ibpb=2000))
    assert row.percent == pytest.approx(100 * (0.96 / 1.1 - 1), rel=0.01)


def test_without_a_price_nothing_is_predicted_and_nothing_is_counted() -> None:
    row = one(rates(rate(1000, n=1)), table(claim(-9.0, n=1)), processor(bhb_long=60))
    assert row.missing == ["ibpb"]
    assert agreement([row]) == []


def test_cases_and_modes_that_nothing_is_known_of_are_left_out() -> None:
    claims = table(claim(-9.0, n=2), claim(-9.0, "vmscape/other", n=1))
    assert predicted_claims(rates(rate(1000, n=1)), claims, BILLS, processor(ibpb=1)) == []


def test_saying_slower_everywhere_is_the_rival() -> None:
    claims = table(claim(-9.0, n=1), claim(3.5, n=2), claim(0.4, n=3))
    [told] = agreement(
        predicted_claims(
            rates(rate(1000, n=1), rate(1000, n=2), rate(1000, n=3)), claims, BILLS,
            processor(ibpb=2000),
        )
    )  # fmt: skip
    assert (told.cells, told.told, told.right, told.rival) == (3, 2, 1, 1)


def test_the_next_processor_has_what_the_first_has_not() -> None:
    both = one_of([processor("a", bhb_long=60), processor("b", bhb_long=99, ibpb=2000)])
    assert {price.event: price.ns for price in both.prices} == {"bhb-long": 60, "ibpb": 2000}
    assert "B" in both.title


def test_what_a_published_figure_needs_makes_it() -> None:
    row = one(rates(rate(1, n=1)), table(claim(-12.5, n=1)), processor(ibpb=2000))
    assert row.needed == pytest.approx(0.125 / 0.875 / 2000e-9)
    again = one(rates(rate(row.needed, n=1)), table(claim(-12.5, n=1)), processor(ibpb=2000))
    assert again.percent == pytest.approx(-12.5, rel=0.01)
    faster = one(rates(rate(1, n=1)), table(claim(3.5, n=1)), processor(ibpb=2000))
    assert faster.needed is None


def test_a_fio_figure_needs_so_many_exits_a_request() -> None:
    """58.3 % more requests without the barrier: 306,000 exits a second, 1.5 a request."""
    row = one(
        rates(rate(1, n=1)), table(claim(58.3, "vmscape/bhb-clear", n=1), baseline="vmscape/ibpb"),
        processor(ibpb=2000, bhb_long=60),
    )  # fmt: skip
    assert row.needed == pytest.approx(306_000, rel=0.01)


def test_one_column_tells_the_other_where_the_table_agrees_with_itself() -> None:
    """50,000 a second make -9.09 % at 2,000 ns, and 0.3 % at 60."""
    claims = table(
        claim(-9.09, n=1), claim(-3.7, "vmscape/bhb-clear", n=1),
        claim(0.5, n=2), claim(-3.7, "vmscape/bhb-clear", n=2),
    )  # fmt: skip
    rows = predicted_claims(
        rates(rate(1, n=1), rate(1, n=2)), claims, BILLS, processor(ibpb=2000, bhb_long=60)
    )
    [implied] = implied_claims(rows, "ibpb", {"ibpb": 2000.0, "clear": 60.0})
    assert implied.claim.case == {"n": 1}
    assert implied.percent == pytest.approx(-100 * 0.003 / 1.003, rel=0.01)
    assert not implied.holds


@pytest.mark.parametrize(
    "change", [{"there_ns": 0}, {"here_ns": 5000}, {"low": -1}, {"high": float("nan")}]
)
def test_a_pace_that_is_none_is_refused(change: dict[str, float]) -> None:
    good = {"there_ns": 1e5, "here_ns": 1000, "low": 900, "high": 1100, "source": "s"}
    Pace.model_validate(good)
    with pytest.raises(ValidationError):
        Pace.model_validate(good | change)


def test_every_table_that_comes_with_the_project_is_predicted() -> None:
    catalog = Catalog()
    known, bills = processors_of(catalog), bills_of_questions(catalog)
    tables = rates_of_tables(catalog)
    assert tables
    for of in tables.values():
        by = one_of([known[name] for name in of.processors])
        rows = predicted_claims(of, claims_of(of, catalog), bills[of.bills], by)
        assert rows
        assert [row for row in rows if row.missing] == []
