"""Rate times cost beside a measured change."""

from __future__ import annotations

import math

import pytest

from mitigauge.analysis.verdicts.cost_model import Side, cost_model


def side(value: float, *exits: tuple[float, float], vcpus: float = 1.0) -> Side:
    return Side(value, exits, vcpus)


def test_a_dearer_exit_explains_all_where_only_exits_changed() -> None:
    # 10,000 exits a second of 2 us are 2 % of the time; at 3 us the same work takes 1 % longer.
    base = side(100.0, (10_000, 2000))
    arm = side(101.0, (10_000 / 1.01, 3000))
    model = cost_model([(base, arm)] * 4, "lower")
    assert model is not None
    assert model.measured.percent == pytest.approx(1.0)
    assert model.predicted.percent == pytest.approx(1.0)
    assert model.by_cost.percent == pytest.approx(1.0)
    assert model.by_rate.percent == pytest.approx(0.0, abs=1e-9)
    assert model.rest.percent == pytest.approx(0.0, abs=1e-9)
    assert model.explained == pytest.approx(100.0)
    assert (model.base_share_percent, model.cost_ns) == (pytest.approx(2.0), pytest.approx(3000))


def test_more_exits_of_the_same_cost_are_told_apart_from_dearer_ones() -> None:
    base, arm = side(100.0, (10_000, 2000)), side(102.0, (20_000 / 1.02, 2000))
    model = cost_model([(base, arm)] * 2, "lower")
    assert model is not None
    assert model.by_rate.percent == pytest.approx(2.0)
    assert model.by_cost.percent == pytest.approx(0.0, abs=1e-9)


def test_throughput_is_work_over_time() -> None:
    base, arm = side(1010.0, (10_000, 2000)), side(1000.0, (10_000 / 1.01, 3000))
    model = cost_model([(base, arm)] * 3, "higher")
    assert model is not None
    assert model.measured.percent == pytest.approx(1.0)
    assert model.explained == pytest.approx(100.0)


def test_what_exits_do_not_explain_is_the_rest() -> None:
    base, arm = side(100.0, (10_000, 2000)), side(110.0, (10_000 / 1.1, 3000))
    model = cost_model([(base, arm)] * 3, "lower")
    assert model is not None
    assert model.rest.percent == pytest.approx(9.0)
    assert model.explained == pytest.approx(10.0)


def test_exits_of_several_processors_overlap() -> None:
    base = side(100.0, (40_000, 2000), vcpus=4)
    arm = side(101.0, (40_000 / 1.01, 3000), vcpus=4)
    model = cost_model([(base, arm)] * 2, "lower")
    assert model is not None
    assert model.predicted.percent == pytest.approx(1.0)


def test_kinds_of_exits_have_costs_of_their_own() -> None:
    base = side(100.0, (1000, 2000), (0.0, 9000))
    arm = side(109.0, (1000 / 1.09, 2000), (10_000 / 1.09, 9000))
    model = cost_model([(base, arm)] * 2, "lower")
    assert model is not None
    assert model.by_rate.percent == pytest.approx(9.0)
    assert model.explained == pytest.approx(100.0)


def test_intervals_come_of_the_blocks_scatter() -> None:
    pairs = [
        (side(100.0, (10_000, 2000)), side(101.0 + wobble, (10_000 / 1.01, 3000)))
        for wobble in (-1.0, 1.0, -1.0, 1.0)
    ]
    model = cost_model(pairs, "lower")
    assert model is not None
    assert model.measured.low < 0 < model.measured.high
    # Where the change may be none, no part of it is explained.
    assert model.explained is None
    assert model.predicted.high - model.predicted.low < model.measured.high - model.measured.low


def test_one_block_and_what_is_no_number_say_nothing() -> None:
    good = (side(100.0, (1, 1)), side(100.0, (1, 1)))
    assert cost_model([good], "lower") is None
    assert cost_model([good, (side(math.nan, (1, 1)), good[1])], "lower") is None
    assert cost_model([good, (side(0.0, (1, 1)), good[1])], "lower") is None


def test_an_arm_without_exits_has_no_cost_of_one() -> None:
    model = cost_model([(side(100.0, (0.0, 2000)), side(99.0, (0.0, 2000)))] * 2, "lower")
    assert model is not None
    assert (model.cost_ns, model.share_percent) == (None, 0.0)
    assert model.predicted.percent == 0.0
