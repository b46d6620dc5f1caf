"""How many blocks a fixed number of them needs for the power that our rule has.

Blocks of two rules tell nothing beside each other unless both find as much. The fixed rule is our
model and α with one look, on the same simulated experiments.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from bench.stats.noise import BLOCKS
from bench.stats.rules import fixed
from bench.stats.table import Change, Setting, experiments_of

FEWEST = 2


def blocks_of_power(setting: Setting, effect: float, wanted: float, count: int, seed: int) -> float:
    """Blocks, between whole numbers by a straight line; NaN where 16 find less than *wanted*.

    *effect*: in percent. *wanted*: the share of *count* experiments that are found.
    """
    experiments = list(experiments_of(setting, effect, count, seed))
    before = 0.0
    for blocks in range(FEWEST, BLOCKS + 1):
        answers = [fixed(values[:, :, :blocks]).changed[:, 0] == 1 for values in experiments]
        found = float(np.concatenate(answers).mean())
        if found >= wanted:
            return blocks - (found - wanted) / (found - before)
        before = found
    return float("nan")


def lines(figures: Iterable[tuple[Setting, float, Change]], count: int, seed: int) -> Iterator[str]:
    """A line for each of our figures, with the fixed number of blocks that finds as much.

    *figures*: of a setting and an effect in percent.
    """
    for setting, effect, change in figures:
        blocks = blocks_of_power(setting, effect, change.found, count, seed)
        beside = f"fixed {blocks:5.1f}, ratio {change.mean_blocks / blocks:.2f}"
        yield (
            f"  {setting.noise:<9} {setting.boot_noise_percent:>5} %, {effect:g} % slower:"
            f" {100 * change.found:5.1f} % found in {change.mean_blocks:5.1f} blocks, "
            + (beside if math.isfinite(blocks) else f"a fixed {BLOCKS} find less")
        )
