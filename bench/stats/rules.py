"""The rules that are compared; each sees the same simulated iterations.

A rule gets ``[experiment, arm, block, iteration]`` with the baseline as arm 0, lower
being better, and answers for every other arm. The peers are written after their
published rules:

- Mann-Whitney on pooled iterations: what benchmark tables with a p under 0.05 do.
- Pinpoint (Chromium's bisection service): 10 attempts a side, doubled up to 160 while
  undecided. The smaller p of Mann-Whitney and Kolmogorov-Smirnov decides: up to 0.01
  is a difference, above a high threshold that falls with the attempts it is none. Its bots
  run attempts without a restart, so an attempt is an iteration, ten a boot; and, as boots
  are what scatters here, a second time a boot, as in ``bench.bisect``, up to 160 of them.
- LKP (the kernel test robot's ``lkp compare``): the ranges of both sides do not meet,
  and their middles differ by more than 1 %.
- Fixed: our model and α, one look after 16 blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from bench.stats.noise import ITERATIONS
from mitigauge.core.stats.block_model import Mask
from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.verdicts import Question, judge_many

# Pinpoint's high thresholds for a change of one interquartile range, by attempts, from
# catapult's dashboard/pinpoint/models/compare/thresholds.py; from 40 on it is the low one.
PINPOINT_HIGH = {10: 0.5708, 20: 0.0811, 40: 0.01, 80: 0.01, 160: 0.01}
PINPOINT_LOW = 0.01
# `lkp compare` leaves out what changed by less (lib/stats.rb).
LKP_SMALLEST_RATIO = 1.01


@dataclass(frozen=True, slots=True)
class Answers:
    """What a rule says, ``[experiment, arm beside the baseline]``."""

    changed: NDArray[np.int8]  # +1 slower, -1 faster, 0 neither
    same: Mask
    blocks: Floats  # used until the answer; all of them where there is none


Rule = Callable[[Floats], Answers]


def ours(values: Floats, looks: Sequence[int] | None = None) -> Answers:
    """Mitigauge's own engine, called as its service calls it."""
    means = values.mean(axis=3)
    names = [f"arm-{arm}" for arm in range(means.shape[1])]
    cases = [
        Question({name: dict(enumerate(of)) for name, of in zip(names, case, strict=True)}, "lower")
        for case in means.tolist()
    ]
    judged = judge_many(cases, baseline=names[0], looks=looks)
    sign = {"worse": 1, "better": -1}
    rows = [[answer[name] for name in names[1:]] for answer in judged]
    budget = values.shape[2]
    return Answers(
        np.array([[sign.get(arm.verdict or "", 0) for arm in row] for row in rows], dtype=np.int8),
        np.array([[arm.verdict == "same" for arm in row] for row in rows]),
        np.array([[float(arm.decided_at_look or budget) for arm in row] for row in rows]),
    )


def fixed(values: Floats) -> Answers:
    """The same engine without early looks."""
    return ours(values, looks=())


def mann_whitney_pooled(values: Floats) -> Answers:
    """All iterations of all boots as if they were independent; 0.05, no word on sameness."""
    baseline, arms = _pooled(values, values.shape[2])
    p = mannwhitneyu(arms, baseline, axis=2, method="asymptotic").pvalue
    return _answers(np.where(p < 0.05, _direction(baseline, arms), 0), values.shape[2])


