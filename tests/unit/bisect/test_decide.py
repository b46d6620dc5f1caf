"""Whole bisections over simulated boots: each answer, and what must not happen on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mitigauge.tracking.bisect.decision import VERIFY_BLOCKS, next_action
from mitigauge.tracking.bisect.model import (
    Action,
    Culprit,
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
from mitigauge.tracking.bisect.posterior import posterior, weigh
from mitigauge.tracking.bisect.reverts import revert_effects
from mitigauge.tracking.bisect.states import RevertOutcome

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
    asked: Question,
    level: Level,
    *,
    broken: tuple[int, ...] = (),
    noise: float = NOISE,
    without: Level | None = None,
) -> tuple[Action, list[Measure], History]:
    """Carry out every step; *level* is the log level of a point, *without* that of the last end
    without a candidate."""
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
                of = level(point)
                if without is not None and point == asked.reverted:
                    of = without(action.verifies or 0)
                value = of + shift + float(rng.normal(0.0, noise))
                observed.append(Observed(point, group, value))


def step(culprit: int, size: float = 0.02) -> Level:
    return lambda point: size * (point >= culprit)


@pytest.mark.parametrize("culprit", [1, 4, 8])
def test_the_culprit_is_found_and_was_verified(culprit: int) -> None:
    answer, steps, history = run(question(), step(culprit))
    assert isinstance(answer, Culprit)
    assert answer.candidate == culprit
    assert answer.confidence >= 0.95
    assert answer.interval[0] < 0.02 < answer.interval[1]
    assert steps[0].purpose is Purpose.ENDS
    fresh = sum(wanted.blocks for wanted in steps if wanted.verifies == culprit)
    assert fresh >= VERIFY_BLOCKS
    assert len(history.observed) <= 60


def test_where_less_is_worse_the_effect_keeps_its_sign() -> None:
    answer, _, _ = run(question(higher_is_worse=False), step(3, -0.02))
    assert isinstance(answer, Culprit)
    assert answer.candidate == 3
    assert answer.effect == pytest.approx(-0.02, abs=0.004)


def test_ends_that_do_not_differ_are_refused_with_what_it_takes() -> None:
    answer, steps, _ = run(question(), step(1, 0.0))
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
    assert isinstance(answer, Culprit)
    assert answer.candidate == 5
    assert not {3, 4} & {point for wanted in steps for point in wanted.points}


def test_the_revert_is_booted_beside_the_last_end_when_it_is_offered() -> None:
    answer, steps, _ = run(question(revert=True), step(4), without=keeps(0.0))
    assert isinstance(answer, Culprit)
    assert answer.candidate == 4
    assert any({8, 9} <= set(wanted.points) for wanted in steps if wanted.verifies == 4)


def keeps(stays: float, size: float = 0.02) -> Level:
    """The last end without a candidate; without the fourth it keeps the share *stays*."""
    return lambda candidate: size * (stays if candidate == 4 else 1.0)


@pytest.mark.parametrize(
    ("stays", "outcome", "words"),
    [
        (1.0, RevertOutcome.NOTHING, "the change stays"),
        (0.5, RevertOutcome.PART, "part of the change stays"),
        (1.5, RevertOutcome.WORSE, "worse than before"),
    ],
)
def test_a_revert_that_does_not_help_counts_against_the_candidate(
    stays: float, outcome: RevertOutcome, words: str
) -> None:
    asked = question(revert=True)
    answer, _, history = run(asked, step(4), without=keeps(stays))
    assert isinstance(answer, SeveralCulprits)
    assert answer.candidates == (4,)
    assert answer.probability >= 0.95
    assert answer.posterior.candidates[3] < 0.05
    assert answer.posterior.among_several[3] > 0.9
    assert words in answer.why
    assert "against its parent, but its revert does not undo that" in answer.why
    [did] = revert_effects(asked, history, weigh(asked, history))
    assert (did.candidate, did.outcome) == (4, outcome)
    assert did.change.low < 0.02 * (stays - 1) < did.change.high
    assert len(history.observed) <= 60


@pytest.mark.parametrize("stays", [0.0, -0.5])
def test_a_revert_that_undoes_the_change_or_more_counts_for_the_candidate(stays: float) -> None:
    asked = question(revert=True)
    answer, _, history = run(asked, step(4), without=keeps(stays))
    assert isinstance(answer, Culprit)
    assert answer.candidate == 4
    [did] = revert_effects(asked, history, weigh(asked, history))
    assert did.outcome is RevertOutcome.GONE
    assert did.off is not None
    assert did.off.low < 0.02 * stays < did.off.high


def test_the_more_of_a_change_stays_the_less_likely_its_candidate_is() -> None:
    asked = question(revert=True)
    _, _, history = run(asked, step(4), without=keeps(0.0))

    def probability(stays: float) -> float:
        observed = tuple(
            replace(item, value=item.value + 0.02 * stays) if item.point == 9 else item
            for item in history.observed
        )
        return posterior(asked, replace(history, observed=observed)).candidates[3]

    likely = [probability(stays) for stays in (0.0, 0.5, 0.75, 1.0)]
    assert likely == sorted(likely, reverse=True)
    assert likely[0] > 0.95
    assert likely[1] < 0.05


def test_what_a_revert_did_has_the_sign_of_the_metric() -> None:
    asked = question(revert=True, higher_is_worse=False)
    answer, _, history = run(asked, step(4, -0.02), without=keeps(0.0, -0.02))
    assert isinstance(answer, Culprit)
    [did] = revert_effects(asked, history, weigh(asked, history))
    assert did.outcome is RevertOutcome.GONE
    assert did.change.mean == pytest.approx(0.02, abs=0.004)


def test_the_last_end_without_the_last_change_is_its_parent_and_not_booted_twice() -> None:
    answer, steps, _ = run(question(revert=True), step(8), without=lambda _: 0.0)
    assert isinstance(answer, Culprit)
    assert answer.candidate == 8
    assert not [wanted for wanted in steps if 9 in wanted.points and wanted.verifies == 8]


def test_blocks_of_one_point_alone_do_not_widen_the_scatter() -> None:
    """As of a host on which an end does not boot, and whose level is its own."""
    rng = np.random.default_rng(4)
    both = [
        Observed(point, f"a/1/{block}", 0.26 * (point == 8) + float(rng.normal(0, 0.003)))
        for block in range(4)
        for point in (0, 8)
    ]
    alone = [Observed(0, f"b/1/{block}", 1.1 + float(rng.normal(0, 0.003))) for block in range(4)]
    action = next_action(question(), History((*both, *alone)))
    assert isinstance(action, Measure)
    assert action.purpose is Purpose.SEARCH
    known = posterior(question(), History((*both, *alone)))
    assert known.deviation == pytest.approx(0.003, rel=0.7)
    assert known == posterior(question(), History(tuple(both)))


def test_one_block_of_a_revert_says_nothing_of_it() -> None:
    asked = question(revert=True)
    observed = tuple(Observed(p, "v/1", 0.02 * (p >= 4)) for p in (3, 4, 8, 9))
    history = History(observed, verified={"v/1": 4})
    assert revert_effects(asked, history, weigh(asked, history)) == ()


@pytest.mark.parametrize("wrong", [1, 7, 8])
def test_a_weight_on_a_wrong_candidate_hides_no_other_one(wrong: int) -> None:
    priors = tuple(1.0 + 20.0 * (k == wrong) for k in range(1, 9))
    answer, _, history = run(question(priors=priors, revert=True), step(4), without=keeps(0.0))
    assert isinstance(answer, Culprit)
    assert answer.candidate == 4
    assert len(history.observed) <= 80


def test_identical_values_end_without_infinite_certainty() -> None:
    answer, _, _ = run(question(), step(2, 0.1), noise=0.0)
    assert isinstance(answer, Culprit)
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


def test_a_candidate_like_its_parent_is_not_named_whatever_its_revert_does() -> None:
    """Taking out candidate 5 undoes what candidate 1 did, as where 5 only enables it."""
    asked = question(priors=(1.0,) * 4 + (21.0,) + (1.0,) * 3, revert=True)
    answer, _, _ = run(asked, step(1), without=lambda _: 0.0)
    assert not (isinstance(answer, Culprit) and answer.candidate != 1), answer
