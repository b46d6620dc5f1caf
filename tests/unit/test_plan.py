"""Plans are randomised complete blocks, and the same seed gives the same plan."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mitigauge.measurement.experiments.plan import PlannedBoot, plan_run

ARMS = ["off", "ibpb", "bhb-clear"]


def plan(seed: int = 1, host: str = "alpha", blocks: int = 6) -> list[PlannedBoot]:
    return plan_run(ARMS, blocks=blocks, seed=seed, comparison="c", host=host)


@given(st.integers(0, 2**62), st.integers(1, 16))
def test_every_block_boots_every_arm_once(seed: int, blocks: int) -> None:
    booted = Counter((boot.block, boot.arm) for boot in plan(seed, blocks=blocks))
    assert set(booted.values()) == {1}
    assert len(booted) == blocks * len(ARMS)


def test_the_same_seed_gives_the_same_plan() -> None:
    assert plan(seed=5) == plan(seed=5)


def test_seeds_and_hosts_differ_in_their_order() -> None:
    assert plan(seed=5, blocks=16) != plan(seed=6, blocks=16)
    assert plan(host="alpha", blocks=16) != plan(host="beta", blocks=16)


def test_no_arm_keeps_its_place_over_many_blocks() -> None:
    first = {boot.arm for boot in plan(blocks=40) if boot.order == 1}
    assert first == set(ARMS)


def test_more_blocks_leave_earlier_ones_as_they_were() -> None:
    assert plan(blocks=8)[:12] == plan(blocks=4)
