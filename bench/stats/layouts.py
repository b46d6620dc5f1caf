"""Kernels against kernels: what layouts do to the error rates, and what becomes of it. Simulated.

Two builds of one source never differ here, so every *better* or *worse* is a false alarm. What
ignores layouts compares one build of each kernel over and over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mitigauge.core.stats.question import ArmVerdict
from mitigauge.core.stats.verdicts import Question, judge_many

BLOCKS = 16
BOOT_NOISE = 0.35  # percent: standard deviation of a boot mean
# Of what one build's layout does to one case, as a share of a boot's scatter.
LAYOUT_NOISES = (0.0, 1.0, 3.0)
CONTRASTS = (1, 2)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Shares, of 1: unchanged experiments with an alarm, and a change of *percent* found."""

    alarm: float
    found: float


@dataclass(frozen=True, slots=True)
class Truth:
    """What is simulated; *layout_noise* as a share of a boot's scatter."""

    layout_noise: float
    contrasts: int
    experiments: int
    seed: int
    change_percent: float = 2.0


def outcome_of(truth: Truth, layouts: int) -> Outcome:
    """Simulate experiments with so many layouts of each kernel, and judge them."""
    rng = np.random.default_rng(
        [truth.seed, layouts, truth.contrasts, int(10 * truth.layout_noise)]
    )
    shape = (truth.experiments, truth.contrasts + 1)
    builds = rng.normal(0, truth.layout_noise * BOOT_NOISE, (*shape, layouts))
    noise = rng.normal(0, BOOT_NOISE, (*shape, BLOCKS))
    y = noise + builds[:, :, np.arange(BLOCKS) % layouts]
    alarms = _shares(y, layouts)
    y[:, 1] += truth.change_percent
    return Outcome(alarms.any(axis=1).mean(), _shares(y, layouts)[:, 0].mean())


def _shares(y: np.ndarray, layouts: int) -> np.ndarray:
    """Which arms of which experiments are called better or worse."""
    return np.array(
        [[verdicts[arm].verdict in ("better", "worse") for arm in range(1, y.shape[1])]
         for verdicts in judged(y, layouts)]
    )  # fmt: skip


def judged(y: np.ndarray, layouts: int) -> list[dict[int, ArmVerdict]]:
    """What is said of each experiment, by arm; *y*: percent, ``[experiment, arm, block]``."""
    values = 1000 * np.exp(y / 100)
    cases = [
        Question(
            {arm: dict(enumerate(of.tolist(), start=1)) for arm, of in enumerate(experiment)},
            "lower", planned_blocks=y.shape[2], layouts=layouts,
        )
        for experiment in values
    ]  # fmt: skip
    return judge_many(cases, baseline=0)


def print_table(experiments: int, seed: int) -> float:
    """All settings; the largest share of false alarms of our own rule, percent."""
    print(
        f"\nKernels against kernels, {BLOCKS} blocks, {BOOT_NOISE} % a boot, {experiments} "
        "experiments a row.\nlayout: scatter of builds over that of boots; found: a change of 2 %."
    )
    print(f"{'layouts':>8} {'layout':>7} {'arms':>5} {'alarm':>8} {'found':>8}   as one layout:"
          f" {'alarm':>8}")  # fmt: skip
    worst = 0.0
    for layouts in (3, 4, 6, 8):
        for layout_noise in LAYOUT_NOISES:
            for contrasts in CONTRASTS:
                truth = Truth(layout_noise, contrasts, experiments, seed)
                own, naive = outcome_of(truth, layouts), outcome_of(truth, 1)
                worst = max(worst, 100 * own.alarm)
                print(
                    f"{layouts:>8} {layout_noise:>7.1f} {contrasts:>5} {100 * own.alarm:>7.2f}% "
                    f"{100 * own.found:>7.1f}%   {'':>14} {100 * naive.alarm:>7.2f}%",
                    flush=True,
                )
    return worst


def draws(builds: int, of: int, count: int, seed: int) -> int:
    """False verdicts in *count* comparisons of two sets of *of* out of so many builds.

    Builds of one source: any two sets differ in layout alone.
    """
    rng = np.random.default_rng(seed)
    layout = rng.normal(0, 3 * BOOT_NOISE, builds)
    chosen = np.array([rng.permutation(builds)[: 2 * of].reshape(2, of) for _ in range(count)])
    y = layout[chosen][:, :, np.arange(BLOCKS) % of]
    y = y + rng.normal(0, BOOT_NOISE, y.shape)
    return int(_shares(y, of).any(axis=1).sum())


def draws_of(values: np.ndarray, of: int, count: int, seed: int) -> int:
    """False verdicts in *count* comparisons of two sets of *of* builds that were measured.

    *values*: ``[build, block]``, all of one source, measured block by block. No build is in both
    sets; block b has that number b mod *of* of each.
    """
    rng = np.random.default_rng([seed, of])
    chosen = np.array([rng.permutation(len(values))[: 2 * of].reshape(2, of) for _ in range(count)])
    blocks = np.arange(BLOCKS)
    drawn = np.log(values[chosen[:, :, blocks % of], blocks])
    return int(_shares(100 * (drawn - drawn.mean()), of).any(axis=1).sum())


if __name__ == "__main__":
    print_table(4000, 1)
    print(f"20 builds, sets of 3, 200 draws: {draws(20, 3, 200, 1)} false verdicts")
