"""Results that go to KCIDB, patchwork and GitHub by themselves."""

from __future__ import annotations

from dataclasses import dataclass

from mitigauge.core.settings import Settings
from mitigauge.reporting.publications import service
from pipelines.jobs.context import JobContext, JobDone, StandingRunner
from pipelines.publishing import Publisher, targets_of

LOOK_S, IDLE_S = 30.0, 600.0
# Of one step, so that it ends soon where a worker is to stop.
MOST = 20


@dataclass(frozen=True)
class PublicationsRunner(StandingRunner):
    """Publishes what was concluded, where any target is set."""

    settings: Settings

    def go_on(self, context: JobContext) -> JobDone:
        """Those that are due, some at a time."""
        targets = targets_of(self.settings)
        if not targets:
            return JobDone(again_in_s=IDLE_S, idle=True)
        with context.transaction() as session:
            made = service.take_in(session, targets)
        publisher, sent = Publisher(context.engine, self.settings), 0
        while sent < MOST and not context.why_to_stop() and publisher.send_next():
            sent += 1
        return JobDone(again_in_s=0.0 if sent == MOST else LOOK_S, idle=not made and not sent)
