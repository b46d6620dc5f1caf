"""Archives of mailing lists: looked at now and then for new revisions of watched series."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.core.settings import Settings
from mitigauge.jobs.tables import Job
from mitigauge.tracking.series.order_service import ask_startable
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone, StandingRunner
from pipelines.series_watch import Watcher

# Which archives are due stands in their rows; so often it is asked.
LOOK_S = 10.0


@dataclass(frozen=True)
class ArchivesRunner(StandingRunner):
    """Looks at archives that are due, and has what may run built and measured."""

    settings: Settings

    def go_on(self, context: JobContext) -> JobDone:
        """One look at each archive that is due."""
        said: list[str] = []

        def say(text: str) -> None:
            said.append(text)
            context.say(text)

        interval_s = self.settings.watch_interval_s
        Watcher(builder_of(context), self.settings, say, interval_s).look()

        def apply(session: Session, _job: Job) -> None:
            ask_startable(session)

        return JobDone(apply, again_in_s=LOOK_S, idle=not said)
