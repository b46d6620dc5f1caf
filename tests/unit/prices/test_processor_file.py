"""A processor's file that is made of estimates."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from mitigauge.analysis.prices.definitions import Z95, Processor
from mitigauge.analysis.prices.estimation import Estimate
from mitigauge.analysis.prices.levels import ArmLevel, CaseLevels
from mitigauge.analysis.prices.processor_file import basis, processor_file

CASES = [
    CaseLevels("basic", [ArmLevel("off", {}, [1.0, 2.0]), ArmLevel("on", {}, [3.0])]),
    CaseLevels("pipe", [ArmLevel("off", {}, [4.0])]),
]


def estimated(*unknown: str, **prices: tuple[float, float]) -> Estimate:
    """Prices and their standard errors by event."""
    return Estimate(
        list(prices),
        np.array([ns for ns, _ in prices.values()]),
        np.diag([error**2 for _, error in prices.values()]),
        list(unknown),
    )


def test_the_file_is_one_that_the_catalogue_takes() -> None:
    found = estimated(ibpb=(1100.0, 10.0), verw=(0.5, 1.0))
    written = processor_file(found, CASES, name="our-host", source="experiment one")
    processor = Processor.model_validate(yaml.safe_load(written))
    assert processor.processor == processor.title == "our-host"
    ibpb, verw = processor.prices
    assert (ibpb.event, ibpb.ns, ibpb.source.title) == ("ibpb", 1100.0, "experiment one")
    assert ibpb.high - ibpb.ns == pytest.approx(10 * Z95, abs=1e-4)
    assert (verw.low, verw.ns) == (0.0, 0.5)


def test_what_has_no_price_stands_in_comments() -> None:
    found = estimated("lfence", "retpoline", ibpb=(1100.0, 10.0), verw=(-50.0, 1.0))
    written = processor_file(found, CASES, name="p", source="s")
    assert written.startswith(
        "# Not told apart: lfence, retpoline.\n# Below zero, and left out: verw.\n"
    )
    assert [price["event"] for price in yaml.safe_load(written)["prices"]] == ["ibpb"]


def test_a_price_just_below_zero_is_zero() -> None:
    written = processor_file(estimated(verw=(-0.5, 1.0)), CASES, name="p", source="s")
    [price] = yaml.safe_load(written)["prices"]
    assert (price["low"], price["ns"]) == (0.0, 0.0)
    assert price["high"] == pytest.approx(Z95 - 0.5, abs=1e-4)


def test_a_file_without_any_price_says_so() -> None:
    written = processor_file(estimated("verw"), CASES, name="p", source="s")
    assert written == "# Not told apart: verw.\n# 2 cases tell no price.\n"


def test_the_basis_counts_cases_and_boots() -> None:
    assert basis(CASES) == "2 cases, 4 boots' means"
