"""Noise is split where it arises, and two groups are told from one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.modality import two_groups
from mitigauge.core.stats.multiplicity import q_values
from mitigauge.core.stats.noise import NoiseSplit, recommended_iterations, split_noise


def nested(boot: float, iteration: float, *, blocks: int = 400, k: int = 5) -> dict[str, object]:
    rng = np.random.default_rng(2)
    return {
        arm: {
            b: (50.0 * np.exp(0.1 * b + rng.normal(0, boot) + rng.normal(0, iteration, k))).tolist()
            for b in range(blocks)
        }
        for arm in ("off", "on")
    }


@pytest.mark.parametrize(("boot", "iteration"), [(0.01, 0.02), (0.02, 0.005)])
def test_boots_and_iterations_get_their_own_share(boot: float, iteration: float) -> None:
    noise = split_noise(nested(boot, iteration), baseline="off")  # type: ignore[arg-type]
    assert noise.boot == pytest.approx(100 * boot, rel=0.12)
    assert noise.iteration == pytest.approx(100 * iteration, rel=0.06)


def test_noise_that_iterations_explain_leaves_none_for_boots() -> None:
    noise = split_noise(nested(0.0, 0.02, blocks=12), baseline="off")  # type: ignore[arg-type]
    assert noise.boot is not None
    assert noise.boot < 0.8


def test_linear_metrics_are_told_in_percent_of_their_mean() -> None:
    boots = {
        "off": {1: [99.0, 101.0], 2: [99.0, 101.0]},
        "on": {1: [99.0, 101.0], 2: [99.0, 101.0]},
    }
    noise = split_noise(boots, baseline="off", unit="count")
    assert noise.iteration == pytest.approx(100 * 2**0.5 / 100)
    assert noise.boot == 0.0


def test_one_iteration_and_one_block_cannot_be_split() -> None:
    single = split_noise({"off": {1: 5.0}, "on": {1: 6.0}}, baseline="off")
    assert single == NoiseSplit(boot_mean=None, boot=None, iteration=None)
    assert split_noise({}, baseline="off") == NoiseSplit(None, None, None)


@pytest.mark.parametrize(
    ("boot", "iteration", "iterations"),
    [(1.0, 1.0, 5), (1.0, 0.1, 3), (0.01, 5.0, 15), (0.0, 1.0, 15), (1.0, 0.0, 3), (None, 1.0, 3)],
)
def test_iterations_are_worth_what_a_boot_costs(
    boot: float | None, iteration: float, iterations: int
) -> None:
    noise = NoiseSplit(boot_mean=1.0, boot=boot, iteration=iteration)
    wanted = recommended_iterations(noise, boot_cost_s=50.0, iteration_cost_s=2.0)
    assert wanted == iterations


def test_costs_must_be_costs() -> None:
    with pytest.raises(InvalidInput, match="costs"):
        recommended_iterations(NoiseSplit(1, 1, 1), boot_cost_s=0, iteration_cost_s=1)


def test_two_groups_are_seen_and_one_is_not() -> None:
    rng = np.random.default_rng(6)
    upper = rng.random(48) < 0.4
    groups = two_groups((10 + 0.1 * rng.standard_normal(48) + upper).tolist())
    assert groups is not None
    assert groups.low == pytest.approx(10, abs=0.1)
    assert groups.high == pytest.approx(11, abs=0.1)
    assert (groups.lower, groups.upper) == (48 - upper.sum(), upper.sum())


def test_eight_boots_may_fall_into_five_and_three() -> None:
    boots = [1.000, 1.102, 1.002, 1.003, 1.101, 0.999, 1.100, 1.001]
    assert str(two_groups(boots)) == "two groups (5 and 3)"
    assert two_groups([1.000, 1.05, 1.002, 1.03, 1.101, 0.999, 1.100, 1.001]) is None
    assert two_groups(boots[:7]) is None


@pytest.mark.parametrize("values", [[1.0] * 40, [1.0, 2.0, 3.0], [1.0] * 39 + [900.0]])
def test_constants_few_values_and_a_stray_one_are_no_two_groups(values: list[float]) -> None:
    assert two_groups(values) is None


@pytest.mark.parametrize("shape", ["normal", "laplace", "uniform", "lognormal"])
@pytest.mark.parametrize("boots", [8, 10, 30])
def test_single_groups_seldom_warn(shape: str, boots: int) -> None:
    rng = np.random.default_rng(7)
    draws = {
        "normal": rng.normal(size=(2000, boots)),
        "laplace": rng.laplace(size=(2000, boots)),
        "uniform": rng.random((2000, boots)),
        "lognormal": rng.lognormal(0, 0.5, (2000, boots)),
    }[shape]
    assert np.mean([two_groups(row.tolist()) is not None for row in draws]) <= 0.025


def test_benjamini_hochberg_steps_up() -> None:
    # The 15 p values of Benjamini & Hochberg 1995, section 3.2: at q = 0.05 four are discoveries.
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    q = q_values(p)
    assert (q <= 0.05).sum() == 4
    assert q[3] == pytest.approx(0.0095 * 15 / 4)
    assert q_values([]).size == 0


def test_q_grows_with_the_number_of_questions_even_of_those_without_p() -> None:
    p = [0.01, 0.5]
    more = q_values([p[0], *[math.nan] * 8, p[1]])
    assert q_values(p) == pytest.approx([0.02, 0.5])
    assert (more[0], more[-1]) == (pytest.approx(0.1), 1)
    assert np.isnan(more[1:-1]).all()


@pytest.mark.parametrize("bad", [-0.1, 1.1])
def test_what_is_no_probability_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=r"between 0\.? and 1"):
        q_values([0.5, bad])
