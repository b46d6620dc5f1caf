"""Blocks that would decide what is undecided: the formula, and whether the promise is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.stats.noise import simulate
from mitigauge.analysis.verdicts.more_blocks import blocks_to_decide
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.core.stats.verdicts import judge_many

MOST = 64


def needed(effect: float, detectable: float, blocks: int = 8, margin: float = 1.0) -> int | None:
    return blocks_to_decide(
        effect=effect, detectable=detectable, blocks=blocks, margin=margin, most=MOST
    )


def test_half_the_detectable_effect_takes_four_times_the_blocks() -> None:
    assert needed(3.0, 6.0) == 32
    assert needed(-3.0, 6.0) == 32


def test_an_effect_within_the_margin_is_decided_by_the_nearer_end() -> None:
    """0.1 % of 1 %: to keep the interval within ± 1 % takes fewer than to see 0.1 %."""
    assert needed(0.1, 1.8) == math.ceil(8 * (1.8 / 0.9) ** 2)


def test_at_least_one_block_more_and_at_most_what_there_is() -> None:
    assert needed(5.0, 4.0) == 9
    assert needed(0.5, 6.0) is None
    assert needed(0.5, math.inf) is None
    assert needed(0.5, 2.0, blocks=0) is None
    assert needed(math.nan, 2.0) is None


def judged(effect: float, count: int, blocks: int, seed: tuple[int, ...]) -> list[ArmVerdict]:
    values = simulate(
        "Gaussian", experiments=count, contrasts=1, boot_noise_percent=1.0, effect_percent=effect,
        seed=seed, blocks=blocks,
    )  # fmt: skip
    cases = [
        Question({name: dict(enumerate(of)) for name, of in zip("ab", case, strict=True)}, "lower")
        for case in values.mean(axis=3).tolist()
    ]
    return [answer["b"] for answer in judge_many(cases, baseline="a")]


@pytest.mark.parametrize("effects", [(0.0, 0.25, 1.0, 1.5)])
def test_the_promise_is_kept_in_some_four_of_five(effects: tuple[float, ...]) -> None:
    """Of simulated experiments that 8 blocks left undecided; a fresh one of the promised size."""
    kept = []
    for effect in effects:
        for number, first in enumerate(judged(effect, 60, 8, (1, int(100 * effect)))):
            if first.verdict not in (None, "undecided"):
                continue
            assert first.effect_percent is not None
            assert first.mde_percent is not None
            blocks = needed(first.effect_percent, first.mde_percent)
            if blocks is None:
                continue
            [again] = judged(effect, 1, blocks, (2, int(100 * effect), number))
            kept.append(again.verdict not in (None, "undecided"))
    assert len(kept) > 60
    assert float(np.mean(kept)) >= 0.75
