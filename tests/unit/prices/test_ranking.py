"""Modes ranked on a processor."""

from __future__ import annotations

import pytest

from mitigauge.analysis.prices.definitions import Price, Processor, Source
from mitigauge.analysis.prices.processors import bills_of_questions, processors_of
from mitigauge.analysis.prices.ranking import Bills, ranking
from mitigauge.measurement.catalog import Catalog


def processor(misfit: float = 0.0, **prices: tuple[float, float]) -> Processor:
    return Processor(
        processor="p", title="P", misfit_percent=misfit,
        prices=tuple(
            Price(
                event=event, ns=ns, low=max(0.0, ns - half), high=ns + half,
                source=Source(title="x"),
            )
            for event, (ns, half) in prices.items()
        ),
    )  # fmt: skip


BILLS = Bills.model_validate({
    "bills": "b", "operation": "exit", "source": "the lab",
    "modes": [
        {"mode": "off", "title": "off", "events": {}},
        {"mode": "ibpb", "title": "ibpb", "events": {"ibpb": 1, "instruction": 12}},
        {"mode": "clear", "title": "clear", "events": {"loop": 1, "instruction": 24}},
    ],
})  # fmt: skip


def test_the_cheapest_comes_first_with_the_chance_of_the_order() -> None:
    told = ranking(BILLS, processor(ibpb=(4000, 100), loop=(116, 6), instruction=(0.2, 0.1)))
    assert [of.mode.mode for of in told.ranked] == ["off", "clear", "ibpb"]
    assert told.chance == 1.0
    assert told.unpriced == []


def test_two_modes_that_cost_alike_have_an_order_of_chance() -> None:
    told = ranking(BILLS, processor(ibpb=(102.4, 20), loop=(100, 20), instruction=(0.2, 0.01)))
    assert told.chance == pytest.approx(0.5, abs=0.05)


def test_an_order_that_is_true_by_definition_has_no_chance() -> None:
    """A mode without events costs nothing, whatever the prices are."""
    two = BILLS.model_copy(update={"modes": BILLS.modes[:2]})
    assert ranking(two, processor(ibpb=(4000, 9000), instruction=(0.2, 0.1))).chance is None


def test_where_a_mode_has_no_price_no_order_of_the_others_has_a_chance() -> None:
    three = (*BILLS.modes, BILLS.modes[2].model_copy(update={"mode": "x", "events": {"loop": 2}}))
    bills = BILLS.model_copy(update={"modes": three})
    assert ranking(bills, processor(loop=(60, 3), instruction=(0.1, 0.05))).chance is None


def test_two_modes_of_one_bill_tie_and_each_is_first_in_half_of_it() -> None:
    same = BILLS.modes[1], BILLS.modes[1].model_copy(update={"mode": "other"})
    bills = BILLS.model_copy(update={"modes": same})
    told = ranking(bills, processor(ibpb=(100, 20), instruction=(0.2, 0.01)))
    assert told.chance == 0.5


def test_how_far_whole_predictions_lay_off_blurs_the_order() -> None:
    known = processor(ibpb=(110, 1), loop=(100, 1), instruction=(0.001, 0.0001))
    assert ranking(BILLS, known).chance == pytest.approx(1.0, abs=0.001)
    # Both lie off by 50: a difference of 10 is 10 / (50 √2) deviations.
    blurred = ranking(BILLS, known.model_copy(update={"misfit_ns": 50.0})).chance
    assert blurred == pytest.approx(0.556, abs=0.01)


def test_prices_that_are_hardly_known_are_not_cut_at_zero() -> None:
    """Of 1 + 1, each with a wide interval, half of all draws lie below 2."""
    bills = BILLS.model_copy(update={"modes": (
        BILLS.modes[1].model_copy(update={"events": {"ibpb": 1}}),
        BILLS.modes[2].model_copy(update={"events": {"loop": 1, "instruction": 1}}),
    )})  # fmt: skip
    wide = processor(ibpb=(2.0001, 0.001), loop=(1, 20), instruction=(1, 20))
    assert ranking(bills, wide).chance == pytest.approx(0.5, abs=0.01)


def test_what_both_modes_share_does_not_blur_their_order() -> None:
    wide = processor(ibpb=(103, 1), loop=(100, 1), instruction=(0.2, 0.2))
    bills = BILLS.model_copy(update={"modes": (
        BILLS.modes[1].model_copy(update={"events": {"ibpb": 1, "instruction": 1000}}),
        BILLS.modes[2].model_copy(update={"events": {"loop": 1, "instruction": 1000}}),
    )})  # fmt: skip
    assert ranking(bills, wide).chance == pytest.approx(1.0, abs=0.001)


def test_a_missing_price_is_told_by_what_it_would_have_to_be() -> None:
    told = ranking(BILLS, processor(loop=(60, 3), instruction=(0.1, 0.05)))
    assert [of.mode.mode for of in told.unpriced] == ["ibpb"]
    [even] = told.break_even
    assert (even.event, even.mode, even.other) == ("ibpb", "ibpb", "clear")
    assert even.ns == pytest.approx(60 + 12 * 0.1)


def test_nothing_is_told_of_a_mode_that_lacks_two_prices() -> None:
    told = ranking(BILLS, processor(ibpb=(4000, 100)))
    assert told.break_even == []
    assert [of.mode.mode for of in told.ranked] == ["off"]
    assert told.chance is None


def test_how_far_prices_are_off_elsewhere_widens_what_they_predict() -> None:
    exact = ranking(BILLS, processor(loop=(100, 1), instruction=(0.1, 0.01)))
    misfit = ranking(BILLS, processor(10.0, loop=(100, 1), instruction=(0.1, 0.01)))
    widths = [of.ranked[1].cost.high - of.ranked[1].cost.low for of in (exact, misfit)]
    assert widths[1] == pytest.approx(2 * 1.96 * 10, rel=0.05)
    assert widths[0] < 3


def test_the_modes_of_vmscape_are_ranked_where_both_prices_are_known() -> None:
    catalog = Catalog()
    bills = bills_of_questions(catalog)["vmscape-exit"]
    told = ranking(bills, processors_of(catalog)["amd-25-1"])
    assert [of.mode.mode for of in told.ranked] == ["off", "bhb-clear", "ibpb"]
    assert told.chance
    assert told.chance > 0.999


def test_forty_published_prices_of_twelve_processors_have_a_source() -> None:
    rows = [
        (name, price)
        for name, each in processors_of(Catalog()).items()
        for price in each.prices
        if price.kind == "published"
    ]
    assert len(rows) >= 40
    assert len({name for name, _ in rows}) >= 12
    assert all(price.source.title for _, price in rows)
