"""The page of prices: what files say of processors, and modes ranked by it."""

from __future__ import annotations

from mitigauge.reporting.pages.price_processors import TRUST_RULE, processors_like
from mitigauge.reporting.pages.price_rankings import rankings_on
from mitigauge.reporting.pages.price_schemas import Prices


def prices(model: str = "") -> Prices:
    """Everything that is known of processors with *model* in what they are called; empty: all."""
    processors = processors_like(model)
    return Prices(
        processors=processors,
        trust_rule=TRUST_RULE,
        rankings=rankings_on({each.processor for each in processors}),
    )
