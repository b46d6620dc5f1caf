"""How many blocks a fixed number of them needs for the power that our rule has.

Blocks of two rules tell nothing beside each other unless both find as much. The fixed rule is our
model and α with one look, on the same simulated experiments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bench.stats.noise import BLOCKS
from bench.stats.rules import ours
from bench.stats.table import Change, Setting, experiments_of

FEWEST = 2


def blocks_of_power(setting: Setting, effect: float, wanted: float, count: int, seed: int) -> float:
    """Blocks, between whole numbers by a straight line; NaN where 16 find less than *wanted*.

    *effect*: in percent. *wanted*: the share of *count* experiments that are found.
    """
    found = {1: 0.0}
    for blocks in range(FEWEST, BLOCKS + 1):
        answers = [
            ours(values[:, :, :blocks], looks=()).changed[:, 0] == 1
            for values in experiments_of(setting, effect, count, seed)
        ]
        found[blocks] = float(np.concatenate(answers).mean())
        if found[blocks] >= wanted:
            before = found[blocks - 1]
            return blocks - (found[blocks] - wanted) / (found[blocks] - before)
    return float("nan")


def lines(
    settings: Sequence[Setting],
    effects: Sequence[float],
    changes: Sequence[Change],
    count: int,
    seed: int,
) -> list[str]:
    """A line for each of our figures, with the fixed number of blocks that finds as much."""
    told = []
    for setting, effect, change in zip(settings, effects, changes, strict=True):
        fixed = blocks_of_power(setting, effect, change.found, count, seed)
        beside = f"fixed {fixed:5.1f}, ratio {change.mean_blocks / fixed:.2f}"
        told.append(
            f"  {setting.noise:<9} {setting.boot_noise_percent:>5} %, {effect:g} % slower:"
            f" {100 * change.found:5.1f} % found in {change.mean_blocks:5.1f} blocks, "
            + (beside if math.isfinite(fixed) else f"a fixed {BLOCKS} find less")
        )
    return told
