"""Blocks that would decide what is undecided: bounds, order, and whether the promise is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.stats.noise import simulate
from mitigauge.analysis.verdicts.more_blocks import blocks_to_decide
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.verdicts import judge_many

MOST = 64


def needed(
    effect: float, detectable: float, blocks: int = 8, margin: float = 1.0, arms: int = 1
) -> int | None:
    return blocks_to_decide(
        effect=effect, detectable=detectable, blocks=blocks, arms=arms, margin=margin, most=MOST
    )


def test_a_smaller_effect_takes_more_blocks_of_either_sign() -> None:
    far, near = needed(5.0, 6.0), needed(4.0, 6.0)
    assert far is not None
    assert near is not None
    assert 8 < far < near <= MOST
    assert needed(-4.0, 6.0) == near


def test_an_effect_within_the_margin_takes_fewer_the_wider_the_margin_is() -> None:
    narrow, wide = needed(0.1, 1.8), needed(0.1, 1.8, margin=2.0)
    assert wide is not None
    assert narrow is not None
    assert wide < narrow


def test_what_is_between_margin_and_effect_takes_more_than_there_are() -> None:
    assert needed(1.0, 6.0) is None


def test_at_least_one_block_more_and_at_most_what_there_is() -> None:
    assert needed(50.0, 4.0) == 9
    assert needed(0.5, 6.0) is None
    assert needed(0.5, math.inf) is None
    assert needed(0.5, 2.0, blocks=0) is None
    assert needed(0.5, 2.0, blocks=1) is None
    assert needed(math.nan, 2.0) is None
    assert needed(50.0, 4.0, blocks=MOST) is None


def judged(
    effect: float, count: int, blocks: int, arms: int, seed: tuple[int, ...]
) -> list[ArmVerdict]:
    values = simulate(
        "Gaussian", experiments=count, contrasts=arms, boot_noise_percent=1.0,
        effect_percent=effect, seed=seed, blocks=blocks,
    )  # fmt: skip
    cases = [
        Question({str(arm): dict(enumerate(of)) for arm, of in enumerate(case)}, "lower")
        for case in values.mean(axis=3).tolist()
    ]
    return [answer["1"] for answer in judge_many(cases, baseline="0")]


@pytest.mark.parametrize(
    ("arms", "first", "promised"), [(1, 8, 0.8), (2, 8, 0.8), (3, 8, 0.8), (3, 4, 0.75)]
)
def test_the_promise_is_kept(arms: int, first: int, promised: float) -> None:
    """Of simulated experiments that the first blocks left undecided; a fresh one as promised."""
    kept = []
    for effect in (0.0, 0.25, 1.0, 1.5):
        size = int(100 * effect)
        for number, cell in enumerate(judged(effect, 40, first, arms, (1, arms, size))):
            if cell.verdict not in (None, "undecided"):
                continue
            assert cell.effect_percent is not None
            assert cell.mde_percent is not None
            blocks = needed(cell.effect_percent, cell.mde_percent, first, arms=arms)
            if blocks is None:
                continue
            [again] = judged(effect, 1, blocks, arms, (2, arms, size, number))
            kept.append(again.verdict not in (None, "undecided"))
    assert len(kept) > 25
    # Two standard errors of a share below what is promised.
    assert np.mean(kept) >= promised - 2 * math.sqrt(promised * (1 - promised) / len(kept))
