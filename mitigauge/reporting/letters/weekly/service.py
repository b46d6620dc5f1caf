"""Weekly reports: made, stored, read and rendered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import EmailMessage

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.verdicts.noise import note_noise
from mitigauge.core.errors import NotFound
from mitigauge.reporting.deliveries import repository as deliveries
from mitigauge.reporting.letters.weekly import repository
from mitigauge.reporting.letters.weekly.arrangement import arrange
from mitigauge.reporting.letters.weekly.data import Counts, TrendLine, WeekData
from mitigauge.reporting.letters.weekly.document import Document, line_of
from mitigauge.reporting.letters.weekly.html import render_html
from mitigauge.reporting.letters.weekly.mail import mail
from mitigauge.reporting.letters.weekly.reader import gather
from mitigauge.reporting.letters.weekly.tables import WeeklyReport
from mitigauge.reporting.letters.weekly.text import render_markdown, render_text
from mitigauge.reporting.letters.weekly.views import WeeklyLine, WeeklyView
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.storage.database.engine import advisory_lock, database_now, transaction
from mitigauge.storage.database.locks import Lock
from mitigauge.tracking.trends.update import update_quietly

LISTED = 120
# How a delivery of a report is called before its week; how many weeks that were missed are told.
DELIVERY = "weekly-"
MOST_LATE = 8
FORMATS = ("text", "markdown", "html", "json", "mail")


@dataclass(frozen=True, slots=True)
class Report:
    """One week's report as it is stored."""

    data: WeekData
    document: Document
    version: int
    made_at: datetime

    @property
    def week(self) -> Week:
        """Its week."""
        return Week.parse(self.data.week)

    @property
    def dated(self) -> datetime:
        """A moment that follows from the data: the week's end, or the newest figure so far."""
        return self.week.end if self.data.complete else self.data.until or self.week.start

    def mail(
        self, *, sender: str = "", to: Sequence[str] = (), base: str = "", late: bool = False
    ) -> EmailMessage:
        """The report as a mail; *late*: it says that it is. Raises :class:`InvalidInput` for what
        is no address.
        """
        document = self._late if late else self.document
        return mail(document, dated=self.dated, sender=sender, to=to, base=base)

    @property
    def _late(self) -> Document:
        """The document of one whose week went by before it was sent."""
        words = f"Sent late: this week ended on {self.week.end - timedelta(days=1):%Y-%m-%d}, and "
        words += "its report could not be sent in the week after it."
        subject = f"{self.document.subject} (sent late)"
        lead = [line_of(words), *self.document.lead]
        return self.document.model_copy(update={"subject": subject, "lead": lead})

    def rendered(self, form: str, *, base: str = "") -> bytes:
        """The report in one of ``FORMATS``, as a file holds it."""
        if form == "mail":
            return self.mail(base=base).as_bytes().replace(b"\r\n", b"\n")
        if form == "json":
            return self.data.model_dump_json(indent=2).encode() + b"\n"
        if form == "html":
            return render_html(self.document, base=base).encode()
        if form == "markdown":
            return render_markdown(self.document, base=base).encode()
        return render_text(self.document).encode()


@dataclass(frozen=True, slots=True)
class Unsent:
    """A report that somebody should have got; *late*: another week has ended since."""

    report: Report
    late: bool


def make(engine: Engine, week: Week) -> Report:
    """Make the report of *week* from what is stored, and store it.

    Said again, it is left as it is; where a week that is over says something else now, the next
    version is stored beside it.
    """
    note_noise(engine)
    update_quietly(engine)
    with transaction(engine) as session:
        now = database_now(session)
        data = gather(session, week, complete=now >= week.end)
        data = _as_it_was(session, data)
    # Takes seconds for a large fleet, so no transaction is open meanwhile.
    document = arrange(data)
    with transaction(engine) as session:
        return _stored(session, week, data, document, now)


def _as_it_was(session: Session, data: WeekData) -> WeekData:
    """*data* with what is only known as of now as it was when the week's report was first made."""
    before = repository.stored(session, data.week)
    if before is None or not before.complete:
        return data
    first = WeekData.model_validate(before.data)
    decided = {(line.trend_id, line.at): line for line in first.trends}
    trends = [_as_decided(line, decided.get((line.trend_id, line.at))) for line in data.trends]
    return data.model_copy(
        update={
            "regressions": first.regressions, "trends": trends,
            # Who has an experiment judged anew says it of a later week.
            "limits": first.limits,
        }
    )  # fmt: skip


def _as_decided(line: TrendLine, first: TrendLine | None) -> TrendLine:
    """The change with what people had decided of it then."""
    if first is None:
        return line
    then = {"regression": first.regression, "is_new": first.is_new}
    return line.model_copy(update=then)


