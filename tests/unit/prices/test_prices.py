"""Prices of events, what they predict, and how they are told from measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from mitigauge.analysis.prices.definitions import Processor
from mitigauge.analysis.prices.estimation import MeasuredChange, estimate
from mitigauge.analysis.prices.prediction import predicted
from mitigauge.analysis.prices.processors import processors_of
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.catalog import Catalog

SOURCE = {"title": "measured by us"}


def price(event: str, ns: float, reach: float = 0.0) -> dict[str, object]:
    return {
        "event": event, "ns": ns, "low": max(0.0, ns - reach), "high": ns + reach, "source": SOURCE,
    }  # fmt: skip


def processor(*prices: dict[str, object]) -> Processor:
    return Processor.model_validate({"processor": "p", "title": "P", "prices": prices})


def test_a_prediction_is_the_sum_over_events_with_their_errors() -> None:
    of = processor(price("ibpb", 1000, 196), price("instruction", 0.25, 0.0))
    cost = predicted({"ibpb": 1, "instruction": 40}, of)
    assert cost.ns == pytest.approx(1010)
    assert (cost.low, cost.high) == pytest.approx((814, 1206), abs=0.01)
    assert cost.is_whole


def test_an_unknown_price_is_missing_and_never_zero() -> None:
    cost = predicted({"ibpb": 1, "verw": 2, "lfence": 0}, processor(price("ibpb", 1000)))
    assert list(cost.missing) == ["verw"]
    assert not cost.is_whole
    assert cost.ns == 1000


def test_fewer_events_cost_less() -> None:
    cost = predicted({"ibpb": -1}, processor(price("ibpb", 1000, 100)))
    assert (cost.ns, cost.low, cost.high) == pytest.approx((-1000, -1100, -900))


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        ([price("ibpb", -5)], "greater than or equal to 0"),
        ([{**price("ibpb", 5), "source": {"title": ""}}], "at least 1 character"),
        ([{k: v for k, v in price("ibpb", 5).items() if k != "source"}], "Field required"),
        ([{**price("ibpb", 5), "low": 6, "high": 7}], "is not within 6 to 7"),
        ([price("ibpb", 5), price("ibpb", 6)], "two prices of ibpb"),
        ([{**price("ibpb", 5), "ns": float("nan")}], "finite number"),
        ([], "at least 1 item"),
    ],
)
def test_what_is_no_price_is_refused(prices: list[dict[str, object]], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        processor(*prices)


def test_files_name_events_that_there_are(tmp_path: Path) -> None:
    folder = tmp_path / "prices" / "processors"
    folder.mkdir(parents=True)
    content = 'processor: {name}\ntitle: P\nprices: [{{event: {event}, ns: 1, low: 1, high: 1, source: {{title: t}}}}]\n'  # noqa: E501  # fmt: skip
    (folder / "one.yml").write_text(content.format(name="one", event="instruction"))
    assert list(processors_of(Catalog(tmp_path))) == ["one"]
    (folder / "two.yml").write_text(content.format(name="two", event="warp"))
    with pytest.raises(InvalidInput, match="no event 'warp'"):
        processors_of(Catalog(tmp_path))
    (folder / "two.yml").write_text(content.format(name="three", event="instruction"))
    with pytest.raises(InvalidInput, match="named"):
        processors_of(Catalog(tmp_path))


def test_the_projects_own_files_are_read() -> None:
    assert {"xeon-8280", "epyc-9654"} <= processors_of(Catalog()).keys()
    assert {"ibpb", "verw", "bhb-loop"} <= Catalog().events.keys()


def test_events_that_always_come_together_have_no_price() -> None:
    rows = [MeasuredChange({"verw": n, "lfence": n, "ibpb": m}, 5 * n + m, 0.1)
            for n, m in ((1, 0), (2, 1), (3, 5), (0, 7))]  # fmt: skip
    found = estimate(rows)
    assert set(found.unknown) == {"verw", "lfence"}
    assert found.predict({"lfence": 1}) is None


def test_a_change_without_an_error_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be weighed"):
        estimate([MeasuredChange({"ibpb": 1}, 1.0, 0.0)])


@dataclass(frozen=True)
class World:
    """How made hosts differ from what the estimate takes them for."""

    tails: bool = False
    """Whether noise is Student's with 3 degrees of freedom, of the same variance."""
    prices_vary: float = 0.0
    """By how much an event costs another case more or less, as a share; standard deviation."""
    unseen: float = 0.0
    """Nanoseconds of an event that the bill lacks, once in an arm of three."""


