"""The looks keep the error they promise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mitigauge.core.stats.boundaries import (
    INTERVAL_WEIGHTS,
    STANDARD_LOOKS,
    WEIGHTS,
    interval_levels,
    look_levels,
    looks_until,
)
from mitigauge.core.stats.calibration import levels_of, main, smallest_p
from mitigauge.core.stats.verdicts import ArmVerdict, Question, judge_many

Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def experiments(
    count: int, noise: Noise, *, sigma: float, effect: float = 0.0, arms: int = 3, seed: int = 1
) -> list[dict[str, ArmVerdict]]:
    rng = np.random.default_rng(seed)
    logs = sigma * noise(rng, (count, arms, 16))
    logs[:, 1] += np.log1p(effect)
    names = [f"arm-{i}" for i in range(arms)]
    values = np.exp(logs).tolist()
    cases = [
        Question({name: dict(enumerate(of)) for name, of in zip(names, case, strict=True)}, "lower")
        for case in values
    ]
    return judge_many(cases, baseline="arm-0")


def gaussian(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_t(3, shape) / np.sqrt(3.0)


def bimodal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (rng.standard_normal(shape) + 4.0 * (rng.random(shape) < 0.5)) / np.sqrt(5.0)


def drifting(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    walk: np.ndarray = np.cumsum(rng.standard_normal((shape[0], 1, shape[2])), axis=2)
    return rng.standard_normal(shape) + 2.0 * walk


def test_the_last_block_is_always_a_look() -> None:
    assert looks_until(16) == (4, 6, 8, 12, 16)
    assert looks_until(10) == (4, 6, 8, 10)
    assert looks_until(3) == (3,)
    assert looks_until(8, ()) == (8,)


@pytest.mark.parametrize("contrasts", range(1, 9))
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_levels_lie_between_an_even_share_and_the_whole_of_alpha(
    contrasts: int, alpha: float
) -> None:
    for planned in STANDARD_LOOKS[1:]:
        schedule = looks_until(planned)
        levels = look_levels(schedule, contrasts=contrasts, alpha=alpha)
        assert len(levels) == len(schedule)
        assert sum(levels) > alpha  # better than sharing out evenly
        assert max(levels) < alpha


def test_budgets_between_standard_looks_take_the_next_larger_ones_levels() -> None:
    between = look_levels(looks_until(10), contrasts=2, alpha=0.01)
    assert between == look_levels(looks_until(12), contrasts=2, alpha=0.01)


def test_what_the_table_lacks_is_shared_out_evenly() -> None:
    assert look_levels((3, 9), contrasts=2, alpha=0.01) == (0.005, 0.005)
    assert look_levels(looks_until(6), contrasts=2, alpha=0.02) == (0.01, 0.01)
    assert look_levels(looks_until(6), contrasts=9, alpha=0.01) == (0.005, 0.005)
    assert look_levels((5,), contrasts=3, alpha=0.02) == (0.02,)


@pytest.mark.parametrize("contrasts", [1, 3])
def test_the_shipped_table_is_what_its_command_makes(contrasts: int) -> None:
    smallest = smallest_p(contrasts, 40_000, np.random.default_rng(9))
    for planned, levels in levels_of(smallest, 0.05):
        shipped = look_levels(looks_until(planned), contrasts=contrasts, alpha=0.05)
        assert levels == pytest.approx(shipped, rel=0.12)


def test_the_calibration_command_without_its_option_changes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 1
    assert "--regenerate" in capsys.readouterr().out
    assert len(WEIGHTS) == len(STANDARD_LOOKS)


@pytest.mark.parametrize("noise", [gaussian, heavy, bimodal, drifting])
@pytest.mark.parametrize("arms", [2, 4])
def test_false_alarms_over_all_looks_and_arms_stay_rare(noise: Noise, arms: int) -> None:
    # σ of 1.4 %: 'same' seldom ends a case early, so nearly all looks are taken.
    answers = experiments(2500, noise, sigma=0.014, arms=arms)
    alarms = sum(
        any(verdict.verdict in ("better", "worse") for verdict in answer.values())
        for answer in answers
    )
    assert alarms / len(answers) <= 0.018


def test_quiet_nulls_are_soon_the_same() -> None:
    answers = [answer["arm-1"] for answer in experiments(2000, gaussian, sigma=0.0035)]
    assert np.mean([a.verdict == "same" for a in answers]) >= 0.985
    assert np.mean([a.decided_at_look or 16 for a in answers]) <= 8.0


@pytest.mark.parametrize(("effect", "found"), [(0.01, 0.95), (0.02, 0.98)])
@pytest.mark.parametrize(("arms", "blocks"), [(2, 8.0), (3, 8.5)])
def test_changes_of_three_boot_deviations_and_more_are_found_in_half_the_blocks(
    effect: float, found: float, arms: int, blocks: float
) -> None:
    answers = [
        answer["arm-1"]
        for answer in experiments(2000, gaussian, sigma=0.0035, effect=effect, arms=arms)
    ]
    assert np.mean([a.verdict == "worse" for a in answers]) >= found
    assert np.mean([a.decided_at_look or 16 for a in answers]) <= blocks
    if effect == 0.02:
        within_six = [a.verdict == "worse" and (a.decided_at_look or 16) <= 6 for a in answers]
        assert np.mean(within_six) >= 0.96


@pytest.mark.parametrize("arms", [2, 4])
@pytest.mark.parametrize(("sigma", "effect"), [(0.014, 0.01), (0.005, 0.005), (0.0035, 0.0)])
def test_intervals_hold_at_whichever_look_they_end(sigma: float, effect: float, arms: int) -> None:
    """An interval for one look alone missed one in ten at a change of one deviation."""
    answers = experiments(800, gaussian, sigma=sigma, effect=effect, arms=arms)
    held = [_holds(answer["arm-1"], 100 * effect) for answer in answers]
    assert np.mean(held) >= 0.95


def test_an_early_stop_has_an_interval_that_is_as_wide_as_it_is_early() -> None:
    """Of changes as large as a boot's scatter those that are found early are overstated."""
    answers = [a["arm-1"] for a in experiments(3000, gaussian, sigma=0.014, effect=0.01, arms=2)]
    found = [a for a in answers if a.verdict == "worse" and (a.decided_at_look or 16) > 4]
    assert len(found) > 100
    assert np.mean([_holds(each, 1.0) for each in found]) >= 0.8
    of_one_look = [a for a in found if (a.ci_low_percent or 0) > 1.0]
    assert len(of_one_look) < 0.2 * len(found)