def _stored(
    session: Session, week: Week, data: WeekData, document: Document, now: datetime
) -> Report:
    body = f"{data.model_dump_json()}\0{document.model_dump_json()}"
    digest = hashlib.sha256(body.encode()).hexdigest()
    before = repository.stored(session, str(week), lock=True)
    if before is not None and before.digest == digest:
        return _report(before)
    version = repository.newest_version(session, str(week)) + 1
    sent_at = None
    if before is not None:
        if before.complete:
            repository.supersede(session, before, now)
        else:
            version, sent_at = before.version, before.sent_at
            session.delete(before)
        session.flush()
    report = WeeklyReport(
        week=str(week),
        version=version,
        complete=data.complete,
        digest=digest,
        data=data.model_dump(mode="json"),
        document=document.model_dump(mode="json"),
        made_at=now,
        sent_at=sent_at,
    )
    session.add(report)
    session.flush()
    audit.record(
        session,
        Action.REPORT_MAKE,
        Subject(SubjectKind.REPORT, report.week),
        after={"version": version, "complete": data.complete, "digest": digest},
    )
    return _report(report)


def _report(row: WeeklyReport) -> Report:
    return Report(
        data=WeekData.model_validate(row.data),
        document=Document.model_validate(row.document),
        version=row.version,
        made_at=row.made_at,
    )


def find(session: Session, week: Week) -> Report:
    """The stored report of *week*. Raises :class:`NotFound` naming those that there are."""
    row = repository.stored(session, str(week))
    if row is None:
        known = ", ".join(each.week for each in repository.listed(session, 5)) or "none yet"
        raise NotFound(
            f"there is no report of week {week}",
            hint=f"Made: {known}. `mitigauge report weekly {week}` makes it.",
        )
    return _report(row)


def default_week(session: Session) -> Week:
    """The last week that is over; where nothing was said in it, the newest that has a verdict."""
    over = Week.of(database_now(session)).earlier()
    newest = repository.newest_verdict_at(session)
    if newest is None or repository.any_verdict(session, over.start, over.end):
        return over
    return Week.of(newest)


def _due_weeks(session: Session) -> list[Week]:
    """The weeks whose reports somebody should have got by now, the oldest first.

    The last one that is over, those since the newest that was sent (up to 8), and those of which
    somebody was begun to be told.
    """
    last = Week.of(database_now(session)).earlier()
    sent = repository.sent_weeks(session)
    begun = [name.removeprefix(DELIVERY) for name in deliveries.open_mails(session, DELIVERY)]
    recent = [str(last.earlier(weeks)) for weeks in range(1, MOST_LATE + 1)]
    missed = [week for week in recent if sent and max(sent) < week]
    return [Week.parse(week) for week in sorted({*begun, *missed, str(last)} - sent)]


def due(session: Session) -> Week | None:
    """The first week that is over, where no final report of it was made and there is anything."""
    if repository.newest_verdict_at(session) is None:
        return None
    for week in _due_weeks(session):
        report = repository.stored(session, str(week))
        if report is None or not report.complete:
            return week
    return None


def make_if_due(engine: Engine) -> Report | None:
    """Make the report of the week that has ended, whichever process comes first; None: not due."""
    with transaction(engine) as session:
        if due(session) is None:
            return None
    with advisory_lock(engine, Lock.WEEKLY) as is_alone:
        if not is_alone:
            return None
        with transaction(engine) as session:
            week = due(session)
        return None if week is None else make(engine, week)


def unsent(session: Session) -> list[Unsent]:
    """Reports that were made and not sent yet, the oldest week first."""
    last = str(Week.of(database_now(session)).earlier())
    rows = [repository.stored(session, str(week)) for week in _due_weeks(session)]
    return [
        Unsent(_report(row), late=row.week != last)
        for row in rows
        if row is not None and row.complete
    ]


def delivery_name(week: str) -> str:
    """What deliveries of a week's report are known by, whatever its version."""
    return f"{DELIVERY}{week}"


def was_sent(session: Session, report: Report) -> None:
    """Write down that the report was handed over."""
    row = repository.stored(session, report.data.week, lock=True)
    if row is not None:
        row.sent_at = database_now(session)


def listed(session: Session) -> list[WeeklyLine]:
    """Reports that were made, the newest week first."""
    return [
        WeeklyLine(
            week=row.week,
            complete=row.complete,
            version=row.version,
            made_at=row.made_at,
            sent_at=row.sent_at,
            in_words=Week.parse(row.week).in_words(),
            new_worse=row.found.get("new worse", 0),
            new_better=row.found.get("new better", 0),
            open_worse=row.found.get("open worse", 0) + row.found.get("resized worse", 0),
            counts=Counts.model_validate(row.counts),
        )
        for row in repository.listed(session, LISTED)
    ]


def show_week(session: Session, week: Week) -> WeeklyView:
    """One report as its page shows it. Raises :class:`NotFound`."""
    report = find(session, week)
    weeks = sorted(line.week for line in repository.listed(session, LISTED))
    at = weeks.index(str(week)) if str(week) in weeks else 0
    return WeeklyView(
        week=str(week),
        in_words=week.in_words(),
        complete=report.data.complete,
        version=report.version,
        made_at=report.made_at,
        before=weeks[at - 1] if at > 0 else None,
        after=weeks[at + 1] if at + 1 < len(weeks) else None,
        document=report.document,
    )
