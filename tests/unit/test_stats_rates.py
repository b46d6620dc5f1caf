"""Exact intervals of counted rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.rates import rate_interval


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (0, 300), (1, 100), (7, 7), (20, 2000)])
def test_it_is_the_exact_interval(hits: int, trials: int) -> None:
    expected = binomtest(hits, trials).proportion_ci(method="exact")
    assert rate_interval(hits, trials) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("hits", "trials"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_rate_is_refused(hits: int, trials: int) -> None:
    with pytest.raises(InvalidInput, match="no rate"):
        rate_interval(hits, trials)


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_it_holds_however_alike_the_cases_of_a_day_are(alike: float) -> None:
    """Of 20 days with 10 cases each, of which some share the day's luck."""
    rng = np.random.default_rng(7)
    rate, held, by_case = 0.2, 0, 0
    for _ in range(400):
        shared = rng.random(20) < rate
        own = rng.random((20, 10)) < rate
        follows = rng.random((20, 10)) < alike
        hits = int(np.where(follows, shared[:, None], own).sum())
        low, high = rate_interval(hits, 200, groups=20)
        held += low <= rate <= high
        low, high = rate_interval(hits, 200)
        by_case += low <= rate <= high
    assert held >= 0.95 * 400
    if alike == 1.0:
        assert by_case < 0.6 * 400


def test_more_groups_than_trials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no rate"):
        rate_interval(1, 2, groups=3)
