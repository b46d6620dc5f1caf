"""The events and processors that come with the project."""

from __future__ import annotations

from functools import cache

from mitigauge.analysis.prices.processors import processors_of
from mitigauge.analysis.profiles.exact.table import PriceList
from mitigauge.measurement.catalog import Catalog


@cache
def price_list() -> PriceList:
    """Read once: files of the project do not change while it runs."""
    catalog = Catalog()
    return PriceList(catalog.events, processors_of(catalog))
