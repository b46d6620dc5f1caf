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

from mitigauge.analysis.prices.definitions import BranchKind, Processor
from mitigauge.analysis.prices.prediction import Prediction, predicted
from mitigauge.core.field_types import Closed, Name, Text

Doubles = NDArray[np.float64]
DRAWS = 20_000
SEED = 1
# Of `price measure`: so many other branches that nothing of what ran before is known.
EMPTIED = "branch-eviction"


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
    behind: dict[BranchKind, float] = Field(default_factory=dict)
    """Different branches of one operation, which a barrier of the operation before may forget."""
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
    forgotten_ns: float | None
    """What an emptied branch predictor costs an operation on this processor; None: not known."""


def ranking(bills: Bills, processor: Processor) -> Ranking:
    """The modes of *bills* on *processor*, predicted."""
    every = [Ranked(mode, predicted(mode.events, processor, bills.behind)) for mode in bills.modes]
    whole = sorted((of for of in every if of.cost.is_whole), key=lambda of: of.cost.ns)
    emptied = processor.aftermath_of(EMPTIED)
    unpriced = [of for of in every if not of.cost.is_whole]
    return Ranking(
        processor,
        whole,
        unpriced,
        _chance([of.cost for of in whole]) if len(whole) > 1 else None,
        [even for of in unpriced for even in _even(of, whole)],
        emptied.of(bills.behind)[0] if emptied and bills.behind else None,
    )


def _chance(costs: Sequence[Prediction]) -> float:
    """The share of draws of all prices in which each mode costs no more than the next one."""
    events = sorted({part.event for cost in costs for part in cost.parts})
    draws = np.random.default_rng(SEED).standard_normal((len(events), DRAWS))
    drawn = dict(zip(events, draws, strict=True))
    totals = [_total(cost, drawn) for cost in costs]
    right = np.ones(DRAWS, dtype=bool)
    for cheaper, dearer in pairwise(totals):
        right &= cheaper <= dearer
    return float(right.mean())


def _total(cost: Prediction, drawn: Mapping[str, Doubles]) -> Doubles:
    """Of each draw. No event makes an operation faster."""
    total: Doubles = np.zeros(DRAWS)
    for part in cost.parts:
        each = part.ns / part.times + drawn[part.event] * part.error / abs(part.times)
        total = total + part.times * np.maximum(0.0, each)
    return total


def _even(of: Ranked, whole: Sequence[Ranked]) -> list[BreakEven]:
    """Against each mode that is priced; of a mode that lacks one price alone."""
    if len(of.cost.missing) != 1:
        return []
    [event] = of.cost.missing
    times = of.mode.events[event]
    evens = [(other, (other.cost.ns - of.cost.ns) / times) for other in whole]
    return [BreakEven(event, of.mode.mode, other.mode.mode, ns) for other, ns in evens if ns > 0]
