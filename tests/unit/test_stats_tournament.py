"""Tournaments: the best one wins, losers drop out early, and what is alike is said to be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mitigauge.core.stats.tournament import LOOKS, MOST_ARMS, Ranking, tournament

MARGIN = 0.01


def drawn(
    costs: dict[str, float], scatter: float, seed: int, *, moved: float = 0.0
) -> Callable[[str, int], float]:
    """Values of arms; *moved*: by how much all arms of a round move alike."""
    rng = np.random.default_rng(seed)
    rounds = rng.normal(0, moved, 200)
    return lambda arm, at: costs[arm] + rounds[at] + rng.normal(0, scatter)


def run(costs: dict[str, float], scatter: float, seed: int = 1, *, moved: float = 0.0) -> Ranking:
    return tournament(list(costs), drawn(costs, scatter, seed, moved=moved), margin=MARGIN)


@pytest.mark.parametrize("seed", range(20))
def test_the_cheapest_wins_and_the_others_drop_out(seed: int) -> None:
    costs = {f"a{n}": 0.02 * n for n in range(8)}
    found = run(costs, 0.01, seed)
    assert (found.winner, found.is_decided) == ("a0", True)
    assert found.measured < 8 * found.rounds
    # One that may be as good is left, as long as it is surely no better.
    assert {loser.arm for loser in found.losers} >= {f"a{n}" for n in range(4, 8)}
    rounds = [loser.rounds for loser in found.losers]
    assert rounds == sorted(rounds)
    assert all(loser.low <= loser.more <= loser.high for loser in found.losers)


def test_what_moves_a_whole_round_does_not_hide_a_difference() -> None:
    assert run({"a": 0.0, "b": 0.03}, 0.002, moved=0.5).winner == "a"


def test_arms_that_are_alike_end_as_good_as_each_other() -> None:
    found = run({"a": 0.0, "b": 0.0, "c": 0.001}, 0.003)
    assert (found.is_decided, found.losers) == (True, [])
    assert len(found.tied) == 2
    assert found.rounds < LOOKS[-1]


def test_where_rounds_run_out_it_says_so() -> None:
    found = run({"a": 0.0, "b": 0.0}, 0.2)
    assert (found.is_decided, found.rounds, found.measured) == (False, LOOKS[-1], 2 * LOOKS[-1])


def test_arms_without_any_scatter_end_at_the_first_look() -> None:
    found = run({"a": 0.0, "b": 0.5, "c": 0.1}, 0.0)
    assert (found.winner, found.rounds) == ("a", LOOKS[0])
    assert {loser.arm for loser in found.losers} == {"b", "c"}


def test_the_best_arm_drops_out_in_one_of_a_hundred_at_most() -> None:
    """16 arms alike but for the best: 400 tournaments, where some 4 may go wrong."""
    costs = {"best": 0.0} | {f"a{n}": 0.012 for n in range(15)}
    wrong = sum(run(costs, 0.02, seed).winner != "best" for seed in range(400))
    assert wrong <= 4


def test_an_arm_that_scatters_further_is_judged_by_its_own_scatter() -> None:
    """By that of all together it would drop out too often: it is as good as the others."""
    out = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scatter = {f"a{n}": 0.001 for n in range(9)} | {"wild": 0.05}
        found = tournament(
            list(scatter), lambda arm, _at, of=(rng, scatter): of[0].normal(0, of[1][arm]),
            margin=MARGIN,
        )  # fmt: skip
        out += any(loser.arm == "wild" for loser in found.losers)
    assert out <= 2


@pytest.mark.parametrize(
    "arms", [[], ["a"], ["a", "a"], [f"a{n}" for n in range(MOST_ARMS + 1)]], ids=len
)
def test_what_is_no_field_is_refused(arms: list[str]) -> None:
    with pytest.raises(ValueError, match="arms"):
        tournament(arms, lambda _arm, _at: 0.0, margin=MARGIN)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="a costs"):
        tournament(["a", "b"], lambda _arm, _at: value, margin=MARGIN)


@pytest.mark.parametrize("margin", [0.0, -1.0])
def test_a_margin_is_above_zero(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        tournament(["a", "b"], lambda _arm, _at: 0.0, margin=margin)
