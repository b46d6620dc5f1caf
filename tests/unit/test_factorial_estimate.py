"""Costs of knobs out of boots: right, joint, and honest where boots are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mitigauge.core.stats import factorial
from mitigauge.core.stats.factorial import BootPoint, Cost, FactorialEstimate, estimate
from mitigauge.measurement.experiments.factorial import design_of

KNOBS = tuple(f"k{i}" for i in range(8))
PAIRS = (("k0", "k1"), ("k2", "k3"), ("k4", "k5"))
POINTS = design_of(KNOBS, PAIRS).points


class MadeHost:
    """A host whose costs are known: ns for each knob, ns more for each pair."""

    def __init__(self, seed: int, *, noise: float) -> None:
        self.random = np.random.default_rng(seed)
        self.costs = self.random.exponential(100.0, len(KNOBS))
        self.costs[0] = 7000.0
        self.extra = self.random.normal(0.0, 50.0, len(PAIRS))
        self.noise = noise

    def level(self, high: tuple[bool, ...]) -> float:
        on = np.array(high)
        both = [on[KNOBS.index(a)] and on[KNOBS.index(b)] for a, b in PAIRS]
        return float(1000.0 + self.costs @ on + self.extra @ np.array(both))

    def boots(self, blocks: int) -> list[BootPoint]:
        return [
            BootPoint(
                point.high,
                block,
                self.level(point.high) * np.exp(self.random.normal(0, self.noise)),
            )
            for block in range(blocks)
            for point in POINTS
        ]

    def truth(self) -> list[float]:
        """A knob's cost on the average over the others has half of each of its pairs."""
        knobs = self.costs.copy()
        for (a, b), extra in zip(PAIRS, self.extra, strict=True):
            knobs[KNOBS.index(a)] += extra / 2
            knobs[KNOBS.index(b)] += extra / 2
        together = self.costs.sum() + self.extra.sum()
        return [*knobs, *self.extra, together]


def costs_of(found: FactorialEstimate) -> list[Cost]:
    """What :meth:`MadeHost.truth` has; eight knobs in 16 arms leave nothing to be unexplained."""
    assert found.together
    assert found.unexplained is None
    return [*found.knobs.values(), *found.pairs.values(), found.together]


def held(found: FactorialEstimate, truth: list[float]) -> bool:
    return all(
        cost.low is not None and cost.high is not None and cost.low <= true <= cost.high
        for cost, true in zip(costs_of(found), truth, strict=True)
    )


def test_without_noise_every_cost_is_the_true_one() -> None:
    host = MadeHost(1, noise=0.0)
    found = estimate(KNOBS, PAIRS, host.boots(1))
    values = [cost.value for cost in costs_of(found)]
    assert values == pytest.approx(host.truth(), abs=1e-6)
    assert found.base == pytest.approx(1000.0)
    assert found.unknown == []


@pytest.mark.parametrize(("blocks", "noise"), [(1, 0.01), (2, 0.01), (2, 0.03)])
def test_joint_intervals_hold_in_a_thousand_simulations(blocks: int, noise: float) -> None:
    """Eight knobs in 16 boots a block; beside it what intervals for one cost at a time reach."""
    hosts = [MadeHost(seed, noise=noise) for seed in range(1000)]
    boots = [host.boots(blocks) for host in hosts]
    found = [estimate(KNOBS, PAIRS, each) for each in boots]
    joint = np.mean([held(one, host.truth()) for one, host in zip(found, hosts, strict=True)])
    assert joint >= 0.94
    # Student's own t: what the intervals would be if each were looked at by itself.
    single = [
        held(shrunk(one), host.truth()) for one, host in zip(found[:300], hosts[:300], strict=True)
    ]
    assert np.mean(single) < 0.9


def test_interactions_that_nobody_asked_for_do_not_make_intervals_too_narrow() -> None:
    """Three pairs beyond those of the design cost up to 5 % each, the same in all four blocks."""
    knobs, hosts = 0, [MadeHost(seed, noise=0.002) for seed in range(300)]
    for seed, host in enumerate(hosts):
        random = np.random.default_rng(seed)
        more = [
            (tuple(random.choice(8, 2, replace=False)), random.normal(0, 30.0)) for _ in range(3)
        ]
        boots = [
            replace(boot, mean=boot.mean + sum(c for (a, b), c in more
                    if (boot.high[a] == boot.high[b])))
            for boot in host.boots(4)
        ]  # fmt: skip
        found, truth = estimate(KNOBS, PAIRS, boots), host.truth()
        knobs += all(
            cost.low is not None and cost.high is not None and cost.low <= true <= cost.high
            for cost, true in zip(found.knobs.values(), truth, strict=False)
        )
    assert knobs / len(hosts) >= 0.94


