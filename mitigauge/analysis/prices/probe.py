"""Prices from a program that times events in user space, on the machine it runs on. Pure.

The program times an operation without an event, without it once more, and with it, in random
order, within one process; a process has one layout of code and memory. A price is the 20 % trimmed
mean over processes of (with - without) / times, each a low quantile of many short samples, with the
interval of a trimmed mean (Tukey and McLaughlin, Sankhya A 25, 1963). The difference between both
ways without is the null: where its interval does not hold 0, and it is over 5 % of the price, the
machine was not calm enough.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import stats

from mitigauge.analysis.prices.definitions import DIGITS, INSTRUCTION, Price, PriceKind, Source
from mitigauge.core.field_types import Closed, Name, Text

Doubles = NDArray[np.float64]
LEVEL = 0.95
TRIMMED = 0.2
# Half an interval, in parts of the price: what is wider is no price.
WIDEST = 0.10
# A null that does not hold 0 spoils a price beyond this part of it.
HARMLESS = 0.05
# A cycle's length may move so much over the processes, in parts of the least.
STEADY = 0.05
# Processes of an event, and the least that tell an interval.
PROCESSES = 12
FEWEST = 5
CHECK = "check-"
# Events of the program under the names that bills have.
BILLED = {"ssbd-switch": "msr-write", "ibpb-msr": "ibpb"}
# What the program times for others to be worked out of.
HELPERS = ("add-free", "add-chained")
# Of the clearing loop as the program has it, 5 x 5 and 12 x 7: taken branches, and instructions.
SHORT, LONG = (57, 105), (182, 317)


class ListedEvent(Closed):
    """An event that the program can time."""

    event: Name
    times: float = Field(gt=0, allow_inf_nan=False)
    """How often one operation has it."""
    pair: Text
    bill: Text = ""
    """Of a check: what it has more of, ``event=times event=times``."""

    @property
    def parts(self) -> dict[str, float]:
        """The bill by event."""
        pairs = (part.split("=") for part in self.bill.split())
        return {event: float(times) for event, times in pairs}


class Way(Closed):
    """Nanoseconds an operation in one way: a low quantile, the least and the median of samples."""

    low: float = Field(gt=0, allow_inf_nan=False)
    least: float = Field(gt=0, allow_inf_nan=False)
    median: float = Field(gt=0, allow_inf_nan=False)


class ProbeRun(Closed):
    """What one process printed."""

    event: Name
    refused: Text = ""
    times: float = Field(1.0, gt=0, allow_inf_nan=False)
    operations: int = 0
    samples: int = 0
    without: Way | None = None
    without_again: Way | None = None
    with_: Way | None = Field(None, alias="with")
    cycle_ns: tuple[float, float] = (0.0, 0.0)
    stolen_ticks: int = 0

    def typical(self) -> ProbeRun:
        """The same by the medians of its samples: what it takes beside the load of now."""
        if self.refused or not (self.with_ and self.without and self.without_again):
            return self
        ways = {
            name: way.model_copy(update={"low": way.median})
            for name, way in (("with_", self.with_), ("without", self.without),
                              ("without_again", self.without_again))
        }  # fmt: skip
        return self.model_copy(update=ways)

    @property
    def difference(self) -> float:
        """What one event adds, ns."""
        assert self.with_
        assert self.without
        assert self.without_again
        return (self.with_.low - (self.without.low + self.without_again.low) / 2) / self.times

    @property
    def null(self) -> float:
        """What nothing adds, ns."""
        assert self.without
        assert self.without_again
        return (self.without_again.low - self.without.low) / self.times


@dataclass(frozen=True, slots=True)
class Interval:
    """A trimmed mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half its width."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class ProbedEvent:
    """What all processes say of one event: refused, not usable, or a price."""

    event: str
    pair: str
    processes: int
    refused: str = ""
    price: Interval | None = None
    null: Interval | None = None
    unusable: str = ""
    """Why the figure is no price; empty: it is one."""

    @property
    def is_usable(self) -> bool:
        """Whether the figure may stand as a price."""
        return self.price is not None and not self.unusable


def tells(listed: ListedEvent, events: Collection[str]) -> bool:
    """Whether it is of the price of one of *events*, or checks nothing but these."""
    if listed.bill:
        return set(events).issuperset(listed.parts)
    if listed.event in HELPERS:
        return INSTRUCTION in events
    return not {listed.event, BILLED.get(listed.event)}.isdisjoint(events)


def ordered(events: Sequence[str], processes: int, seed: int) -> list[str]:
    """The processes' events in random order: what drifts meets all alike."""
    order = [event for event in events for _ in range(processes)]
    Random(seed).shuffle(order)
    return order


def trimmed_interval(values: Sequence[float]) -> Interval:
    """The 20 % trimmed mean of at least five values, with its 95 % interval."""
    rows: Doubles = np.sort(np.asarray(values, dtype=np.float64))
    n = len(rows)
    cut = int(TRIMMED * n)
    kept = rows[cut : n - cut]
    winsorised = np.clip(rows, kept[0], kept[-1])
    error = float(winsorised.std(ddof=1)) / ((1 - 2 * cut / n) * math.sqrt(n))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(kept) - 1)) * error
    mean = float(kept.mean())
    return Interval(mean, mean - reach, mean + reach)


