"""The plan: which arm boots when. Pure: the same spec and seed give the same plan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlannedBoot:
    """One boot to come: *block* and *order* count from 1."""

    block: int
    order: int
    arm: str


def plan_run(
    arms: Sequence[str], *, blocks: int, seed: int, comparison: str, host: str
) -> list[PlannedBoot]:
    """Randomised complete blocks: every arm once a block, in an order of its own.

    The generator is seeded by seed, comparison, host and block, so that one run's
    order does not depend on which other runs there are.
    """
    plan = []
    for block in range(1, blocks + 1):
        order = list(arms)
        random.Random(f"{seed}/{comparison}/{host}/{block}").shuffle(order)
        plan += [PlannedBoot(block, place, arm) for place, arm in enumerate(order, start=1)]
    return plan
