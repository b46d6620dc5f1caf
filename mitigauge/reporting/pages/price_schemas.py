"""What the page of prices shows: prices by processor, and how often predictions held."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.prices.schemas import CheckRow
from mitigauge.core.clock import Clock


class _Answer(BaseModel):
    """Closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PriceView(_Answer):
    """What one event costs on a processor, ns, with its 95 % interval and who says so."""

    event: str
    title: str
    ns: float
    low: float
    high: float
    source: str
    url: str = Field(description="of the source; empty where it has none")


class ProcessorPrices(_Answer):
    """One file of prices/processors/."""

    processor: str
    title: str
    microarchitecture: str
    microcode: str
    prices: list[PriceView]


class CheckedExperiment(_Answer):
    """An experiment that a check is of."""

    id: int
    name: str


class CheckView(_Answer):
    """How often predictions of a processor's prices held on what one host measured."""

    id: int
    processor: str
    title: str = Field(description="of the processor; its name where its file is gone")
    host: str = Field(description="the one that measured")
    emulated: bool
    clock: Clock
    measured: CheckedExperiment
    counted: CheckedExperiment
    at: datetime
    held: int
    checked: int = Field(description="arms, each against the baseline of its case")
    whole_held: int
    whole: int = Field(description="of them, those where every event has a price")
    signs_right: int
    signs: int = Field(description="of them, those whose measured change is not zero")


class Prices(_Answer):
    """All prices that are known, and the newest checks of them."""

    processors: list[ProcessorPrices]
    checks: list[CheckView] = Field(description="newest first")
    more: int = Field(description="older checks that are not listed")


class CheckRows(_Answer):
    """One check with its rows."""

    check: CheckView
    rows: list[CheckRow]
    left_out: int = Field(description="rows beyond the longest list; the counts have them")
