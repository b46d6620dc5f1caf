"""What an arm that stays where it is from block to block does to verdicts, and how often it shows.

    python -m bench.stats.persistence [--experiments 4000]

Boots of each arm follow a first-order autoregression of their own, with the same scatter as if they
were independent: the layout of a kernel's data that changes seldom, memory that fragments.
"""

from __future__ import annotations

import argparse

import numpy as np

from mitigauge.core.stats.boot_means import Floats
from mitigauge.core.stats.dependence import neighbours_alike
from mitigauge.core.stats.question import Question
from mitigauge.core.stats.verdicts import judge_many

SCATTER = 0.01


def boots_of(correlation: float, shape: tuple[int, int, int], seed: int) -> Floats:
    """Values ``[experiment, arm, block]`` of arms that do not differ."""
    rng = np.random.default_rng((seed, int(100 * correlation), *shape))
    steps = rng.standard_normal(shape)
    values = np.empty(shape)
    values[..., 0] = steps[..., 0]
    for block in range(1, shape[2]):
        values[..., block] = (
            correlation * values[..., block - 1] + (1 - correlation**2) ** 0.5 * steps[..., block]
        )
    return np.exp(SCATTER * values)


def line(correlation: float, arms: int, blocks: int, experiments: int, seed: int) -> str:
    """False alarms, intervals that hold no effect, and how many of each are warned of."""
    values = boots_of(correlation, (experiments, arms, blocks), seed)
    cases = [
        Question({str(arm): dict(enumerate(of, 1)) for arm, of in enumerate(case)}, "lower")
        for case in values[:, :, :, None].tolist()
    ]
    answers = judge_many(cases, baseline="0")
    false = np.array(
        [any(of.verdict in ("worse", "better") for of in each.values()) for each in answers]
    )
    missed = np.array([any(_misses(of) for of in each.values()) for each in answers])
    alike = neighbours_alike(np.log(values), np.ones((arms, blocks), dtype=np.bool_))
    warned = np.asarray(alike.any(axis=1), dtype=np.bool_)
    seen = f"{100 * warned[missed].mean():7.1f}" if missed.any() else f"{'-':>7}"
    return (
        f"{correlation:5.1f} {arms - 1:5} {blocks:7} {100 * false.mean():8.2f} "
        f"{100 * (1 - missed.mean()):9.1f} {100 * warned.mean():8.1f} {seen}"
    )


def _misses(of: object) -> bool:
    low, high = getattr(of, "ci_low_percent", None), getattr(of, "ci_high_percent", None)
    return low is not None and high is not None and not low <= 0.0 <= high


def main() -> None:
    """Print a line for each correlation, number of arms and of blocks."""
    parser = argparse.ArgumentParser(prog="bench.stats.persistence", description=main.__doc__)
    parser.add_argument("--experiments", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    print("    φ  arms  blocks  false %  covers %  warned %  of those that miss")
    for correlation in (0.0, 0.3, 0.5, 0.8):
        for arms in (2, 4):
            for blocks in (8, 16, 32, 64):
                told = line(correlation, arms, blocks, options.experiments, options.seed)
                print(told, flush=True)


if __name__ == "__main__":
    main()
