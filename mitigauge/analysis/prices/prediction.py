"""What a counted change costs on a processor whose prices are known. Pure.

The cost is Σ Δn × price over events and instructions; prices are taken as independent of each
other, so that the squared standard error is Σ (Δn × error)², with the squares of how far cases lay
off the sum of the prices, and each event off its price, where these are known. A prediction is
neither measured nor counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.analysis.prices.definitions import (
    Z95,
    Aftermath,
    BranchKind,
    Price,
    Processor,
)

# Of an event's name, where its part is what it costs those who run behind it.
BEHIND = "-aftermath"


@dataclass(frozen=True, slots=True)
class Part:
    """What one event adds."""

    event: str
    times: float
    """More of it an operation, or fewer."""
    ns: float
    error: float
    source: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """Nanoseconds an operation more, with the 95 % interval; of the parts that have a price."""

    processor: str
    ns: float
    low: float
    high: float
    parts: Sequence[Part]
    missing: Sequence[str]
    """Events that differ and have no price there: the cost without them."""

    @property
    def is_whole(self) -> bool:
        """Whether every event that differs has a price."""
        return not self.missing


def predicted(
    change: Mapping[str, float],
    processor: Processor,
    behind: Mapping[BranchKind, float] | None = None,
) -> Prediction:
    """What *change* costs: events and instructions an operation more, by name.

    *behind*: different branches that run behind each event before it happens again. Where the
    processor's file tells what an event makes it forget, that is a part of its own.
    """
    parts: list[Part] = []
    missing = []
    for event, times in change.items():
        if not times:
            continue
        price = processor.price_of(event)
        if price is None:
            missing.append(event)
            continue
        parts.append(
            Part(
                event,
                times,
                times * price.ns,
                abs(times) * error_of(price, processor),
                price.source.title,
            )
        )
        aftermath = processor.aftermath_of(event)
        if aftermath and behind:
            parts.append(_aftermath_part(aftermath, times, behind, processor))
    ns = sum(part.ns for part in parts)
    off = processor.misfit_ns if parts else 0.0
    reach = Z95 * math.sqrt(sum(part.error**2 for part in parts) + off**2)
    return Prediction(processor.processor, ns, ns - reach, ns + reach, parts, missing)


def _aftermath_part(
    of: Aftermath, times: float, behind: Mapping[BranchKind, float], processor: Processor
) -> Part:
    ns, error = of.of(behind)
    off = ns * processor.misfit_percent / 100
    return Part(
        f"{of.event}{BEHIND}", times, times * ns, abs(times) * math.hypot(error, off),
        f"branches that run first behind {of.event}",
    )  # fmt: skip


def error_of(price: Price, processor: Processor) -> float:
    """Standard error of what one event costs in a place of its own, ns."""
    return math.hypot(price.error, price.ns * processor.misfit_percent / 100)
