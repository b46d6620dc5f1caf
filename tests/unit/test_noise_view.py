"""What a case's page says of its noise, and of the iterations a boot deserves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.runs.repository import BootLine
from mitigauge.reporting.pages.noise import Costs, costs_of, noise_view

START = datetime(2026, 1, 1, tzinfo=UTC)
TIME = CaseMetric("ns", "lower", "Time", primary=True)
ARMS = [Arm(id=1, name="off", is_baseline=True), Arm(id=2, name="on", is_baseline=False)]


def boot(number: int, seconds: float, state: str = "effective") -> BootLine:
    end = START + timedelta(seconds=seconds)
    return BootLine(number, 1, 1, 1, 1, 1, state, "", START, end, job_lasted_s=60.0)


def test_a_boots_own_time_is_shared_by_its_cases() -> None:
    costs = costs_of([boot(1, 160), boot(2, 160)], {1: 20.0, 2: 20.0}, cases=2, passes=4)
    assert costs == Costs(boot_s=50.0, iteration_s=5.0)


def test_without_a_boot_that_counts_there_are_no_costs() -> None:
    assert costs_of([boot(1, 160, "not_effective")], {1: 20.0}, cases=1, passes=4) is None
    assert costs_of([boot(1, 160)], {}, cases=1, passes=4) is None


def test_noise_between_boots_asks_for_few_iterations_and_noise_within_for_many() -> None:
    between = {
        1: {b: [100.0 + 5 * (b % 2), 100.1 + 5 * (b % 2)] for b in range(8)},
        2: {b: [100.0 + 5 * (b % 3), 100.1 + 5 * (b % 3)] for b in range(8)},
    }
    within = {
        1: {b: [95.0 + b / 100, 105.0] for b in range(8)},
        2: {b: [95.0, 105.0 + b % 3 / 100] for b in range(8)},
    }
    costs = Costs(boot_s=60.0, iteration_s=1.0)
    assert noise_view(between, ARMS, TIME, costs).recommended_iterations == 3
    assert noise_view(within, ARMS, TIME, costs).recommended_iterations == 15


def test_before_costs_are_known_nothing_is_recommended() -> None:
    values = {1: {0: [1.0, 1.1], 1: [1.2, 1.0]}, 2: {0: [1.0, 1.3], 1: [1.1, 1.2]}}
    shown = noise_view(values, ARMS, TIME, None)
    assert shown.boot_mean_percent is not None
    assert shown.recommended_iterations is None


def test_a_case_without_its_baseline_has_no_noise_to_show() -> None:
    shown = noise_view({1: {}, 2: {0: [1.0, 2.0]}}, ARMS, TIME, None)
    assert (shown.boot_mean_percent, shown.two_groups) == (None, [])


def test_arms_whose_boots_fall_into_two_groups_are_named() -> None:
    two = {b: [100.0 + 20 * (b % 2) + b / 100] for b in range(16)}
    one = {b: [100.0 + (b * 7 % 16) / 10 + (b * 5 % 16) ** 2 / 1000] for b in range(16)}
    assert noise_view({1: one, 2: two}, ARMS, TIME, None).two_groups == ["on (8 and 8)"]


def test_a_step_that_all_arms_share_and_whole_numbers_are_no_two_groups() -> None:
    step = {b: [100.0 + (b > 3) + (b * 3 % 8) / 100] for b in range(8)}
    beside = {b: [110.0 + (b > 3) + (b * 5 % 8) / 100] for b in range(8)}
    assert noise_view({1: step, 2: beside}, ARMS, TIME, None).two_groups == []
    alone = {1: step}
    assert noise_view(alone, ARMS[:1], TIME, None).two_groups == ["off (4 and 4)"]
    whole = {b: [100.0 + (b % 3 == 0)] for b in range(12)}
    other = {b: [50.3 + (b * 5 % 12) / 10] for b in range(12)}
    assert noise_view({1: whole, 2: other}, ARMS, TIME, None).two_groups == []


@pytest.mark.parametrize("iterations", [1, 2])
def test_one_iteration_a_boot_leaves_the_noise_unsplit(iterations: int) -> None:
    values = {b: [100.0 + b % 3, 101.0][:iterations] for b in range(6)}
    shown = noise_view({1: values, 2: values}, ARMS, TIME, Costs(1.0, 1.0))
    assert (shown.iteration_percent is None) == (iterations == 1)
