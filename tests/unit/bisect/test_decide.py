"""Whole bisections over simulated boots: each answer, and what must not happen on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mitigauge.bisect.decide import VERIFY_BLOCKS, next_action
from mitigauge.bisect.model import (
    Action,
    Found,
    History,
    Measure,
    NoneOfThese,
    Observed,
    Purpose,
    Question,
    Refused,
    SeveralCulprits,
    Undecided,
)

NOISE = 0.002
Level = Callable[[int], float]


def question(count: int = 8, **changed: object) -> Question:
    return Question(
        **{
            "priors": (1.0,) * count,
            "higher_is_worse": True,
            "minimum_effect": 0.002,
            "budget_boots": 200,
            **changed,
        }
    )  # type: ignore[arg-type]


def run(
    asked: Question, level: Level, *, broken: tuple[int, ...] = (), noise: float = NOISE
) -> tuple[Action, list[Measure], History]:
    """Carry out every step; *level* is the log level of a point."""
    rng = np.random.default_rng(7)
    observed: list[Observed] = []
    skipped: dict[int, str] = {}
    verified: dict[str, int] = {}
    steps: list[Measure] = []
    while True:
        history = History(tuple(observed), dict(skipped), dict(verified))
        action = next_action(asked, history)
        if not isinstance(action, Measure):
            return action, steps, history
        assert not set(action.points) & set(skipped)
        steps.append(action)
        bad = set(action.points) & set(broken)
        skipped |= dict.fromkeys(bad, "does not boot")
        for block in range(0 if bad else action.blocks):
            group = f"h/{len(steps)}/{block}"
            if action.verifies is not None:
                verified[group] = action.verifies
            shift = float(rng.normal(0.0, 0.01))
            for point in action.points:
                value = level(point) + shift + float(rng.normal(0.0, noise))
                observed.append(Observed(point, group, value))


def step(culprit: int, size: float = 0.02) -> Level:
    return lambda point: size * (point >= culprit)


@pytest.mark.parametrize("culprit", [1, 4, 8])
def test_the_culprit_is_found_and_was_verified(culprit: int) -> None:
    answer, steps, history = run(question(), step(culprit))
    assert isinstance(answer, Found)
    assert answer.candidate == culprit
    assert answer.confidence >= 0.95
    assert answer.interval[0] < 0.02 < answer.interval[1]
    assert steps[0].purpose is Purpose.ENDS
    fresh = sum(wanted.blocks for wanted in steps if wanted.verifies == culprit)
    assert fresh >= VERIFY_BLOCKS
    assert len(history.observed) <= 60


def test_where_less_is_worse_the_effect_keeps_its_sign() -> None:
    answer, _, _ = run(question(higher_is_worse=False), step(3, -0.02))
    assert isinstance(answer, Found)
    assert answer.candidate == 3
    assert answer.effect == pytest.approx(-0.02, abs=0.004)


def test_ends_that_do_not_differ_are_refused_with_what_it_takes() -> None:
    answer, steps, _ = run(question(), lambda point: 0.0)
    assert isinstance(answer, Refused | NoneOfThese)
    assert isinstance(answer, NoneOfThese) or answer.what_it_takes
    assert steps[0].points == (0, 8)


def test_reversed_ends_are_said() -> None:
    answer, _, _ = run(question(), step(3, -0.03))
    assert isinstance(answer, Refused)
    assert "better" in answer.why
    assert "Swap" in answer.what_it_takes


def test_points_that_do_not_boot_leave_a_range() -> None:
    answer, _, history = run(question(), step(4), broken=(3, 4))
    assert isinstance(answer, Undecided)
    assert answer.candidates == (3, 4, 5)
    assert answer.skipped == (3, 4)
    assert set(history.skipped) <= {3, 4}


def test_two_culprits_are_said() -> None:
    answer, _, _ = run(question(), lambda point: 0.02 * (point >= 3) + 0.02 * (point >= 6))
    assert isinstance(answer, SeveralCulprits)
    assert set(answer.candidates) >= {3, 6}


def test_a_binary_that_stayed_is_neither_blamed_nor_built() -> None:
    priors = (1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
    answer, steps, _ = run(question(priors=priors), step(5))
    assert isinstance(answer, Found)
    assert answer.candidate == 5
    assert not {3, 4} & {point for wanted in steps for point in wanted.points}


def test_the_revert_is_booted_beside_the_last_end_when_it_is_offered() -> None:
    level: Level = lambda point: 0.02 * (4 <= point <= 8)  # noqa: E731
    answer, steps, _ = run(question(revert=True), level)
    assert isinstance(answer, Found)
    assert answer.candidate == 4
    assert any({8, 9} <= set(wanted.points) for wanted in steps if wanted.verifies == 4)


def test_identical_values_end_without_infinite_certainty() -> None:
    answer, _, _ = run(question(), step(2, 0.1), noise=0.0)
    assert isinstance(answer, Found)
    assert answer.candidate == 2
    assert answer.interval[0] < answer.effect < answer.interval[1]


def test_equal_ends_and_ends_that_do_not_boot_are_refused_before_any_boot() -> None:
    equal = next_action(question(priors=(0.0, 0.0)), History())
    assert isinstance(equal, Refused)
    unbootable = next_action(question(), History(skipped={8: "does not build"}))
    assert isinstance(unbootable, Refused)
    assert "does not build" in unbootable.why


def test_a_spent_budget_ends_with_what_is_likely() -> None:
    answer, _, history = run(question(count=64, budget_boots=14), step(40))
    assert isinstance(answer, Undecided)
    assert len(history.observed) <= 14
    assert "budget" in answer.why
    assert not answer.skipped
