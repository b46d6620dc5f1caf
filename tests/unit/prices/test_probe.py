"""Prices from what processes of the timing program print."""

from __future__ import annotations

import math
import random

import pytest
from pydantic import ValidationError

from mitigauge.analysis.prices.definitions import PriceKind
from mitigauge.analysis.prices.probe import (
    ListedEvent,
    ProbeRun,
    Way,
    ordered,
    prices_of,
    summarised,
    tells,
    trimmed_interval,
)


def way(ns: float, median: float = 1.02) -> Way:
    return Way(low=ns, least=0.99 * ns, median=median * ns)


def run(event: str, without: float, with_: float, again: float = 0.0, **more: object) -> ProbeRun:
    values = {
        "event": event, "times": 1, "operations": 100, "samples": 100, "without": way(without),
        "without_again": way(without + again), "with": way(with_), "cycle_ns": (0.25, 0.25),
    }  # fmt: skip
    return ProbeRun.model_validate(values | more)


def scattered(
    event: str, price: float, spread: float, n: int = 12, seed: int = 1
) -> list[ProbeRun]:
    draw = random.Random(seed)
    return [run(event, 100.0, 100.0 + draw.gauss(price, spread)) for _ in range(n)]


def listed(event: str, **more: object) -> ListedEvent:
    return ListedEvent.model_validate({"event": event, "times": 1, "pair": "a pair", **more})


def test_beside_other_load_a_price_is_the_difference_of_the_medians() -> None:
    one = run("verw", 100.0, 164.0, times=8)
    assert one.typical().difference == pytest.approx(1.02 * 8.0)
    refused = ProbeRun.model_validate({"event": "ibpb", "refused": "Operation not permitted"})
    assert refused.typical() == refused


def test_how_wide_an_interval_may_be_is_the_asker_s() -> None:
    wild = scattered("lfence", 3.0, 1.0)
    assert not summarised(listed("lfence"), wild).is_usable
    assert summarised(listed("lfence"), wild, widest=0.5).is_usable


@pytest.mark.parametrize(
    ("event", "bill", "asked", "is_told"),
    [
        ("verw", "", {"verw"}, True),
        ("lfence", "", {"verw"}, False),
        ("ibpb-msr", "", {"ibpb"}, True),
        ("add-free", "", {"instruction"}, True),
        ("add-free", "", {"verw"}, False),
        ("check-a", "verw=1", {"verw", "lfence"}, True),
        ("check-a", "verw=1 lfence=2", {"verw"}, False),
    ],
)
def test_only_what_tells_the_prices_of_some_events_is_timed(
    event: str, bill: str, asked: set[str], is_told: bool
) -> None:
    assert tells(listed(event, bill=bill), asked) == is_told


def test_a_price_is_the_difference_for_each_time_of_the_event() -> None:
    [one] = [run("verw", 100.0, 164.0, times=8)]
    assert one.difference == pytest.approx(8.0)
    assert one.null == 0.0


def test_two_processes_at_another_level_are_a_level_of_their_own() -> None:
    """A trimmed mean leaves both out, and its interval does not know of them."""
    far = [run("cr3-switch", 100.0, 240.0), run("cr3-switch", 100.0, 250.0)]
    told = summarised(listed("cr3-switch"), [*scattered("cr3-switch", 60.0, 1.0)[:-2], *far])
    assert not told.is_usable
    assert "leaves out" in told.unusable


def test_one_wild_process_moves_no_price() -> None:
    calm = summarised(listed("lfence"), scattered("lfence", 3.0, 0.02))
    wild = summarised(
        listed("lfence"), [*scattered("lfence", 3.0, 0.02)[:-1], run("lfence", 100.0, 900.0)]
    )
    assert calm.is_usable
    assert wild.is_usable
    assert calm.price
    assert wild.price
    assert wild.price.mean == pytest.approx(calm.price.mean, rel=0.02)


def test_the_interval_of_a_trimmed_mean_holds_the_truth_as_often_as_it_says() -> None:
    draw, held = random.Random(5), 0
    for _ in range(1000):
        found = trimmed_interval([draw.gauss(10.0, 1.0) for _ in range(12)])
        held += found.low <= 10.0 <= found.high
    assert 0.92 <= held / 1000 <= 0.98


