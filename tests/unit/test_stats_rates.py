"""Exact intervals of counted rates."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from mitigauge.errors import InvalidInput
from mitigauge.stats.rates import rate_interval


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (0, 300), (1, 100), (7, 7), (20, 2000)])
def test_it_is_the_exact_interval(hits: int, trials: int) -> None:
    expected = binomtest(hits, trials).proportion_ci(method="exact")
    assert rate_interval(hits, trials) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("hits", "trials"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_rate_is_refused(hits: int, trials: int) -> None:
    with pytest.raises(InvalidInput, match="no rate"):
        rate_interval(hits, trials)
