"""What a case reports of one metric, as its plan declares it."""

from __future__ import annotations

from dataclasses import dataclass

from mitigauge.core.stats.domain import Domain, domain_of
from mitigauge.core.stats.terms import DELTA_PERCENT, Direction


@dataclass(frozen=True, slots=True)
class CaseMetric:
    """A metric of a case, copied from its workload, so that later edits change nothing."""

    unit: str
    direction: Direction
    title: str
    primary: bool
    """Whether the run's end depends on it."""
    delta_percent: float = DELTA_PERCENT
    """The largest change that is still *same*."""
    counter: bool = False
    """Whether it is absent where a host has no such counter, and stands in the counter table."""
    threads: bool = False
    """Whether it counts wake-ups of the load's own threads in the result's table of threads."""
    domain: Domain | None = None
    """Which values it can have; None in plans that were stored before: what its unit tells."""

    @property
    def possible(self) -> Domain:
        """Which values it can have; any, where neither plan nor unit tells."""
        return self.domain or domain_of(self.unit) or Domain.CHANGE
