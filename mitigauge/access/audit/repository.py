"""SQL of the audit log: entries are read, and never altered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from mitigauge.access.audit.tables import AuditEntry

# Read at once where all are wanted.
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted: what is empty or None asks for nothing.

    *since* and *until*: from the one on, before the other.
    """

    actor: str = ""
    action: str = ""
    subject_kind: str = ""
    subject: str = ""
    since: datetime | None = None
    until: datetime | None = None
    refused: bool | None = None

    @property
    def conditions(self) -> list[ColumnElement[bool]]:
        """The same in SQL."""
        words = {
            AuditEntry.actor: self.actor,
            AuditEntry.action: self.action,
            AuditEntry.subject_kind: self.subject_kind,
            AuditEntry.subject: self.subject,
        }
        found = [column == word for column, word in words.items() if word]
        if self.since is not None:
            found.append(AuditEntry.at >= self.since)
        if self.until is not None:
            found.append(AuditEntry.at < self.until)
        if self.refused is not None:
            found.append((AuditEntry.refused != "") == self.refused)
        return found


def newest(
    session: Session, wanted: AuditFilter, *, before: int | None, limit: int
) -> list[AuditEntry]:
    """Entries, the newest first; *before*: older than that one."""
    query = select(AuditEntry).where(*wanted.conditions)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return list(session.scalars(query.order_by(AuditEntry.id.desc()).limit(limit)))


def oldest_first(session: Session) -> Iterator[AuditEntry]:
    """All entries that are there now, the oldest first, read in parts."""
    last = session.scalar(select(func.max(AuditEntry.id))) or 0
    after = 0
    while True:
        query = select(AuditEntry).where(AuditEntry.id > after, AuditEntry.id <= last)
        rows = session.scalars(query.order_by(AuditEntry.id).limit(CHUNK)).all()
        if not rows:
            return
        yield from rows
        after = rows[-1].id
        # They are not wanted any more, however many there are.
        session.expunge_all()


def count(session: Session, wanted: AuditFilter) -> int:
    """How many there are."""
    return (
        session.scalar(select(func.count()).select_from(AuditEntry).where(*wanted.conditions)) or 0
    )
