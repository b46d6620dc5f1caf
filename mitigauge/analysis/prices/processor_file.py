"""A processor's file for ``prices/processors/``, made of estimated prices. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from mitigauge.analysis.prices.definitions import Z95
from mitigauge.analysis.prices.estimation import Estimate
from mitigauge.analysis.prices.levels import CaseLevels

# Digits after the point of a price in ns.
DIGITS = 4
LINE_WIDTH = 96


def basis(cases: Sequence[CaseLevels]) -> str:
    """What the prices stand on, for people."""
    boots = sum(len(arm.boots) for case in cases for arm in case.arms)
    return f"{len(cases)} cases, {boots} boots' means"


def processor_file(found: Estimate, cases: Sequence[CaseLevels], *, name: str, source: str) -> str:
    """The file's YAML; what has no price stands in comments above it.

    *name*: of the processor. *source*: who says so, the same for all prices.
    """
    below: list[str] = []
    prices = list(_prices(found, source, below))
    comments = [f"# Not told apart: {', '.join(found.unknown)}.\n"] if found.unknown else []
    comments += [f"# Below zero, and left out: {', '.join(below)}.\n"] if below else []
    if not prices:
        return "".join(comments) + f"# {len(cases)} cases tell no price.\n"
    body: dict[str, Any] = {"processor": name, "title": name}
    if found.misfit:
        comments.append(
            f"# Cases lie {found.misfit:.1f} ns off the sum of these prices beside their errors:\n"
            "# an event costs one case more than another, or the bill lacks one.\n"
        )
        # As a normal distribution has it, which is what a prediction takes.
        body["misfit_ns"] = round(found.misfit * found.reach / Z95, DIGITS)
    body["prices"] = prices
    return "".join(comments) + str(yaml.safe_dump(body, sort_keys=False, width=LINE_WIDTH))


def _prices(found: Estimate, source: str, below: list[str]) -> Iterator[dict[str, Any]]:
    """The entries of the file; events whose whole interval lies below zero go to *below*."""
    for i, event in enumerate(found.events):
        ns, reach = float(found.ns[i]), found.reach * float(found.covariance[i, i]) ** 0.5
        if ns + reach <= 0:
            below.append(event)
            continue
        yield {
            "event": event,
            "ns": round(max(ns, 0.0), DIGITS),
            "low": round(max(ns - reach, 0.0), DIGITS),
            "high": round(ns + reach, DIGITS),
            "source": {"title": source},
        }
