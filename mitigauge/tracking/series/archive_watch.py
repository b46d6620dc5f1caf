"""What is known of the archives that are looked at, and of what comes from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.subject import patch_subject
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.waits import has_come
from mitigauge.tracking.series import repository
from mitigauge.tracking.series.feed import Entry
from mitigauge.tracking.series.mail_thread import FoundRevision
from mitigauge.tracking.series.tables import ListArchive

MOST_SEEN = 1000
# Mails of one series come within minutes; what is missing after that does not come.
COMES_WITHIN = timedelta(hours=1)
LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Watched:
    """One watched series: its key, and what its mails are known by in a feed."""

    key: str
    title: str
    titles: frozenset[str]
    senders: frozenset[str]


def watched(session: Session, address: str) -> list[Watched]:
    """The series that are looked for in that archive."""
    return [
        Watched(
            series.key,
            series.title,
            frozenset({series.title, *(r.title for r in series.revisions)}),
            frozenset(r.sender for r in series.revisions if r.sender),
        )
        for series in repository.watched(session, address)
    ]


def due(session: Session, longest: timedelta) -> list[ListArchive]:
    """Archives of watched series that may be asked now, locked; each has a row after this.

    *longest*: pause between two looks at one that fails.
    """
    now = database_now(session)
    found = []
    for address in repository.watched_archives(session):
        archive = session.get(ListArchive, address, with_for_update=True)
        if archive is None:
            archive = ListArchive(address=address, seen=[], pending={}, failures=0)
            session.add(archive)
        if archive.next_look_at is None or has_come(archive.next_look_at, now, longest):
            found.append(archive)
    session.flush()
    return found


def to_look_at(
    entries: Iterable[Entry], series: Sequence[Watched], seen: Collection[str]
) -> list[Entry]:
    """First mails of revisions that may be of a watched series, and were not dealt with."""
    return [
        entry
        for entry in entries
        if entry.message_id not in seen and _begins(entry) and _may_be_of(entry, series)
    ]


def _begins(entry: Entry) -> bool:
    """Whether it is a cover letter, or the first patch of what has none."""
    subject = patch_subject(entry.subject)
    return subject is not None and subject.position in (0, 1)


def _may_be_of(entry: Entry, series: Sequence[Watched]) -> bool:
    subject = patch_subject(entry.subject)
    title = subject.title if subject else ""
    return any(title in each.titles or entry.sender in each.senders for each in series)


def is_gap(entries: Sequence[Entry], seen: Collection[str]) -> bool:
    """Whether mails may have come and gone between two looks: nothing of the feed was seen."""
    return bool(entries) and not any(entry.message_id in seen for entry in entries)


def gap_until(known: ListArchive, gap: bool, now: datetime) -> datetime | None:
    """Until when its search is asked; None: not at all.

    An archive's search lags behind its feed: one answer without a mail does not say that there is
    none.
    """
    if gap:
        return now + COMES_WITHIN
    until = known.search_until
    return None if until is None or has_come(until, now, COMES_WITHIN) else until


def waits(found: Sequence[FoundRevision], first_seen: datetime, now: datetime) -> bool:
    """Whether mails of these revisions may still be on their way."""
    missing = any("missing" in fault for revision in found for fault in revision.faults)
    return missing and timedelta() <= now - first_seen < COMES_WITHIN


def looked(
    session: Session,
    archive: ListArchive,
    done: Iterable[str],
    waiting: Iterable[str],
    pause_s: float,
) -> None:
    """Note a look that succeeded: *done* are not looked at again, *waiting* are."""
    now = database_now(session)
    archive.seen = [*archive.seen, *done][-MOST_SEEN:]
    archive.pending = {each: archive.pending.get(each, now) for each in waiting}
    archive.failures, archive.error = 0, ""
    archive.looked_at, archive.next_look_at = now, now + timedelta(seconds=pause_s)


def failed(session: Session, archive: ListArchive, why: str, pause_s: float) -> None:
    """Note a look that failed; when to look again."""
    now = database_now(session)
    archive.failures += 1
    archive.error = clean_text(why)[:LONGEST_ERROR]
    archive.looked_at, archive.next_look_at = now, now + timedelta(seconds=pause_s)