@dataclass(frozen=True)
class Shares:
    """Of predictions: those that held, and signs that were right."""

    held: float
    signs: float


@pytest.mark.parametrize(
    ("world", "least", "most", "signs"),
    [
        (World(), 0.90, 0.99, 0.95),
        (World(tails=True), 0.88, 0.99, 0.95),
        # What the estimate knows nothing of, and what cases lie off its prices tells.
        (World(prices_vary=0.2), 0.88, 0.99, 0.90),
        (World(unseen=300.0), 0.90, 0.999, 0.90),
        (World(tails=True, prices_vary=0.2, unseen=300.0), 0.88, 0.999, 0.88),
    ],
    ids=["as taken", "tails", "prices vary", "an event is missing", "all of it"],
)
def test_what_holds_on_made_hosts_whose_prices_are_hidden(
    world: World, least: float, most: float, signs: float
) -> None:
    """Noise of 1 % of each measured time; half of the cases give the prices, half are predicted."""
    found = _shares(world)
    print(world, found)
    assert least <= found.held <= most
    assert found.signs >= signs


def _shares(world: World) -> Shares:
    generator = np.random.default_rng(20261126)
    events = ("ibpb", "verw", "lfence", "guest-entry", "bhb-branch", "instruction")
    scale = np.array([900.0, 150.0, 8.0, 400.0, 1.2, 0.25])
    held, right, plain, asked = 0, 0, 0, 0
    for _ in range(200):
        hidden = scale * generator.lognormal(0, 0.4, len(events))
        changes = _changes(generator)
        own = 1.0 + world.prices_vary * generator.standard_normal(changes.shape)
        missing = world.unseen * (generator.random(len(changes)) < 1 / 3)
        true = (changes * own) @ hidden + missing
        # A case takes some hundred nanoseconds more than its change, and each is measured to 1 %.
        time = 300.0 + np.abs(true)
        error = 0.01 * time * np.sqrt(2)
        noise = generator.standard_normal(len(true))
        if world.tails:
            noise = generator.standard_t(3, len(true)) / np.sqrt(3)
        seen = true + error * noise
        rows = [MeasuredChange(dict(zip(events, change, strict=True)), ns, each)
                for change, ns, each in zip(changes, seen, error, strict=True)]  # fmt: skip
        told, kept_back = rows[::2], range(1, len(rows), 2)
        found = estimate(told)
        for i in kept_back:
            prediction = found.predict(rows[i].change)
            assert prediction is not None
            ns, low, high = prediction
            # What is compared is another measurement, with an error of its own.
            reach = 1.96 * np.hypot((high - low) / 2 / 1.96, error[i])
            asked += 1
            held += abs(seen[i] - ns) <= reach
            if abs(true[i]) > 2 * error[i]:
                right += np.sign(ns) == np.sign(true[i])
                plain += 1
    return Shares(held / asked, right / plain)


def _changes(generator: np.random.Generator) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What 24 arms do more than their baselines: barriers, loops, instructions."""
    barriers = generator.integers(-2, 3, (24, 4)).astype(float)
    loops = generator.choice([0, 25, 84], (24, 1)).astype(float)
    instructions = generator.integers(-50, 400, (24, 1)).astype(float)
    return np.hstack([barriers, loops, instructions])
