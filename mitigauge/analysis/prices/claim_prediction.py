"""Published tables, predicted: how often an operation happens x what it costs in a mode. Pure.

A case that does the operation r times a second on each processor, at c ns more in a mode, takes
1 + r c / 1e9 times as long. Rates of an emulated host are brought to a real one by what the
operation itself takes on both: the share of its time that a case spends on the operation is taken
as the same. That is the weakest part, and its range is in each interval, which are quantiles of
draws of the prices, the rate and that ratio, each drawn once for the whole table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy import stats

from mitigauge.analysis.claims.files import ClaimEntry, ClaimFile
from mitigauge.analysis.prices.definitions import Z95, Price, Processor
from mitigauge.analysis.prices.prediction import Prediction, predicted
from mitigauge.analysis.prices.ranking import Bills
from mitigauge.core.field_types import Closed, Name, Text
from mitigauge.measurement.workloads.definitions import Value

Doubles = NDArray[np.float64]
DRAWS = 4000
SEED = 1
# Published changes of less are no difference: figures are rounded. Percent.
LEAST_PERCENT = 1.0
# Half of the last digit of a published figure, percent.
ROUNDED = 0.05


class Pace(Closed):
    """What the operation itself takes where it was counted, and on a real processor. ns."""

    there_ns: float = Field(gt=0, allow_inf_nan=False)
    here_ns: float = Field(gt=0, allow_inf_nan=False)
    low: float = Field(gt=0, allow_inf_nan=False)
    high: float = Field(gt=0, allow_inf_nan=False)
    source: Text

    @model_validator(mode="after")
    def _lies_in_its_range(self) -> Pace:
        if not self.low <= self.here_ns <= self.high:
            raise ValueError(f"{self.here_ns:g} ns is not within {self.low:g} to {self.high:g}")
        return self


class Rate(Closed):
    """How often a case does the operation."""

    case: dict[str, Value] = Field(default_factory=dict)
    """As the claim has it; empty where `note` tells the claim."""
    note: Text = ""
    per_second: float = Field(gt=0, allow_inf_nan=False)
    low: float = Field(gt=0, allow_inf_nan=False)
    high: float = Field(gt=0, allow_inf_nan=False)
    processors: int = Field(1, ge=1, le=4096)
    """Those that share the operations: a guest's virtual ones."""
    beside: float = Field(0.0, gt=-100, le=0, allow_inf_nan=False)
    """Percent that the claim has beside: of what all its cells have."""


class Rates(Closed):
    """One file of ``prices/rates/``: how often the cases of a published table do an operation."""

    rates: Name
    claims: Name
    bills: Name
    modes: dict[Text, Name]
    """The claims' modes by the bills'; for a claim that no mode makes, its reason."""
    processors: tuple[Name, ...] = Field(min_length=1, max_length=10)
    """Whose prices are taken, each for what the ones before have no price of."""
    host: Text
    """Where they were counted."""
    source: Text
    pace: Pace | None = None
    """None: they are of a real host."""
    cases: tuple[Rate, ...] = Field(min_length=1, max_length=500)


@dataclass(frozen=True, slots=True)
class PredictedClaim:
    """A published figure beside the predicted one, percent."""

    claim: ClaimEntry
    mode: str
    rate: Rate
    percent: float
    low: float
    high: float
    missing: Sequence[str]
    """Events without a price: nothing is predicted."""
    needed: float | None
    """Operations a second of each processor that would make the published figure at these prices;
    None: no number of them does."""

    @property
    def is_told(self) -> bool:
        """Whether the published figure is a difference."""
        return max(abs(self.claim.low), abs(self.claim.high)) > LEAST_PERCENT

    @property
    def is_right(self) -> bool:
        """Whether both have one sign."""
        return self.percent * (self.claim.low + self.claim.high) > 0

    @property
    def holds(self) -> bool:
        """Whether the published figure lies in the interval."""
        return self.low <= self.claim.high and self.claim.low <= self.high


@dataclass(frozen=True, slots=True)
class Agreement:
    """How predictions and published figures of one mode agree."""

    mode: str
    cells: int
    told: int
    """Published with a difference."""
    right: int
    """Of them, those whose direction is right."""
    rival: int
    """Of them, those that are right where everything is said to be slower."""
    holds: int
    """Of all, those whose published figure lies in the interval."""
    rank: float | None
    """Spearman's correlation of predicted and published; None: fewer than five cells."""


def one_of(processors: Sequence[Processor]) -> Processor:
    """The first one, with the prices of the next where it lacks them."""
    if len(processors) == 1:
        return processors[0]
    prices: dict[str, Price] = {}
    for processor in reversed(processors):
        prices |= {price.event: price for price in processor.prices}
    return Processor(
        processor="-or-".join(each.processor for each in processors)[:63],
        title=", and where that has no price ".join(each.title for each in processors)[:200],
        misfit_percent=max(each.misfit_percent for each in processors),
        misfit_ns=max(each.misfit_ns for each in processors),
        prices=tuple(prices.values()),
    )


