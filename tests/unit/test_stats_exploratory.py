"""Exploratory metrics are judged once, under one false discovery rate."""

from __future__ import annotations

import numpy as np
import pytest

from mitigauge.core.stats.exploratory import judge_exploratory
from mitigauge.core.stats.question import Question
from mitigauge.core.stats.terms import FALSE_DISCOVERY_RATE


def case(effect: float, *, blocks: int = 8, noise: float = 0.01, seed: int = 1, **rest) -> Question:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    values = 100.0 * np.exp(noise * rng.standard_normal((2, blocks)))
    values[1] *= 1.0 + effect
    boots = {arm: dict(enumerate(of)) for arm, of in zip("ab", values.tolist(), strict=True)}
    return Question(boots, "lower", **rest)


def test_a_large_change_among_many_is_a_discovery_with_its_q() -> None:
    judged = judge_exploratory(
        [case(0.2), *(case(0.0, seed=s) for s in range(2, 21))], baseline="a"
    )
    found = judged[0]["b"]
    assert found.verdict == "worse"
    assert found.p is not None
    assert found.q is not None
    assert found.p <= found.q <= FALSE_DISCOVERY_RATE
    assert judged[0]["a"].q is None


def test_what_is_significant_alone_can_be_nothing_among_many() -> None:
    almost = case(0.017, seed=4)
    [alone] = judge_exploratory([almost], baseline="a")
    among, *_ = judge_exploratory(
        [almost, *(case(0.0, seed=s) for s in range(10, 110))], baseline="a"
    )
    assert alone["b"].verdict == "worse"
    assert among["b"].verdict == "undecided"
    assert among["b"].p == alone["b"].p


def test_false_discoveries_are_rare_where_nothing_differs() -> None:
    wrong = 0
    for start in range(0, 4000, 20):
        judged = judge_exploratory([case(0.0, seed=start + s) for s in range(20)], baseline="a")
        wrong += any(answer["b"].verdict in ("better", "worse") for answer in judged)
    assert wrong / 200 <= 0.10


def test_while_blocks_are_to_come_nothing_is_discovered() -> None:
    [running] = judge_exploratory([case(0.2, planned_blocks=16)], baseline="a")
    [ended] = judge_exploratory([case(0.2, planned_blocks=16, ended=True)], baseline="a")
    assert (running["b"].verdict, ended["b"].verdict) == ("undecided", "worse")
    assert running["b"].q == ended["b"].q


def test_quiet_alike_arms_are_the_same() -> None:
    [answer] = judge_exploratory([case(0.0, noise=0.001)], baseline="a")
    assert answer["b"].verdict == "same"


@pytest.mark.parametrize("blocks", [0, 1])
def test_too_few_blocks_for_a_p_have_no_q(blocks: int) -> None:
    [answer] = judge_exploratory([Question({"a": {0: 1.0}, "b": dict.fromkeys(range(blocks), 2.0)},
                                       "lower")], baseline="a")  # fmt: skip
    assert answer["b"].q is None
    assert answer["b"].verdict == "undecided"
