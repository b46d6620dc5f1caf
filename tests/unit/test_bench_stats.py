"""The rules beside ours do what their authors say, and ours keeps its promises beside them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bench.stats.bound import fewest_blocks
from bench.stats.equal_power import blocks_of_power
from bench.stats.layouts import draws_of
from bench.stats.noise import BLOCKS, ITERATIONS, NOISES, simulate
from bench.stats.program_layouts import built, scatter
from bench.stats.rules import RULES, kolmogorov_smirnov, lkp_ranges, pinpoint, pinpoint_of_boots
from bench.stats.table import Setting, Sizes, change_of, figures_of

SEED = 5
QUIET = Setting("Gaussian", 0.35, 2)


def constant(*arms: float) -> np.ndarray:
    """Experiments of one, whose arms scatter by a millionth around the given times."""
    rng = np.random.default_rng(0)
    shape = (1, len(arms), BLOCKS, ITERATIONS)
    values: np.ndarray = np.array(arms)[None, :, None, None] * rng.uniform(1, 1 + 1e-6, shape)
    return values


@pytest.mark.parametrize("size", [10, 40])
def test_kolmogorov_smirnov_agrees_with_scipy(size: int) -> None:
    rng = np.random.default_rng(SEED)
    first, second = rng.standard_normal((2, 30, size))
    expected = stats.ks_2samp(first, second, axis=1, method="exact").pvalue
    assert kolmogorov_smirnov(first, second) == pytest.approx(expected, rel=1e-9)


def test_sides_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="3 values against 2"):
        kolmogorov_smirnov(np.zeros(3), np.zeros(2))


@pytest.mark.parametrize("noise", NOISES)
def test_simulated_boots_scatter_as_much_as_said(noise: str) -> None:
    values = simulate(
        noise,
        experiments=4000,
        contrasts=1,
        boot_noise_percent=1.0,
        effect_percent=3.0,
        seed=(SEED,),
    )
    means = np.log(values).mean(axis=3)
    within_block = means[:, 1] - means[:, 0]
    assert within_block.mean() == pytest.approx(np.log(1.03), abs=0.001)
    assert within_block.std() / np.sqrt(2.0) == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_a_change_far_above_the_noise_and_its_direction(rule: str) -> None:
    answers = RULES[rule](constant(100.0, 110.0, 90.0, 100.0))
    assert answers.changed[0, :2].tolist() == [1, -1]


def test_ranges_that_do_not_meet_are_no_change_below_one_percent() -> None:
    assert lkp_ranges(constant(100.0, 100.9), 4).changed.tolist() == [[0]]
    assert lkp_ranges(constant(100.0, 101.1), 4).changed.tolist() == [[1]]


def test_pinpoint_stops_at_ten_attempts_where_they_suffice() -> None:
    assert pinpoint(constant(100.0, 110.0)).blocks.tolist() == [[1.0]]
    assert pinpoint_of_boots(constant(100.0, 110.0)).blocks.tolist() == [[10.0]]


def test_pooled_iterations_and_attempts_of_one_boot_raise_many_false_alarms() -> None:
    sizes = Sizes(null=1500, changed=10)
    alarms = {rule: figures_of(rule, QUIET, sizes, SEED).alarm for rule in RULES}
    assert alarms["Mann-Whitney pooled"] > 0.3
    assert alarms["Pinpoint, iterations"] > 0.3
    assert alarms["Pinpoint, boots"] < 0.08
    assert alarms["Mitigauge"] <= 0.015


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("boot_noise", [0.35, 1.4])
def test_our_false_alarms_stay_near_one_percent(noise: str, boot_noise: float) -> None:
    setting = Setting(noise, boot_noise, 2)
    assert figures_of("Mitigauge", setting, Sizes(2000, 10), SEED).alarm <= 0.02


def test_our_early_looks_save_more_than_half_the_boots_where_the_change_is_large() -> None:
    change = change_of("Mitigauge", Setting("Gaussian", 1.4, 2), 3 * 1.4, 1000, SEED)
    assert change.found > 0.98
    assert change.mean_blocks < BLOCKS / 2


def test_blocks_of_equal_power_are_those_that_find_as_much() -> None:
    noisy = Setting("Gaussian", 1.4, 1)
    # With one look of n blocks Student's t finds a change of 2 σ so often (noncentral t).
    blocks = 6
    power = stats.nct.sf(stats.t.ppf(0.995, blocks - 1), blocks - 1, 2 * np.sqrt(blocks / 2))
    found = blocks_of_power(noisy, 2 * 1.4, power, 2000, SEED)
    assert found == pytest.approx(blocks, abs=0.4)
    assert np.isnan(blocks_of_power(noisy, 0.1, 0.9, 50, SEED))


def test_no_rule_finds_what_is_not_there_and_a_large_change_takes_the_first_look() -> None:
    looks = (4, 8, 16, 24)
    # 0.5 % is found for slower by any look; the other tail is left out. The last look ends it.
    assert fewest_blocks(0.0, looks) == pytest.approx(4 + 0.995 * 4 + 0.995 * 8)
    assert fewest_blocks(20.0, looks) == pytest.approx(4.0, abs=0.01)
    assert 4 < fewest_blocks(3.0, looks) < fewest_blocks(2.0, looks) < 16


def measured(between: float, within: float, builds: int = 20) -> np.ndarray:
    """``[build, block]`` in nanoseconds, with scatter in percent of both kinds and a drift."""
    rng = np.random.default_rng(SEED)
    layout = rng.normal(0, between / 100, (builds, 1))
    noise = rng.normal(0, within / 100, (builds, BLOCKS))
    drift = np.linspace(0, 0.3, BLOCKS)
    values: np.ndarray = 800 * np.exp(layout + noise + drift)
    return values


def test_the_scatter_of_builds_is_told_from_that_within_one_whatever_drifts() -> None:
    between, within = scatter(measured(1.0, 0.3, builds=200))
    assert between == pytest.approx(1.0, rel=0.2)
    assert within == pytest.approx(0.3, rel=0.1)


def test_sets_of_three_builds_are_called_alike_and_single_ones_are_not() -> None:
    values = measured(1.0, 0.35)
    assert draws_of(values, 3, 200, seed=1) <= 6
    assert draws_of(values, 1, 200, seed=1) > 60


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
def test_builds_of_one_program_compute_the_same_and_are_different_files(tmp_path: Path) -> None:
    builds = built(tmp_path, 3, calls=20, rounds=2)
    done = [subprocess.run([b.path], capture_output=True, text=True, check=True) for b in builds]
    assert len({d.stderr for d in done}) == 1
    assert all(len(d.stdout.split()) == 2 for d in done)
    assert len({b.path.read_bytes() for b in builds}) == 3
