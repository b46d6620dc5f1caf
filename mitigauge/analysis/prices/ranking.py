"""Modes ranked by their cost on a processor: bills × prices, with the chance of the order. Pure.

The chance is by simulation: each event's price is drawn once for all modes, as normal around its
figure, so that what modes share falls out; how far whole predictions lay off is drawn for each
mode. A mode without events costs nothing by definition and takes no part. Where a price is missing,
what it would have to be for two modes to cost the same stands in its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from mitigauge.analysis.prices.definitions import BranchKind, Processor
from mitigauge.analysis.prices.kernel_events import KernelEvent
from mitigauge.analysis.prices.prediction import Prediction, predicted
from mitigauge.core.field_types import Closed, Name, Text
from mitigauge.measurement.modes.families import Expectation

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
    in_force: tuple[Text, ...] = Field(
        (), max_length=20, description="modes (family/mode) with this bill, any of which will do"
    )
    states: tuple[Expectation, ...] = Field(
        (), max_length=20, description="states without a mode that show the same"
    )


class Bills(Closed):
    """One file of ``prices/bills/``: modes of one question."""

    bills: Name
    operation: Text
    """What each figure is of: ``exit from a guest to user space``."""
    source: Text
    """Where the numbers were counted."""
    per: tuple[KernelEvent, ...] = ()
    """Events of the kernel at each of which the operation happens; empty: not said."""
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
    """That the order of those that cost anything is the true one.

    None: fewer than two cost anything, or one has no price, so that its place is not known.
    """
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
        None if unpriced else _chance([of.cost for of in whole], processor.misfit_ns),
        [even for of in unpriced for even in _even(of, whole)],
        emptied.of(bills.behind)[0] if emptied and bills.behind else None,
    )


def _chance(costs: Sequence[Prediction], misfit_ns: float) -> float | None:
    """The share of draws of all prices in which each mode costs less than the next; a tie is half.

    *misfit_ns*: by how much whole predictions lay off, a standard deviation. None for fewer than
    two modes that cost anything.
    """
    costly = [cost for cost in costs if cost.parts]
    if len(costly) < 2:
        return None
    events = sorted({part.event for cost in costly for part in cost.parts})
    rng = np.random.default_rng(SEED)
    drawn = dict(zip(events, rng.standard_normal((len(events), DRAWS)), strict=True))
    off = misfit_ns * rng.standard_normal((len(costly), DRAWS))
    totals = [_total(cost, drawn) + each for cost, each in zip(costly, off, strict=True)]
    right = np.ones(DRAWS)
    for cheaper, dearer in pairwise(totals):
        right *= np.where(cheaper == dearer, 0.5, cheaper < dearer)
    return float(right.mean())


def _total(cost: Prediction, drawn: Mapping[str, Doubles]) -> Doubles:
    """Of each draw, ns. Not cut at 0: that would move the middle of what is hardly known."""
    total: Doubles = np.zeros(DRAWS)
    for part in cost.parts:
        total = total + part.ns + math.copysign(part.error, part.times) * drawn[part.event]
    return total


def _even(of: Ranked, whole: Sequence[Ranked]) -> list[BreakEven]:
    """Against each mode that is priced; of a mode that lacks one price alone."""
    if len(of.cost.missing) != 1:
        return []
    [event] = of.cost.missing
    times = of.mode.events[event]
    evens = [(other, (other.cost.ns - of.cost.ns) / times) for other in whole]
    return [BreakEven(event, of.mode.mode, other.mode.mode, ns) for other, ns in evens if ns > 0]