def summarised(
    listed: ListedEvent, runs: Sequence[ProbeRun], widest: float = WIDEST
) -> ProbedEvent:
    """What the processes of one event say together.

    *widest*: half an interval, in parts of the figure; what is wider is not usable.
    """
    refused = next((run.refused for run in runs if run.refused), "")
    timed = [run for run in runs if not run.refused]
    if refused or len(timed) < FEWEST:
        why = refused or f"{len(timed)} processes ended; {FEWEST} tell an interval"
        return ProbedEvent(listed.event, listed.pair, len(timed), refused=why)
    price = trimmed_interval([run.difference for run in timed])
    null = trimmed_interval([run.null for run in timed])
    why = _unusable(price, null, timed, widest)
    return ProbedEvent(listed.event, listed.pair, len(timed), "", price, null, why)


def _unusable(price: Interval, null: Interval, runs: Sequence[ProbeRun], widest: float) -> str:
    said = []
    if not null.low <= 0 <= null.high and abs(null.mean) > HARMLESS * abs(price.mean):
        said.append(f"nothing adds {null.mean:+.3g} ns [{null.low:+.3g}, {null.high:+.3g}]")
    if price.mean <= 0:
        said.append("the event makes nothing slower")
    elif price.half > widest * price.mean:
        said.append(f"its interval is {100 * price.half / price.mean:.0f} % to each side")
    # One process may meet an accident; two and more are a level of their own.
    told = sorted((run.difference for run in runs), key=lambda ns: abs(ns - price.mean))[:-1]
    off = sum(told) / len(told) / price.mean - 1
    if price.mean > 0 and abs(off) > widest:
        said.append(f"with the processes that the trimmed mean leaves out it is {100 * off:+.0f} %")
    if not said:
        return ""
    return "; ".join([*said, *_disturbances(runs)])


def _disturbances(runs: Sequence[ProbeRun]) -> Iterator[str]:
    """What is known to have been uncalm meanwhile."""
    cycles = [cycle for run in runs for cycle in run.cycle_ns if cycle > 0]
    if cycles and max(cycles) > (1 + STEADY) * min(cycles):
        yield f"cycles of {min(cycles):.3g} to {max(cycles):.3g} ns: the frequency moves"
    stolen = sum(run.stolen_ticks for run in runs)
    if stolen:
        yield f"the hypervisor took the processor away for {stolen} ticks"
    samples = [run.with_ for run in runs if run.with_]
    busy = [way for way in samples if way.median > 1.3 * way.low]
    if 2 * len(busy) > len(samples):
        yield "other load ran beside it"


def prices_of(probed: Sequence[ProbedEvent], source: str) -> list[Price]:
    """The usable ones as prices, and what is worked out of them; *source*: who says so."""
    usable = {each.event: each.price for each in probed if each.is_usable and each.price}
    shown = [
        _price(BILLED.get(event, event), of.mean, of.half, PriceKind.MEASURED, source)
        for event, of in usable.items()
        if event not in HELPERS and not event.startswith(CHECK)
        and BILLED.get(event) not in usable
    ]  # fmt: skip
    measured = {each.event: each.price for each in probed if each.price}
    return [*shown, *_derived(measured, source)]


def _price(event: str, ns: float, reach: float, kind: PriceKind, source: str) -> Price:
    return Price(
        event=event,
        ns=round(max(ns, 0.0), DIGITS),
        low=round(max(ns - reach, 0.0), DIGITS),
        high=round(max(ns + reach, 0.0), DIGITS),
        kind=kind,
        source=Source(title=source),
    )


def _derived(of: Mapping[str, Interval], source: str) -> Iterator[Price]:
    """An instruction's price, and the clearing loop's by call and by branch."""
    free, chained = of.get("add-free"), of.get("add-chained")
    if free is None or chained is None or chained.mean <= 0:
        return
    low, high = max(free.low, 0.0), chained.high
    instruction, reach = (low + high) / 2, (high - low) / 2
    title = f"from none waiting to each waiting for the last, {source}"
    yield _price(INSTRUCTION, instruction, reach, PriceKind.DERIVED, title)
    short, long = of.get("bhb-short"), of.get("bhb-long")
    if short is None or long is None:
        return
    # long = loop + 182 branches + 317 instructions, short likewise with 57 and 105.
    branches, instructions = LONG[0] - SHORT[0], LONG[1] - SHORT[1]
    branch = (long.mean - short.mean - instructions * instruction) / branches
    error = math.hypot(long.half, short.half, instructions * reach) / branches
    loop = short.mean - SHORT[0] * branch - SHORT[1] * instruction
    title = f"of 5 x 5 and 12 x 7 passes, {source}"
    reach = math.hypot(short.half, SHORT[0] * error)
    for event, ns, half in (("bhb-branch", branch, error), ("bhb-loop", loop, reach)):
        if ns > 0:
            yield _price(event, ns, half, PriceKind.DERIVED, title)
