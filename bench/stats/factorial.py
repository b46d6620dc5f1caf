"""Knobs turned together beside one knob after the other, in as many boots. Simulated.

Eight knobs of known cost, noise in proportion to the level. The rival boots `none` and each knob
alone in turn, and has Student's interval for each of them with Bonferroni's share of α.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mitigauge.core.stats import special
from mitigauge.core.stats.factorial import BootPoint, estimate
from mitigauge.measurement.experiments.factorial import design_of

KNOBS = tuple(f"k{i}" for i in range(8))
POINTS = design_of(KNOBS, ()).points
BLOCKS = 2
BOOTS = BLOCKS * len(POINTS)
NOISE = 0.01
BASE = 1000.0


@dataclass(frozen=True, slots=True)
class Reached:
    """Over all simulated hosts: how often all intervals hold, and what the estimates are off by."""

    joint: float
    error: float
    """Root mean square, in the unit."""
    width: float
    """Half of an interval, the mean."""


def together(costs: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Estimates and half intervals of a factorial design."""
    found = list(estimate(KNOBS, (), _boots(costs, random)).knobs.values())
    half = [cost.high - cost.value for cost in found if cost.high is not None]
    return np.array([cost.value for cost in found]), np.array(half)


def one_by_one(costs: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same of one knob after the other against none, in as many boots."""
    arms = [tuple(i == knob for i in range(len(KNOBS))) for knob in range(-1, len(KNOBS))]
    each = [BOOTS // len(arms) + (place < BOOTS % len(arms)) for place in range(len(arms))]
    values = [
        np.array([_boot(costs, arm, random) for _ in range(count)])
        for arm, count in zip(arms, each, strict=True)
    ]
    means = np.array([value.mean() for value in values])
    df = BOOTS - len(arms)
    share = sum(((value / value.mean() - 1) ** 2).sum() for value in values) / df
    errors = np.sqrt(share) * means / np.sqrt(each)
    reach = special.stdtrit(df, 1 - 0.025 / len(KNOBS))
    return means[1:] - means[0], reach * np.hypot(errors[1:], errors[0])


def _boots(costs: np.ndarray, random: np.random.Generator) -> list[BootPoint]:
    """All boots of the design."""
    return [
        BootPoint(point.high, block, _boot(costs, point.high, random))
        for block in range(BLOCKS)
        for point in POINTS
    ]


def _boot(costs: np.ndarray, high: Sequence[bool], random: np.random.Generator) -> float:
    return float((BASE + costs @ np.array(high)) * np.exp(random.normal(0.0, NOISE)))


def reached(way: str, hosts: int, seed: int) -> Reached:
    """What a *way* reaches on so many made hosts."""
    ways = {"together": together, "one by one": one_by_one}
    held, squares, widths = 0, [], []
    for host in range(hosts):
        random = np.random.default_rng([seed, host])
        costs = random.exponential(100.0, len(KNOBS))
        values, half = ways[way](costs, random)
        held += bool((np.abs(values - costs) <= half).all())
        squares.append(np.square(values - costs).mean())
        widths.append(half.mean())
    return Reached(held / hosts, float(np.sqrt(np.mean(squares))), float(np.mean(widths)))


def lines(hosts: int, seed: int) -> Iterator[str]:
    """The table, with ratios to the rival."""
    yield f"Eight knobs in {BOOTS} boots, 1 % noise, {hosts} made hosts"
    yield f"  {'way':<12} {'all hold':>9} {'error':>8} {'± interval':>11}"
    found = {way: reached(way, hosts, seed) for way in ("together", "one by one")}
    for way, of in found.items():
        yield f"  {way:<12} {100 * of.joint:8.1f}% {of.error:8.2f} {of.width:11.2f}"
    ours, rival = found.values()
    yield (
        f"  one by one has {rival.error / ours.error:.2f} × the error and "
        f"{rival.width / ours.width:.2f} × the interval: it takes "
        f"{(rival.error / ours.error) ** 2:.1f} × the boots"
    )
    yield f"  one metric of {BOOTS} boots: {seconds_a_metric() * 1e3:.2f} ms"


def seconds_a_metric(count: int = 500) -> float:
    """Processor time of an estimate, once the model of its boots is there."""
    random = np.random.default_rng(0)
    boots = _boots(np.full(len(KNOBS), 100.0), random)
    estimate(KNOBS, (), boots)
    begun = time.process_time()
    for _ in range(count):
        estimate(KNOBS, (), boots)
    return (time.process_time() - begun) / count
