"""The weekly report, made when a week is over, and sent to whom the settings name."""

from __future__ import annotations

import structlog
from sqlalchemy import Engine

from mitigauge.database import advisory_lock, transaction
from mitigauge.reports.weekly import service
from mitigauge.settings import Settings
from pipelines.adapters.mail import NotSent, send

log = structlog.get_logger()

# Any fixed number serves; it keeps this lock apart from other advisory ones.
SENDING_LOCK = 7340233


def report_week(engine: Engine, settings: Settings) -> None:
    """Make the report of the week that has ended, if nobody did, and send it, if it was not.

    Safe to call often, from any number of processes. A mail that its server did not take is sent
    again at the next call; one that is sent twice, since the answer was lost, has the same
    message-id, so that receivers show it once.
    """
    made = service.make_if_due(engine)
    if made is not None:
        log.info("weekly report", week=made.data.week, subject=made.document.subject)
    if settings.weekly_receivers and settings.mail_server and settings.mail_from:
        _send(engine, settings)


def _send(engine: Engine, settings: Settings) -> None:
    with advisory_lock(engine, SENDING_LOCK) as is_alone:
        if not is_alone:
            return
        with transaction(engine) as session:
            report = service.unsent(session)
        if report is None:
            return
        mail = report.mail(
            sender=settings.mail_from,
            to=settings.weekly_receivers,
            base=settings.public_url.rstrip("/"),
        )
        try:
            send(mail, settings.mail_server, encrypted=settings.mail_encrypted)
        except NotSent as refused:
            log.warning("weekly report not sent", week=report.data.week, reason=refused.message)
            return
        with transaction(engine) as session:
            service.was_sent(session, report)
        log.info("weekly report sent", week=report.data.week, to=settings.weekly_receivers)