def shrunk(found: FactorialEstimate) -> FactorialEstimate:
    """The same with each interval at 95 % by itself."""
    names = 2 + len(KNOBS) + len(PAIRS)
    joint = factorial.dunnett.critical_value(0.05, found.df, (0.0,) * names)
    share = factorial.dunnett.critical_value(0.05, found.df, (0.0,)) / joint

    def narrowed(cost: Cost) -> Cost:
        assert cost.high is not None
        reach = (cost.high - cost.value) * share
        return Cost(cost.value, cost.value - reach, cost.value + reach)

    assert found.together
    return replace(
        found,
        knobs={name: narrowed(cost) for name, cost in found.knobs.items()},
        pairs={name: narrowed(cost) for name, cost in found.pairs.items()},
        together=narrowed(found.together),
    )


def test_what_seven_knobs_leave_unexplained_is_told() -> None:
    knobs = KNOBS[:7]
    points = design_of(knobs, ()).points
    boots = [
        BootPoint(p.high, block, 1000.0 + 10.0 * sum(p.high) + 40.0 * all(p.high))
        for block in range(2)
        for p in points
    ]
    found = estimate(knobs, (), boots)
    assert found.together
    assert found.unexplained
    assert found.together.value == pytest.approx(110.0)
    sums = sum(cost.value for cost in found.knobs.values())
    assert found.unexplained.value == pytest.approx(110.0 - sums)
    assert found.furthest is not None
    assert abs(found.furthest[1]) > found.scatter > 1.0


def test_blocks_that_differ_do_not_widen_the_intervals() -> None:
    host = MadeHost(3, noise=0.001)
    boots = host.boots(2)
    slower = [replace(boot, mean=boot.mean + 500.0 * boot.block) for boot in boots]
    one, other = (estimate(KNOBS, PAIRS, each).knobs["k4"] for each in (boots, slower))
    assert one.value == pytest.approx(other.value, rel=0.2)
    assert one.high is not None
    assert other.high is not None
    assert other.high - other.value < 2 * (one.high - one.value)


def test_one_arm_that_never_was_in_force_leaves_the_others_told() -> None:
    host = MadeHost(4, noise=0.0)
    boots = [boot for boot in host.boots(1) if boot.high != POINTS[5].high]
    found = estimate(KNOBS, PAIRS, boots)
    assert [cost.value for cost in costs_of(found)] == pytest.approx(host.truth(), abs=1e-6)


def test_a_knob_that_was_never_in_force_is_unknown_and_the_others_are_not() -> None:
    host = MadeHost(5, noise=0.0)
    boots = [boot for boot in host.boots(2) if not boot.high[6]]
    found = estimate(KNOBS, PAIRS, boots)
    assert "k6" in found.unknown
    assert "k6" not in found.knobs
    assert found.together is None
    assert found.knobs["k7"].value == pytest.approx(host.truth()[7], abs=1e-6)


def test_no_boots_and_as_many_boots_as_unknowns_have_no_intervals() -> None:
    nothing = estimate(KNOBS, PAIRS, [])
    assert nothing.base is None
    assert nothing.knobs == {}
    few = design_of(("a", "b"), (("a", "b"),)).points
    found = estimate(
        ("a", "b"), (("a", "b"),), [BootPoint(p.high, 0, 1.0 + i) for i, p in enumerate(few)]
    )
    assert found.df == 0
    assert found.knobs["a"].low is None


def test_values_that_are_not_positive_are_weighed_alike() -> None:
    points = design_of(("a", "b"), ()).points
    boots = [
        BootPoint(p.high, block, 5.0 * p.high[0] - 2.0 + 0.01 * block)
        for block in range(2)
        for p in points
    ]
    assert estimate(("a", "b"), (), boots).knobs["a"].value == pytest.approx(5.0)
