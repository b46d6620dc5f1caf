"""The flame graph with exact totals of an experiment's case."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.graph import graph_payload
from mitigauge.reporting.pages.exact import counted_groups
from mitigauge.reporting.pages.profiles import case_sides


def exact_graph(session: Session, a: Selection, b: Selection, *, merged: bool) -> bytes:
    """Both selections: totals of their exact counts, shape of the samples of the same boots' host.

    Raises :class:`NotFound` where either has no counts or no samples, saying why.
    """
    counted = counted_groups(session, a, b)
    return graph_payload(session, case_sides(session, a, b, system="host"), counted, merged=merged)