def test_same_is_said_of_an_interval_within_the_margin_alone() -> None:
    answers = experiments(800, gaussian, sigma=0.006, effect=0.004)
    same = [v for answer in answers for v in answer.values() if v.verdict == "same"]
    assert len(same) > 100
    for verdict in same:
        low, high = verdict.ci_low_percent, verdict.ci_high_percent
        assert low is not None
        assert high is not None
        assert -1.0 < low <= high < 1.0


def _holds(verdict: ArmVerdict, effect_percent: float) -> bool:
    low, high = verdict.ci_low_percent, verdict.ci_high_percent
    return low is not None and high is not None and low <= effect_percent <= high


@pytest.mark.parametrize("ratio", [1.0, 3.0, 5.0])
@pytest.mark.parametrize("noisy", [0, 1, (1, 2)])
def test_an_arm_that_scatters_more_than_others_raises_no_more_false_alarms(
    ratio: float, noisy: int | tuple[int, ...]
) -> None:
    def uneven(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        noise = rng.standard_normal(shape)
        noise[:, noisy] *= ratio
        return noise

    answers = experiments(1500, uneven, sigma=0.005, arms=4)
    alarms = [any(v.verdict in ("better", "worse") for v in each.values()) for each in answers]
    # 1 % is promised; 1,500 experiments scatter by a quarter of a percent.
    assert np.mean(alarms) <= 0.018
    held = [all(_holds(each[f"arm-{arm}"], 0.0) for arm in (1, 2, 3)) for each in answers]
    assert np.mean(held) >= 0.95


def test_levels_of_intervals_grow_and_miss_together_no_more_than_promised() -> None:
    smallest = smallest_p(2, 40_000, np.random.default_rng(9))
    for planned, levels in levels_of(smallest, 0.05, INTERVAL_WEIGHTS):
        shipped = interval_levels(looks_until(planned), contrasts=2)
        assert levels == pytest.approx(shipped, rel=0.12)
        assert list(shipped) == sorted(shipped)
        missed = (smallest[:, : len(shipped)] <= np.array(shipped)).any(axis=1)
        assert missed.mean() <= 0.052
    assert interval_levels((7,), contrasts=3) == pytest.approx((0.05,))


def test_the_interval_covers_all_arms_at_once_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    truth = (0.0, 0.02, -0.01)
    logs = 0.01 * rng.standard_normal((2000, 3, 6)) + np.log1p(np.array(truth))[:, None]
    cases = [
        Question({str(a): dict(enumerate(np.exp(case[a]).tolist())) for a in range(3)}, "lower")
        for case in logs
    ]
    covered = 0
    for answer in judge_many(cases, baseline="0", looks=()):
        covered += all(
            (answer[arm].ci_low_percent or 0) <= 100 * truth[int(arm)]
            and 100 * truth[int(arm)] <= (answer[arm].ci_high_percent or 0)
            for arm in ("1", "2")
        )
    assert 0.935 <= covered / len(cases) <= 0.965
