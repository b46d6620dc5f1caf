"""The difference of two changes: exact where they are, and covered by its interval."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.core.stats.effect_difference import Change, change_difference


def test_a_change_from_five_to_ten_percent_is_a_ratio() -> None:
    found = change_difference(Change(5, None, None), Change(10, None, None))
    assert found == (pytest.approx(100 * (1.10 / 1.05 - 1)), None, None)


def test_equal_changes_differ_by_nothing_within_a_wider_interval() -> None:
    found = change_difference(Change(3, 2, 4), Change(3, 2, 4))
    assert found is not None
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert found.low < -1
    assert 1 < found.high < 2


def test_nothing_is_said_where_there_is_no_ratio() -> None:
    assert change_difference(Change(-100, None, None), Change(1, 0, 2)) is None
    assert change_difference(Change(1, 0, 2), Change(-50, -120, 10)) is None


def test_the_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    inside = 0
    for _ in range(2000):
        logs = [(m, s, random.normal(m, s)) for m, s in ((0.02, 0.01), (0.05, 0.03))]
        first, second = (
            Change(*(100 * np.expm1([x, x - 1.96 * s, x + 1.96 * s]))) for _, s, x in logs
        )
        found = change_difference(first, second)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 100 * np.expm1(0.03) <= found.high
    assert 0.93 < inside / 2000 < 0.97
