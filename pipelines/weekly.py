"""The weekly report, made when a week is over, and sent to whom the settings name."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.reporting.letters.weekly import service
from mitigauge.reporting.letters.weekly.service import Unsent
from mitigauge.storage.database.engine import transaction
from pipelines.adapters.mail import receivers_of
from pipelines.mail_post import post

log = get_logger(__name__)


def report_week(engine: Engine, settings: Settings) -> None:
    """Make the reports of weeks that have ended, if nobody did, and send those that were not.

    Safe to call often, from any number of processes: each receiver is handed a week's report at
    most once. What its server did not take is tried again at the next call; a week that went by
    meanwhile is sent late, and says so.
    """
    while (made := service.make_if_due(engine)) is not None:
        log.info("weekly report", week=made.data.week, subject=made.document.subject)
    if settings.weekly_receivers and settings.mail_server and settings.mail_from:
        with transaction(engine) as session:
            wanted = service.unsent(session)
        for each in wanted:
            _send(engine, settings, each)


def _send(engine: Engine, settings: Settings, unsent: Unsent) -> None:
    report, week = unsent.report, unsent.report.data.week
    mail = report.mail(
        sender=settings.mail_from,
        to=settings.weekly_receivers,
        base=settings.public_url.rstrip("/"),
        late=unsent.late,
    )
    standing = post(
        engine, service.delivery_name(week), mail, receivers_of(mail), settings.mail_server,
        encrypted=settings.mail_encrypted,
    )  # fmt: skip
    if standing.why_not:
        log.warning("weekly report not sent to all", week=week, reason=standing.why_not)
    if not standing.is_open:
        with transaction(engine) as session:
            service.was_sent(session, report)
        log.info("weekly report sent", week=week, late=unsent.late)
