"""The counted boots of one side of a comparison, and why there are none. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mitigauge.errors import NotFound
from mitigauge.profiles.diff.sides import Selection
from mitigauge.profiles.exact.ledger import Ledger


@dataclass(frozen=True, slots=True)
class CountedGroup:
    """The boots of one side: their ledgers, and why others have none."""

    label: str
    of: Selection
    ledgers: Sequence[Ledger]
    missing: Sequence[str]


def require_counted(*groups: CountedGroup) -> None:
    """Raise :class:`NotFound` where one has no counts."""
    why = why_none(groups)
    if why:
        raise NotFound(why, hint="Start the lab with the plugin, and take a workload that marks.")


def why_none(groups: Sequence[CountedGroup]) -> str:
    """Why one of *groups* has no counts; empty where all have some."""
    without = [group.label for group in groups if not group.ledgers]
    if not without:
        return ""
    reasons = dict.fromkeys(reason for group in groups for reason in group.missing)
    why = "; ".join(reasons) or (
        "only the first boots on emulated hosts in counted time have them, of workloads that can "
        "mark their operations (docs/exact.md)"
    )
    return f"No exact counts of {' and '.join(without)}: {why}."
