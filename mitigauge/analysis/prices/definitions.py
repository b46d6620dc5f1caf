"""Processors and what their events cost, as the files of ``prices/processors/`` tell it."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from mitigauge.core.field_types import Closed, Name, Text

# The price of any instruction that is no event: what counted time takes as 2 ns.
INSTRUCTION = "instruction"
# Half of a 95 % interval of a normal distribution, in standard errors.
Z95 = 1.959964
HIGHEST_NS = 1e9
MOST_MACHINES = 200
# A processor is trusted whose held-out operations were predicted so: this share within the first,
# all within the second, in parts of what was measured.
TRUSTED_SHARE, NEAR, FAR = 0.8, 0.15, 0.30
# What mixed sets behind an event may be off their prediction, in parts of what was measured.
WORKING_SET_OFF = 0.25
# Digits behind the point of a price in ns.
DIGITS = 4

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class PriceKind(StrEnum):
    """How a price is known."""

    MEASURED = "measured"
    """Timed on such a processor by a program of ours, or on its hosts."""
    DERIVED = "derived"
    """Worked out of measured ones."""
    PUBLISHED = "published"
    """As somebody else has it."""


class Source(Closed):
    """Who says so."""

    title: Text = Field(min_length=1)
    url: Text = ""


class Price(Closed):
    """What one event costs, in nanoseconds, with the 95 % interval of that."""

    event: Name
    ns: float = Field(gt=0, le=HIGHEST_NS, allow_inf_nan=False)
    low: float = Field(ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    high: float = Field(ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    kind: PriceKind = PriceKind.MEASURED
    source: Source

    @model_validator(mode="after")
    def _lies_in_its_interval(self) -> Price:
        if not self.low <= self.ns <= self.high:
            raise ValueError(f"{self.ns:g} ns is not within {self.low:g} to {self.high:g}")
        return self

    @property
    def error(self) -> float:
        """Standard error, ns."""
        return (self.high - self.low) / (2 * Z95)


class Identity(Closed):
    """What a processor says of itself, and what its flags say of that."""

    vendor: Text
    family: int = Field(ge=0)
    model: int = Field(ge=0)
    stepping: int = Field(ge=0)
    name: Text
    caches: Text = ""
    """``L1d 48K, L2 1024K, L3 32768K``."""
    flags: Digest
    """SHA-256 of its flags in order."""
    masked: Text = ""
    """Which flags no processor of that model has; empty: they agree."""
    cores: Text = ""
    """Of a hybrid processor: the kind of core, as the kernel calls it."""

    @property
    def file_name(self) -> str:
        """Of its file, without the suffix."""
        vendor = {"AuthenticAMD": "amd", "GenuineIntel": "intel"}.get(self.vendor, "other")
        number = f"{vendor}-{self.family}-{self.model}-{self.stepping}"
        return f"{number}-{self.cores}" if self.cores else number


class HeldOut(Closed):
    """An operation that no price was made of: what prices say of it, and what it took. ns."""

    check: Name
    what: Text
    bill: dict[Name, float] = Field(max_length=100)
    predicted: float = Field(allow_inf_nan=False)
    measured: float = Field(gt=0, allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)

    @property
    def off(self) -> float:
        """How far the prediction is off, in parts of what was measured."""
        return self.predicted / self.measured - 1


class BranchKind(StrEnum):
    """What a working set has so many of."""

    INDIRECT = "indirect"
    """Jumps and calls whose target is read from a register or memory."""
    TAKEN = "taken"
    """Other jumps that are taken."""
    RETURNS = "returns"
    """Calls with their returns."""


class Refill(Closed):
    """What each branch of one kind costs more when it runs first behind an event, ns."""

    branches: BranchKind
    ns: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    ceiling: int = Field(ge=1, le=1 << 20)
    """Branches from which more of them cost no more, or no larger number was tried."""


class WorkingSet(Closed):
    """What runs behind an event and was not used for its refills. ns an event."""

    branches: dict[BranchKind, int]
    predicted: float = Field(allow_inf_nan=False)
    measured: float = Field(allow_inf_nan=False)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)

    @property
    def off(self) -> float:
        """How far the prediction is off, in parts of what was measured."""
        return self.predicted / self.measured - 1 if self.measured else 0.0


class Aftermath(Closed):
    """What an event costs those who run behind it: so much once, and so much a branch."""

    event: Name
    """As bills call it; `branch-eviction` is in no bill: 65,536 other branches."""
    once: float = Field(allow_inf_nan=False)
    """With no branch behind it, the event itself included, ns."""
    refills: tuple[Refill, ...] = Field(max_length=len(BranchKind))
    working_sets: tuple[WorkingSet, ...] = Field((), max_length=20)

    @property
    def is_usable(self) -> bool:
        """Whether it tells every mixed set within :data:`WORKING_SET_OFF`; not so without one."""
        return bool(self.working_sets) and all(
            abs(each.off) <= WORKING_SET_OFF for each in self.working_sets
        )

    def of(self, branches: Mapping[BranchKind, float]) -> tuple[float, float]:
        """What so many branches behind it cost more, and the standard error of that, ns."""
        times = [min(branches.get(each.branches, 0), each.ceiling) for each in self.refills]
        ns = sum(each.ns * n for each, n in zip(self.refills, times, strict=True))
        errors = [(each.high - each.low) / (2 * Z95) * n
                  for each, n in zip(self.refills, times, strict=True)]  # fmt: skip
        return ns, math.hypot(*errors)


class Machine(Closed):
    """What one machine with the processor gave, at one time."""

    machine: Name
    at: date
    microcode: Text = ""
    kernel: Text = ""
    is_virtual: bool = False
    program: Digest
    """SHA-256 of the program's sources."""
    cycle_ns: float = Field(gt=0, allow_inf_nan=False)
    """Of a chain of additions, the least."""
    prices: tuple[Price, ...] = Field(max_length=100)
    refused: dict[Name, Text] = Field(default_factory=dict, max_length=100)
    """Events that cannot be had there, with the reason."""
    checks: tuple[HeldOut, ...] = Field((), max_length=100)
    aftermaths: tuple[Aftermath, ...] = Field((), max_length=20)
    digest: str = ""
    """Of all other fields, so that a figure that was changed by hand is noticed."""

    def own_digest(self) -> str:
        """What :attr:`digest` must be."""
        # Without defaults, so that a field that comes later changes no digest of today.
        body = self.model_dump(mode="json", exclude={"digest"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

    @property
    def is_trusted(self) -> bool:
        """Whether its prices predict what they were not made of; not so without a check."""
        off = [abs(check.off) for check in self.checks]
        near = sum(each <= NEAR for each in off)
        return bool(off) and near >= TRUSTED_SHARE * len(off) and max(off) <= FAR

    @model_validator(mode="after")
    def _is_as_it_was_written(self) -> Machine:
        if self.digest and self.digest != self.own_digest():
            raise ValueError(f"the figures of machine {self.machine} are not those of its digest")
        return self


def combined(machines: Iterable[Machine]) -> dict[str, tuple[float, float, float]]:
    """ns, low, high of each event over all machines: their spread is part of the price."""
    by_event: dict[str, list[Price]] = {}
    for machine in machines:
        for price in machine.prices:
            by_event.setdefault(price.event, []).append(price)
    return {
        event: (
            round(sum(price.ns for price in prices) / len(prices), DIGITS),
            min(price.low for price in prices),
            max(price.high for price in prices),
        )
        for event, prices in by_event.items()
    }


class Processor(Closed):
    """One file of ``prices/processors/``."""

    processor: Name
    title: Text = Field(min_length=1)
    microarchitecture: Text = ""
    microcode: Text = ""
    misfit_ns: float = Field(0.0, ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    """How far cases lay off the sum of these prices beside all errors; standard deviation."""
    misfit_percent: float = Field(0.0, ge=0, le=1000, allow_inf_nan=False)
    """How far an event's cost lies off its price elsewhere than where it was measured, likewise."""
    identity: Identity | None = None
    machines: tuple[Machine, ...] = Field((), max_length=MOST_MACHINES)
    prices: tuple[Price, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _has_one_price_each(self) -> Processor:
        twice = [name for name, n in Counter(p.event for p in self.prices).items() if n > 1]
        if twice:
            raise ValueError(f"two prices of {', '.join(sorted(twice))}: keep the better one")
        return self

    @model_validator(mode="after")
    def _agrees_with_its_machines(self) -> Processor:
        if [m.machine for m in self.machines if not m.digest]:
            raise ValueError("a machine without a digest: `mitigauge price measure` writes it")
        told = combined(self.machines)
        own = {price.event: price for price in self.prices}
        for event, figures in told.items():
            price = own.get(event)
            if price is None or (price.ns, price.low, price.high) != figures:
                raise ValueError(f"the price of {event} is not what its machines gave")
        return self

    def aftermath_of(self, event: str) -> Aftermath | None:
        """What *event* costs those behind it, of the newest machine that tells it."""
        told = [of for machine in self.machines for of in machine.aftermaths if of.event == event]
        return told[-1] if told else None

    def price_of(self, event: str) -> Price | None:
        """The price of an event; None where it is not known."""
        return next((price for price in self.prices if price.event == event), None)


def paced(processor: Processor, factor: float) -> Processor:
    """The processor with each price times *factor*: what it costs beside other load."""
    prices = tuple(
        price.model_copy(
            update={name: getattr(price, name) * factor for name in ("ns", "low", "high")}
        )
        for price in processor.prices
    )
    return processor.model_copy(update={"prices": prices})