def test_a_null_that_is_not_zero_spoils_a_small_price_and_no_large_one() -> None:
    small = [run("lfence", 100.0, 104.0, again=1.0) for _ in range(12)]
    large = [run("cpuid", 100.0, 4000.0, again=1.0) for _ in range(12)]
    assert "nothing adds +1 ns" in summarised(listed("lfence"), small).unusable
    assert summarised(listed("cpuid"), large).is_usable


def test_a_wide_interval_is_no_price_and_what_was_uncalm_is_said() -> None:
    prices, cycles = (10, 20, 5, 30, 12, 25), (0.25, 0.3, 0.25, 0.25, 0.25, 0.25)
    runs = [
        run("cr3-switch", 100.0, 100.0, cycle_ns=(0.25, cycle), stolen_ticks=1,
            **{"with": way(100.0 + price, median=2.0)})
        for price, cycle in zip(prices, cycles, strict=True)
    ]  # fmt: skip
    said = summarised(listed("cr3-switch"), runs).unusable
    assert "% to each side" in said
    assert "the frequency moves" in said
    assert "took the processor away for 6 ticks" in said
    assert "other load ran beside it" in said


def test_an_event_that_makes_nothing_slower_has_no_price() -> None:
    found = summarised(listed("verw"), scattered("verw", -2.0, 0.01))
    assert "makes nothing slower" in found.unusable
    assert prices_of([found], "x") == []


def test_a_refusal_of_any_process_is_said_and_no_figure_stands() -> None:
    refused = ProbeRun(event="ibpb", refused="Operation not permitted (prctl)")
    found = summarised(listed("ibpb"), [*scattered("ibpb", 4000.0, 1.0), refused])
    assert found.refused == "Operation not permitted (prctl)"
    assert found.price is None


def test_too_few_processes_tell_nothing() -> None:
    assert "4 processes" in summarised(listed("verw"), scattered("verw", 7.0, 0.1, n=4)).refused


@pytest.mark.parametrize("broken", [
    {"with": {"low": float("nan"), "least": 1, "median": 1}},
    {"with": {"low": 0, "least": 0, "median": 0}},
    {"times": 0},
    {"extra": 1},
])  # fmt: skip
def test_what_is_no_figure_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        run("verw", 1.0, 2.0, **broken)


def test_every_event_comes_as_often_in_an_order_of_chance() -> None:
    order = ordered(["a", "b", "c"], 10, seed=3)
    assert sorted(order) == sorted(["a", "b", "c"] * 10)
    assert order != sorted(order)
    assert order == ordered(["a", "b", "c"], 10, seed=3)


def test_the_loops_price_by_call_and_branch_gives_both_loops_back() -> None:
    ns = {"add-free": 0.02, "add-chained": 0.2, "bhb-short": 25.0, "bhb-long": 62.0}
    probed = [summarised(listed(e), scattered(e, price, price / 1e4)) for e, price in ns.items()]
    found = {price.event: price for price in prices_of(probed, "x")}
    assert set(found) == {"bhb-short", "bhb-long", "instruction", "bhb-branch", "bhb-loop"}
    assert found["bhb-branch"].kind is PriceKind.DERIVED
    instruction = found["instruction"].ns
    for event, branches, instructions in (("bhb-short", 57, 105), ("bhb-long", 182, 317)):
        whole = (
            found["bhb-loop"].ns + branches * found["bhb-branch"].ns + instructions * instruction
        )
        assert whole == pytest.approx(ns[event], abs=0.05)


def test_a_barrier_by_register_stands_for_one_by_switch_only_where_that_is_refused() -> None:
    by_msr = summarised(listed("ibpb-msr"), scattered("ibpb-msr", 900.0, 1.0))
    by_switch = summarised(listed("ibpb"), scattered("ibpb", 4000.0, 1.0))
    [alone] = prices_of([by_msr], "x")
    [both] = prices_of([by_msr, by_switch], "x")
    assert (alone.event, both.event) == ("ibpb", "ibpb")
    assert math.isclose(alone.ns, 900.0, rel_tol=0.01)
    assert math.isclose(both.ns, 4000.0, rel_tol=0.01)


def test_a_check_is_no_price() -> None:
    check = summarised(
        listed("check-two-calls", bill="system-call=1"), scattered("check-two-calls", 90.0, 0.1)
    )
    assert prices_of([check], "x") == []
    assert listed("check-x", bill="a=1 b=2.5").parts == {"a": 1.0, "b": 2.5}
