"""Simulated kernels, hosts and boots, of which the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

# Standard deviation of a boot's mean, log units.
SIGMA = 0.007


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the bisections of one table are like; sizes in standard deviations of a boot.

    ``culprits``: how many candidates change the level, each by ``change``. ``walk``: standard
    deviation by which the host's level wanders between two boots. ``wild``: the share of boots
    that scatter ten times as much. ``broken``: the share of points that do not boot. ``equal``: the
    share of candidates that leave the binary as it was. ``stays``: the share of the culprit's
    change that the last end keeps without it; ``None``: no revert is offered. ``misled``: the
    weight of one candidate that is not it, where all others weigh 1.
    """

    name: str
    culprits: int = 1
    change: float = 2.0
    candidates: int = 64
    walk: float = 0.0
    wild: float = 0.0
    broken: float = 0.0
    equal: float = 0.0
    stays: float | None = None
    misled: float = 1.0


@dataclass(slots=True)
class World:
    """One range of candidates and a host. ``boots``: how many were made."""

    scenario: Scenario
    rng: np.random.Generator
    culprits: tuple[int, ...] = ()
    equal: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()
    suspect: int = 0
    level: float = 0.0
    boots: int = 0
    built: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, scenario: Scenario, seed: Sequence[int]) -> World:
        rng = np.random.default_rng(seed)
        count = scenario.candidates
        culprits = np.sort(rng.choice(np.arange(1, count + 1), scenario.culprits, replace=False))
        others = np.setdiff1d(np.arange(1, count + 1), culprits)
        equal = rng.choice(others, round(scenario.equal * count), replace=False)
        between = np.setdiff1d(np.arange(1, count), equal)
        broken = rng.choice(between, round(scenario.broken * count), replace=False)
        return cls(
            scenario,
            rng,
            tuple(culprits.tolist()),
            frozenset(equal.tolist()),
            frozenset(broken.tolist()),
            int(rng.choice(others)) if scenario.misled != 1.0 else 0,
        )

    @property
    def priors(self) -> tuple[float, ...]:
        last = self.scenario.candidates
        weights = {self.suspect: self.scenario.misled} | dict.fromkeys(self.equal, 0.0)
        return tuple(weights.get(k, 1.0) for k in range(1, last + 1))

    def boot(self, point: int, without: int | None = None) -> float:
        """The log of one boot's mean at *point*; the last end + 1 is that end *without* one."""
        self.boots += 1
        self.level += float(self.rng.normal(0.0, 1.0)) * self.scenario.walk
        self.built.add(point)
        spread = 10.0 if self.rng.random() < self.scenario.wild else 1.0
        noise = float(self.rng.normal(0.0, 1.0)) * spread
        steps = float(sum(point >= culprit for culprit in self.culprits))
        if point > self.scenario.candidates and without in self.culprits:
            steps += (self.scenario.stays or 0.0) - 1
        return SIGMA * (self.level + self.scenario.change * steps + noise)