def predicted_claims(
    rates: Rates, claims: ClaimFile, bills: Bills, processor: Processor
) -> list[PredictedClaim]:
    """Every claim whose case has a rate and whose mode has a bill."""
    costs = {mode.mode: predicted(mode.events, processor, bills.behind) for mode in bills.modes}
    draws = _Draws(costs, rates)
    base = rates.modes.get(claims.baseline)
    found = []
    for claim in claims.claims:
        mode = rates.modes.get(claim.mode or claim.without)
        rate = next((rate for rate in rates.cases if _is_of(rate, claim)), None)
        if mode is None or rate is None:
            continue
        missing = [*costs[mode].missing, *(costs[base].missing if base else ())]
        values = draws.change(rate, mode, base) if not missing else np.zeros(1)
        middle, low, high = np.quantile(values, [0.5, 0.025, 0.975])
        needed = (
            None if missing else _needed(claim, rate, costs[mode], costs[base] if base else None)
        )
        found.append(
            PredictedClaim(
                claim, mode, rate, float(middle), float(low), float(high), missing, needed
            )
        )
    return found


def _needed(
    claim: ClaimEntry, rate: Rate, cost: Prediction, base: Prediction | None
) -> float | None:
    """The rate at which (1 + r base) / (1 + r cost) is what was published."""
    published = (1 + (claim.low + claim.high) / 200) / (1 + rate.beside / 100)
    below = published * cost.ns - (base.ns if base else 0.0)
    found = (1 - published) / (below * 1e-9) if below else 0.0
    return found if found > 0 else None


def _is_of(rate: Rate, claim: ClaimEntry) -> bool:
    return rate.case == claim.case if rate.case else claim.note.startswith(rate.note)


class _Draws:
    """Prices, the pace and rates, drawn for a whole table."""

    def __init__(self, costs: Mapping[str, Prediction], rates: Rates) -> None:
        self._chance = np.random.default_rng(SEED)
        events = sorted({part.event for cost in costs.values() for part in cost.parts})
        shared = {event: self._chance.standard_normal(DRAWS) for event in events}
        self._costs = {
            mode: sum(
                (part.times * np.maximum(
                    0.0, part.ns / part.times + shared[part.event] * part.error / abs(part.times))
                 for part in cost.parts),
                start=np.zeros(DRAWS),
            )
            for mode, cost in costs.items()
        }  # fmt: skip
        pace = rates.pace
        self._scale = (
            pace.there_ns / self._drawn(pace.here_ns, pace.low, pace.high) if pace else 1.0
        )

    def _drawn(self, middle: float, low: float, high: float) -> Doubles:
        """Lognormal, with *low* to *high* as its 95 %."""
        spread = math.log(high / low) / (2 * Z95)
        return middle * np.exp(spread * self._chance.standard_normal(DRAWS))

    def change(self, rate: Rate, mode: str, base: str | None) -> Doubles:
        """Percent of throughput more in *mode* than in *base*; None: without any of them."""
        each = self._drawn(rate.per_second, rate.low, rate.high) * 1e-9 / rate.processors
        slower = 1 + each * self._scale * self._costs[mode]
        slower_base = 1 + each * self._scale * self._costs[base] if base else 1.0
        return 100 * ((1 + rate.beside / 100) * slower_base / slower - 1)


def implied_claims(
    rows: Sequence[PredictedClaim], reference: str, costs: Mapping[str, float]
) -> list[PredictedClaim]:
    """The other modes' cells, predicted from the published cell of mode *reference* beside each.

    How often a case does the operation then follows from the published figure, and no rate of ours
    is in it. *costs*: ns of one operation by mode. Rows whose reference says that nothing is lost
    are left out: nothing can be told from them. The interval is only of rounding to 0.1 %.
    """
    beside = {(str(row.claim.case), row.claim.note): row for row in rows if row.mode == reference}
    found = []
    for row in rows:
        pair = beside.get((str(row.claim.case), row.claim.note))
        if row.mode == reference or row.missing or pair is None or pair.needed is None:
            continue
        slower = [
            (1 + row.rate.beside / 100) * 100 / (1 + times * pair.needed * costs[row.mode] * 1e-9)
            - 100
            for times in _rounding(pair)
        ]
        found.append(replace(row, percent=slower[1], low=min(slower), high=max(slower)))
    return found


def _rounding(of: PredictedClaim) -> tuple[float, float, float]:
    """What a published figure may be by its last digit, in parts of itself."""
    size = max(abs(of.claim.low + of.claim.high) / 2, ROUNDED)
    return max(0.0, 1 - ROUNDED / size), 1.0, 1 + ROUNDED / size


def agreement(rows: Sequence[PredictedClaim]) -> list[Agreement]:
    """By mode, over the rows that are predicted."""
    modes = dict.fromkeys(row.mode for row in rows)
    return [
        _agreement(mode, told)
        for mode in modes
        if (told := [row for row in rows if row.mode == mode and not row.missing])
    ]


def _agreement(mode: str, rows: Sequence[PredictedClaim]) -> Agreement:
    told = [row for row in rows if row.is_told]
    published = [(row.claim.low + row.claim.high) / 2 for row in rows]
    rank = stats.spearmanr(published, [row.percent for row in rows]) if len(rows) >= 5 else None
    return Agreement(
        mode=mode,
        cells=len(rows),
        told=len(told),
        right=sum(row.is_right for row in told),
        rival=sum(row.claim.low + row.claim.high < 0 for row in told),
        holds=sum(row.holds for row in rows),
        rank=None if rank is None else float(rank.statistic),
    )
