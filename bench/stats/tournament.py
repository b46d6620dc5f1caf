"""Tournaments of variants beside round robins: right answers and what they take. Simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mitigauge.core.stats.tournament import tournament

ARMS = 16
MARGIN = 0.01
# Of a layout, and of what moves all arms of a round alike; parts of what an arm costs.
LAYOUT_NOISE, ROUND_NOISE = 0.02, 0.01
_Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True, slots=True)
class Field:
    """What arms cost beyond the best, and how they scatter."""

    costs: _Draw
    degrees: float | None = None
    """Of Student's t; None: normal."""
    uneven: bool = False
    """Whether arms scatter from half to twice as far."""


def _spread(low: float, high: float, best: int = 1) -> _Draw:
    return lambda rng: np.r_[np.zeros(best), rng.uniform(low, high, ARMS - best)]


FIELDS: Mapping[str, Field] = MappingProxyType({
    "one best, others 0.5 to 20 % more": Field(_spread(0.005, 0.20)),
    "one best, others 1 to 3 % more": Field(_spread(0.01, 0.03)),
    "three alike, others 1 to 20 % more": Field(_spread(0.01, 0.20, best=3)),
    "all alike": Field(lambda _rng: np.zeros(ARMS)),
    "0.5 to 20 %, Student's t of 3 degrees": Field(_spread(0.005, 0.20), degrees=3),
    "0.5 to 20 %, uneven scatter": Field(_spread(0.005, 0.20), uneven=True),
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of many tournaments. *right*: the winner is within the margin of the best."""

    right: float
    measured: float
    of_round_robin: float
    """Measurements beside those of the same number of rounds in which nobody drops out."""
    evenly: float
    """Right, where as many measurements are spread evenly and the least mean is taken."""
    decided: float


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Values of arms by round."""

    rng: np.random.Generator
    costs: np.ndarray
    scatter: np.ndarray
    moved: np.ndarray
    degrees: float | None

    def __call__(self, arm: str, at: int) -> float:
        noise = self.rng.standard_t(self.degrees) if self.degrees else self.rng.normal()
        return float(self.costs[int(arm)] + self.moved[at] + self.scatter[int(arm)] * noise)


def outcome_of(field: Field, times: int, seed: int) -> Outcome:
    """Simulate *times* tournaments of 16."""
    right = measured = robin = evenly = decided = 0
    for number in range(times):
        rng = np.random.default_rng([seed, number])
        costs = field.costs(rng)
        scatter = LAYOUT_NOISE * (rng.uniform(0.5, 2.0, ARMS) if field.uneven else np.ones(ARMS))
        moved = rng.normal(0, ROUND_NOISE, 1000)

        draw = _Drawn(rng, costs, scatter, moved, field.degrees)
        found = tournament([str(arm) for arm in range(ARMS)], draw, margin=MARGIN)
        right += costs[int(found.winner)] <= MARGIN
        measured += found.measured
        robin += ARMS * found.rounds
        decided += found.is_decided
        each = max(1, found.measured // ARMS)
        means = [np.mean([draw(str(arm), at) for at in range(each)]) for arm in range(ARMS)]
        evenly += costs[int(np.argmin(means))] <= MARGIN
    return Outcome(
        right / times, measured / times, measured / robin, evenly / times, decided / times
    )


def lines(times: int, seed: int) -> Iterator[str]:
    """The table, a line a field."""
    yield (
        f"Tournaments of {ARMS}, {times} each, {100 * LAYOUT_NOISE:g} % a layout, margin "
        f"{100 * MARGIN:g} %: right is within the margin of the best"
    )
    yield (
        f"{'':<40} {'right':>7} {'evenly':>7} {'measured':>9} {'of round robin':>15} {'decided':>8}"
    )
    for name, field in FIELDS.items():
        found = outcome_of(field, times, seed)
        yield (
            f"{name:<40} {100 * found.right:7.1f} {100 * found.evenly:7.1f} {found.measured:9.1f} "
            f"{100 * found.of_round_robin:14.1f}% {100 * found.decided:7.1f}%"
        )
