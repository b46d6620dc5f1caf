"""Modes ranked by their cost on a processor: bills × prices, with the chance of the order. Pure.

The chance is by simulation: each event's price is drawn once for all modes, as normal around its
figure, so that what modes share falls out. Where a price is missing, what it would have to be for
two modes to cost the same stands in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from mitigauge.analysis.prices.definitions import Processor
from mitigauge.analysis.prices.prediction import Prediction, error_of, predicted
from mitigauge.core.field_types import Closed, Name, Text

Doubles = NDArray[np.float64]
DRAWS = 20_000
SEED = 1


class BillOfMode(Closed):
    """What an operation does more in one mode than in the first."""

    mode: Name
    title: Text
    events: dict[Name, float] = Field(max_length=100)


class Bills(Closed):
    """One file of ``prices/bills/``: modes of one question."""

    bills: Name
    operation: Text
    """What each figure is of: ``exit from a guest to user space``."""
    source: Text
    """Where the numbers were counted."""
    modes: tuple[BillOfMode, ...] = Field(min_length=2, max_length=50)

    @model_validator(mode="after")
    def _names_are_different(self) -> Bills:
        if len({mode.mode for mode in self.modes}) < len(self.modes):
            raise ValueError("two modes of one name")
        return self


@dataclass(frozen=True, slots=True)
class Ranked:
    """A mode with its predicted cost."""

    mode: BillOfMode
    cost: Prediction


@dataclass(frozen=True, slots=True)
class BreakEven:
    """What *event* would have to cost, ns, for *mode* to cost as much as *other*."""

    event: str
    mode: str
    other: str
    ns: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The modes of one question on one processor."""

    processor: Processor
    ranked: Sequence[Ranked]
    """Those whose events all have prices, the cheapest first."""
    unpriced: Sequence[Ranked]
    chance: float | None
    """That the order of :attr:`ranked` is the true one; None: fewer than two have no order."""
    break_even: Sequence[BreakEven]


def ranking(bills: Bills, processor: Processor) -> Ranking:
    """The modes of *bills* on *processor*, predicted."""
    every = [Ranked(mode, predicted(mode.events, processor)) for mode in bills.modes]
    whole = sorted((of for of in every if of.cost.is_whole), key=lambda of: of.cost.ns)
    unpriced = [of for of in every if not of.cost.is_whole]
    return Ranking(
        processor,
        whole,
        unpriced,
        _chance([of.mode for of in whole], processor) if len(whole) > 1 else None,
        [even for of in unpriced for even in _even(of, whole)],
    )


def _chance(modes: Sequence[BillOfMode], processor: Processor) -> float:
    """The share of draws of all prices in which each mode costs no more than the next one."""
    draws = np.random.default_rng(SEED)
    drawn: dict[str, Doubles] = {}
    for event in sorted({event for mode in modes for event in mode.events}):
        price = processor.price_of(event)
        assert price is not None
        drawn[event] = np.maximum(
            0.0, draws.normal(price.ns, error_of(price, processor), size=DRAWS)
        )
    costs = [_cost(mode.events, drawn) for mode in modes]
    right = np.ones(DRAWS, dtype=bool)
    for cheaper, dearer in pairwise(costs):
        right &= cheaper <= dearer
    return float(right.mean())


def _cost(events: Mapping[str, float], drawn: Mapping[str, Doubles]) -> Doubles:
    total: Doubles = np.zeros(DRAWS)
    for event, times in events.items():
        total = total + times * drawn[event]
    return total


def _even(of: Ranked, whole: Sequence[Ranked]) -> list[BreakEven]:
    """Against each mode that is priced; of a mode that lacks one price alone."""
    if len(of.cost.missing) != 1:
        return []
    [event] = of.cost.missing
    times = of.mode.events[event]
    evens = [(other, (other.cost.ns - of.cost.ns) / times) for other in whole]
    return [BreakEven(event, of.mode.mode, other.mode.mode, ns) for other, ns in evens if ns > 0]
