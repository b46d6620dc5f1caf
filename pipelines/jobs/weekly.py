"""The weekly letter: made once a week is over, and sent."""

from __future__ import annotations

from dataclasses import dataclass

from mitigauge.core.settings import Settings
from pipelines.jobs.context import JobContext, JobDone, StandingRunner
from pipelines.weekly import report_week

# How often it is looked whether a week is over.
LOOK_S = 600.0


@dataclass(frozen=True)
class WeeklyRunner(StandingRunner):
    """Makes the letter of a week that is over, and sends it."""

    settings: Settings

    def go_on(self, context: JobContext) -> JobDone:
        """Each letter that is due; one that was made is never made again."""
        report_week(context.engine, self.settings)
        return JobDone(again_in_s=LOOK_S, idle=True)
