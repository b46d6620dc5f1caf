"""The counted boots of one side of a comparison, and why there are none. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.bill import Entry, bill_of
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.operation import (
    Key,
    LineRuns,
    Operation,
    OperationTotals,
    operation_of,
)
from mitigauge.measurement.modes.families import HardwareEvent


class Counted(Protocol):
    """What the counted boots of one side tell."""

    @property
    def operation(self) -> OperationTotals:
        """What each operation runs."""

    def bill(self, events: Mapping[str, HardwareEvent]) -> Mapping[str, Entry]:
        """How often an operation does each of *events*, in their order."""

    def lines_of(self, function: Key) -> Sequence[LineRuns]:
        """The instructions of a function; none of one that is not known."""


class CountedBoots:
    """The same, computed from the ledgers of at least one boot."""

    def __init__(self, ledgers: Sequence[Ledger]) -> None:
        self._ledgers = ledgers

    @cached_property
    def operation(self) -> Operation:
        """What each operation runs."""
        return operation_of(self._ledgers)

    def bill(self, events: Mapping[str, HardwareEvent]) -> Mapping[str, Entry]:
        """How often an operation does each of *events*, in their order."""
        return bill_of(self.operation, events)

    def lines_of(self, function: Key) -> Sequence[LineRuns]:
        """The instructions of a function; none of one that is not known."""
        found = self.operation.functions.get(function)
        return found.lines if found else ()


@dataclass(frozen=True, slots=True)
class CountedGroup:
    """The boots of one side: what they counted, and why others have no counts."""

    label: str
    of: Selection
    counted: Counted | None
    missing: Sequence[str]


def why_none(groups: Sequence[CountedGroup]) -> str:
    """Why one of *groups* has no counts; empty where all have some."""
    without = [group.label for group in groups if group.counted is None]
    if not without:
        return ""
    reasons = dict.fromkeys(reason for group in groups for reason in group.missing)
    why = "; ".join(reasons) or (
        "only the first boots on emulated hosts in counted time have them, of workloads that can "
        "mark their operations (docs/exact.md)"
    )
    return f"No exact counts of {' and '.join(without)}: {why}."
