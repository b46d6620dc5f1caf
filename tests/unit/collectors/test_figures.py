"""Rates, shares and levels of collectors' columns over windows."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.core.wire.collectors import NAMES
from mitigauge.measurement.collectors.figures import FIGURES, Figure, binned, mean, rates
from mitigauge.measurement.collectors.samples import Kind, Samples

NS = 10**9


def series(collector: str = "x", **columns: list[int]) -> Samples:
    """Samples one second apart, from second 10 on; `level_` before a name makes it a level."""
    kinds: dict[str, Kind] = {
        name.removeprefix("level_"): "level" if name.startswith("level_") else "count"
        for name in columns
    }
    times = (10 + np.arange(len(next(iter(columns.values()))))) * NS
    return Samples(collector, kinds, times.astype(np.int64), np.array(list(columns.values())))


RATE = Figure("r", "R", "1/s", "rate", ("a", "b"), scale=2.0)
SHARE = Figure("s", "S", "%", "share", ("a",), ("a", "b"))
LEVEL = Figure("l", "L", "byte", "level", ("m",), less=("f",))


def test_a_rate_is_the_increase_over_time_of_all_its_columns() -> None:
    one = series(a=[0, 10, 40], b=[5, 5, 15])
    assert mean(one, RATE, None) == pytest.approx(2 * (40 + 10) / 2)
    found = binned(one, RATE, np.array([10.0, 11.0, 12.0]))
    assert found is not None
    assert found.tolist() == [20.0, 80.0]


def test_a_window_may_begin_and_end_between_samples() -> None:
    one = series(a=[0, 10, 40], b=[0, 0, 0])
    # Half a second at 10/s, half a second at 30/s, times two.
    assert mean(one, RATE, (10.5, 11.5)) == pytest.approx(2 * (5 + 15))


def test_a_window_beyond_the_samples_means_all_of_them() -> None:
    one = series(a=[0, 10, 40], b=[0, 0, 0])
    assert mean(one, RATE, (90.0, 99.0)) == mean(one, RATE, None)


def test_a_share_is_of_the_growth_and_nothing_where_nothing_grew() -> None:
    one = series(a=[0, 1, 1], b=[0, 3, 3])
    found = binned(one, SHARE, np.array([10.0, 11.0, 12.0]))
    assert found is not None
    assert found[0] == 25.0
    assert np.isnan(found[1])


def test_a_level_stays_until_the_next_sample() -> None:
    one = series(level_m=[100, 200, 999], level_f=[40, 40, 40])
    assert mean(one, LEVEL, None) == pytest.approx((60 + 160) / 2)
    assert mean(one, LEVEL, (10.5, 11.25)) == pytest.approx((60 * 0.5 + 160 * 0.25) / 0.75)


def test_outside_the_samples_there_is_nothing() -> None:
    found = binned(series(a=[0, 10], b=[0, 0]), RATE, np.array([8.0, 9.0, 10.0, 11.0, 12.0]))
    assert found is not None
    assert np.isnan(found).tolist() == [True, True, False, True]


def test_a_figure_whose_column_is_missing_is_none() -> None:
    assert mean(series(a=[0, 1]), RATE, None) is None
    assert mean(series(a=[0, 1]), SHARE, None) is None


def test_rates_are_told_by_column() -> None:
    one = series(**{"userspace.2": [0, 6], "userspace.6": [0, 4], "exits": [0, 100]})
    assert rates(one, "userspace.", None) == {"2": 6.0, "6": 4.0}
    assert rates(one, "", None) == {"userspace.2": 6.0, "userspace.6": 4.0, "exits": 100.0}


def test_figures_are_of_collectors_that_there_are() -> None:
    assert set(FIGURES) <= set(NAMES)
