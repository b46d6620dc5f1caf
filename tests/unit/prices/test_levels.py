"""Prices out of what a host measured and a lab host counted of the same arms."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.analysis.prices.definitions import Price, Processor, Source
from mitigauge.analysis.prices.estimation import estimate
from mitigauge.analysis.prices.levels import ArmLevel, CaseLevels, changes

HIDDEN = {"instruction": 0.25, "ibpb": 1100.0, "verw": 35.0}
BILLS = {
    "basic": {"off": (300, 0, 0), "verw": (304, 0, 1), "ibpb": (300, 0, 0), "ten": (310, 0, 0)},
    "pipe": {"off": (2000, 0, 0), "verw": (2008, 0, 2), "ibpb": (2012, 1, 0), "ten": (2040, 0, 0)},
}


def made(case: str, random: np.random.Generator, *, noise: float, boots: int = 4) -> CaseLevels:
    """A host whose prices are hidden; caches make half of the case's time, in every arm."""
    arms = []
    for arm, counts in BILLS[case].items():
        events = dict(zip(HIDDEN, map(float, counts), strict=True))
        ns = sum(HIDDEN[event] * times for event, times in events.items())
        ns += 0.25 * BILLS[case]["off"][0]
        values = ns * (1 + noise * random.standard_normal(boots))
        arms.append(ArmLevel(arm, events, values.tolist()))
    return CaseLevels(case, arms)


def processor(**prices: tuple[float, float]) -> Processor:
    return Processor(
        processor="p", title="P",
        prices=tuple(
            Price(event=event, ns=ns, low=ns - reach, high=ns + reach, source=Source(title="t"))
            for event, (ns, reach) in prices.items()
        ),
    )  # fmt: skip


def test_hidden_prices_are_found_and_a_case_s_own_level_is_no_part_of_them() -> None:
    random = np.random.default_rng(1)
    found = estimate(changes([made(case, random, noise=1e-5) for case in BILLS]))
    prices = dict(zip(found.events, found.ns, strict=True))
    assert prices == pytest.approx(HIDDEN, rel=0.05)
    assert found.unknown == []


def test_one_boot_an_arm_tells_no_price() -> None:
    levels = made("pipe", np.random.default_rng(2), noise=0.01, boots=1)
    assert levels.spread is None
    assert changes([levels]) == []


def test_boots_that_are_alike_to_the_digit_still_have_an_error() -> None:
    rows = changes([made("pipe", np.random.default_rng(3), noise=0.0)])
    assert all(row.error > 0 for row in rows)