def lkp_ranges(values: Floats, boots: int) -> Answers:
    """Ranges of *boots* boot means a side that do not meet, and a ratio above 1.01."""
    runs = np.sort(values[:, :, :boots].mean(axis=3), axis=2)
    baseline, arms = runs[:, :1], runs[:, 1:]
    middle = runs[:, :, boots // 2]
    ratio = middle[:, 1:] / middle[:, :1]
    slower = (arms[..., 0] > baseline[..., -1]) & (ratio > LKP_SMALLEST_RATIO)
    faster = (baseline[..., 0] > arms[..., -1]) & (1.0 / ratio > LKP_SMALLEST_RATIO)
    return _answers(slower.astype(np.int8) - faster, boots)


def pinpoint(values: Floats, attempts_a_boot: int = ITERATIONS) -> Answers:
    """Attempts are the first iterations of boots, so many of each."""
    shape = (values.shape[0], values.shape[1] - 1)
    changed = np.zeros(shape, dtype=np.int8)
    same = np.zeros(shape, dtype=np.bool_)
    blocks = np.full(shape, float(values.shape[2]))
    open_ = np.ones(shape, dtype=np.bool_)
    for attempts, high in PINPOINT_HIGH.items():
        used = attempts // attempts_a_boot
        baseline, arms = _pooled(values[..., :attempts_a_boot], used)
        p = np.minimum(
            mannwhitneyu(arms, baseline, axis=2, method="asymptotic").pvalue,
            kolmogorov_smirnov(arms, baseline),
        )
        different = open_ & (p <= PINPOINT_LOW)
        alike = open_ & (p > max(high, PINPOINT_LOW))
        changed[different] = _direction(baseline, arms)[different]
        same |= alike
        blocks[different | alike] = used
        open_ &= ~(different | alike)
    return Answers(changed, same, blocks)


def pinpoint_of_boots(values: Floats) -> Answers:
    """An attempt is a boot, and its value the mean of the boot's iterations."""
    return pinpoint(values.mean(axis=3, keepdims=True), attempts_a_boot=1)


def kolmogorov_smirnov(first: Floats, second: Floats) -> Floats:
    """Exact two-sided p along the last axis, for sides of one size without ties.

    Raises ``ValueError`` for sides of different sizes.
    """
    size = first.shape[-1]
    if second.shape[-1] != size:
        raise ValueError(f"{size} values against {second.shape[-1]}")
    second = np.broadcast_to(second, first.shape)
    order = np.argsort(np.concatenate([first, second], axis=-1), axis=-1)
    steps = np.cumsum(np.where(order < size, 1, -1), axis=-1)
    furthest = np.abs(steps).max(axis=-1)
    p: Floats = np.array(_smirnov_p(size))[furthest]
    return p


@lru_cache(maxsize=8)
def _smirnov_p(size: int) -> tuple[float, ...]:
    """p for each distance of h/size, h = 0…size (Gnedenko & Korolyuk 1951)."""
    paths = math.comb(2 * size, size)
    tails = [1.0]
    for height in range(1, size + 1):
        signed = sum(
            (-1) ** (k + 1) * math.comb(2 * size, size - k * height)
            for k in range(1, size // height + 1)
        )
        tails.append(min(1.0, 2 * signed / paths))
    return tuple(tails)


def _pooled(values: Floats, blocks: int) -> tuple[Floats, Floats]:
    pooled = values[:, :, :blocks].reshape(*values.shape[:2], -1)
    return pooled[:, :1], pooled[:, 1:]


def _direction(baseline: Floats, arms: Floats) -> NDArray[np.int8]:
    return np.sign(np.median(arms, axis=2) - np.median(baseline, axis=2)).astype(np.int8)


def _answers(changed: NDArray[np.integer], blocks: int) -> Answers:
    return Answers(
        changed.astype(np.int8),
        np.zeros(changed.shape, dtype=np.bool_),
        np.full(changed.shape, float(blocks)),
    )


RULES: dict[str, Rule] = {
    "Mitigauge": ours,
    "fixed 16 blocks": fixed,
    "Mann-Whitney pooled": mann_whitney_pooled,
    "Pinpoint, iterations": pinpoint,
    "Pinpoint, boots": pinpoint_of_boots,
    "LKP ranges, 4 boots": lambda values: lkp_ranges(values, 4),
    "LKP ranges, 16 boots": lambda values: lkp_ranges(values, 16),
}
# Rules that may want more blocks than the others.
BLOCKS_OF = {"Pinpoint, boots": max(PINPOINT_HIGH)}
