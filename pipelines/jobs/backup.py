"""Backups: taken when the last one is old enough, read again, and removed by a rule."""

from __future__ import annotations

from dataclasses import dataclass

from mitigauge.core.settings import Settings
from mitigauge.upkeep.backups import service
from pipelines.jobs.context import JobContext, JobDone, StandingRunner

# How often it is looked whether one is due.
LOOK_S = 600.0


@dataclass(frozen=True)
class BackupRunner(StandingRunner):
    """Takes a backup into the settings' directory, and removes those that are too old."""

    settings: Settings

    def go_on(self, context: JobContext) -> JobDone:
        """One backup, if one is due. Raises what ends it; it is tried again then."""
        engine, settings = context.engine, self.settings
        wait = service.seconds_until_due(engine, settings.backup_interval_hours)
        if wait > 0:
            return JobDone(again_in_s=min(wait, LOOK_S), idle=True)

        def progress(words: str) -> None:
            context.require_wanted()
            context.progress(words)

        out = service.place_for(None, settings)
        written = service.take_backup(
            engine, settings, out, scheduled=True, progress=progress, fence=context.fence
        )
        context.say(f"{out}: {service.in_words(written)}")
        for path in service.remove_old(engine, settings, context.fence):
            context.say(f"{path} was old and is removed")
        return JobDone(again_in_s=LOOK_S)
