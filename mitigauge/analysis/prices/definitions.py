"""Processors and what their events cost, as the files of ``prices/processors/`` tell it."""

from __future__ import annotations

from collections import Counter

from pydantic import Field, model_validator

from mitigauge.core.field_types import Closed, Name, Text

# The price of any instruction that is no event: what counted time takes as 2 ns.
INSTRUCTION = "instruction"
# Half of a 95 % interval of a normal distribution, in standard errors.
Z95 = 1.959964
HIGHEST_NS = 1e9


class Source(Closed):
    """Who says so."""

    title: Text = Field(min_length=1)
    url: Text = ""


class Price(Closed):
    """What one event costs, in nanoseconds, with the 95 % interval of that."""

    event: Name
    ns: float = Field(ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    low: float = Field(ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    high: float = Field(ge=0, le=HIGHEST_NS, allow_inf_nan=False)
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


class Processor(Closed):
    """One file of ``prices/processors/``."""

    processor: Name
    title: Text = Field(min_length=1)
    microarchitecture: Text = ""
    microcode: Text = ""
    misfit_ns: float = Field(0.0, ge=0, le=HIGHEST_NS, allow_inf_nan=False)
    """How far cases lay off the sum of these prices beside all errors; standard deviation."""
    prices: tuple[Price, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _has_one_price_each(self) -> Processor:
        twice = [name for name, n in Counter(p.event for p in self.prices).items() if n > 1]
        if twice:
            raise ValueError(f"two prices of {', '.join(sorted(twice))}: keep the better one")
        return self

    def price_of(self, event: str) -> Price | None:
        """The price of an event; None where it is not known."""
        return next((price for price in self.prices if price.event == event), None)
