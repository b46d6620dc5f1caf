"""Arms that stay where they are from boot to boot are warned of; what all arms share is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.verdicts import judge_many

WARNING = "arm or baseline stays where it was in the boot before"


def values_of(
    correlation: float, *, arms: int, blocks: int, count: int, seed: int
) -> NDArray[np.float64]:
    """Times ``[case, arm, block]``; each arm remembers so much of its own boot before."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((count, arms, blocks))
    state = noise[..., 0]
    columns = [state]
    for block in range(1, blocks):
        state = correlation * state + np.sqrt(1 - correlation**2) * noise[..., block]
        columns.append(state)
    return 100.0 + np.stack(columns, axis=-1)


def judged(values: NDArray[np.float64], *, layouts: int = 1) -> list[ArmVerdict]:
    cases = [
        Question(
            {str(arm): {block + 1: [value] for block, value in enumerate(of)}
             for arm, of in enumerate(case)},
            "lower", layouts=layouts,
        )
        for case in values.tolist()
    ]  # fmt: skip
    return [answer["1"] for answer in judge_many(cases, baseline="0")]


def warned(values: NDArray[np.float64], *, layouts: int = 1) -> float:
    return float(np.mean([WARNING in of.note for of in judged(values, layouts=layouts)]))


@pytest.mark.parametrize(("arms", "blocks"), [(2, 16), (2, 64), (4, 16), (4, 64)])
def test_boots_that_forget_are_warned_of_in_few_of_a_hundred(arms: int, blocks: int) -> None:
    assert warned(values_of(0.0, arms=arms, blocks=blocks, count=600, seed=1)) <= 0.03


def test_arms_that_stay_are_warned_of() -> None:
    assert warned(values_of(0.8, arms=4, blocks=32, count=100, seed=2)) >= 0.85
    assert warned(values_of(0.5, arms=2, blocks=64, count=100, seed=3)) >= 0.85


def test_an_arm_that_does_not_drift_is_not_warned_of() -> None:
    values = values_of(0.0, arms=3, blocks=64, count=100, seed=9)
    values[:, 2] = values_of(0.9, arms=1, blocks=64, count=100, seed=10)[:, 0]
    answers = [
        judge_many(
            [Question({str(arm): {block + 1: [value] for block, value in enumerate(of)}
                       for arm, of in enumerate(case)}, "lower")],
            baseline="0",
        )[0]
        for case in values.tolist()
    ]  # fmt: skip
    assert np.mean([WARNING in each["2"].note for each in answers]) >= 0.5
    assert np.mean([WARNING in each["1"].note for each in answers]) <= 0.05


def test_a_baseline_that_scatters_five_times_as_far_makes_no_more_warnings() -> None:
    values = values_of(0.0, arms=4, blocks=32, count=500, seed=11)
    values[:, 0] = 100.0 + 5.0 * (values[:, 0] - 100.0)
    assert warned(values) <= 0.03


def test_drift_that_all_arms_share_is_no_arms_own() -> None:
    values = values_of(0.0, arms=3, blocks=32, count=300, seed=4)
    walk = np.cumsum(np.random.default_rng(5).standard_normal((300, 1, 32)), axis=2)
    assert warned(values + walk) <= 0.03


def test_fewer_than_eight_blocks_do_not_tell() -> None:
    assert warned(values_of(0.95, arms=4, blocks=7, count=50, seed=6)) == 0.0


def test_layouts_are_compared_themselves() -> None:
    assert warned(values_of(0.9, arms=2, blocks=32, count=50, seed=7), layouts=4) == 0.0


def test_boots_that_do_not_vary_are_no_trend() -> None:
    assert warned(np.full((1, 3, 16), 100.0)) == 0.0


def test_a_gap_takes_its_block_out_alone() -> None:
    values = values_of(0.9, arms=3, blocks=24, count=1, seed=8)[0]
    boots = {
        str(arm): {block + 1: [value] for block, value in enumerate(of) if (arm, block) != (1, 5)}
        for arm, of in enumerate(values.tolist())
    }
    [answer] = judge_many([Question(boots, "lower")], baseline="0")
    assert WARNING in answer["1"].note or WARNING in answer["2"].note
