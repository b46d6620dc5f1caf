"""Claims by the cell that each is about. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView

# Case, metric, host, arm.
Place = tuple[int, str, str, int]
ClaimsByPlace = Mapping[Place, Sequence[tuple[ClaimSourceView, ClaimView]]]


def by_place(claims: Sequence[ClaimSourceView]) -> ClaimsByPlace:
    """Those that are about a cell, each with its source; the others are left out."""
    found: dict[Place, list[tuple[ClaimSourceView, ClaimView]]] = {}
    for source in claims:
        for claim in source.claims:
            if claim.case_id is not None and claim.arm_id is not None:
                place = (claim.case_id, claim.metric, claim.host, claim.arm_id)
                found.setdefault(place, []).append((source, claim))
    return found
