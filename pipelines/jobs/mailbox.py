"""The service's own mailbox: mails that ask for something, and their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.core.settings import Settings
from mitigauge.jobs.tables import Job
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series.order_service import ask_startable
from pipelines.jobs.context import JobContext, JobDone, StandingRunner
from pipelines.series_mail import Desk, Outbox

LOOK_S = 10.0


def outbox_of(settings: Settings) -> Outbox:
    """Where answers go: through the mail server, else into files below the state directory."""
    if settings.mail_server and settings.mail_from:
        return Outbox(
            None, settings.mail_server, settings.mail_from, encrypted=settings.mail_encrypted
        )
    return Outbox(settings.home / "answers", "", settings.mail_from, encrypted=True)


@dataclass(frozen=True)
class MailboxRunner(StandingRunner):
    """Reads mails and answers them."""

    settings: Settings
    _later: dict[int, float] = field(default_factory=dict)

    def go_on(self, context: JobContext) -> JobDone:
        """Deal with what came, and give the answers that are owed."""
        said: list[str] = []

        def say(text: str) -> None:
            said.append(text)
            context.say(text)

        blobs = blob_store(self.settings)
        desk = Desk(
            context.engine,
            blobs,
            self.settings,
            outbox_of(self.settings),
            say,
            context.fence,
            self._later,
        )
        desk.look(Path(self.settings.maildir))
        desk.answer()

        def apply(session: Session, _job: Job) -> None:
            ask_startable(session)

        return JobDone(apply, again_in_s=LOOK_S, idle=not said)
