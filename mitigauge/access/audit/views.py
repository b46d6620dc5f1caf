"""Reading the audit log, a page at a time or whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.access.audit import repository
from mitigauge.access.audit.repository import AuditFilter
from mitigauge.access.audit.schemas import AuditEntryView, AuditPage

PAGE_SIZE: Final = 50
LARGEST_PAGE: Final = 500


def list_entries(
    session: Session, wanted: AuditFilter, *, before: int | None = None, limit: int = PAGE_SIZE
) -> AuditPage:
    """A page of entries, the newest first; *before*: older than the entry of that number."""
    rows = repository.newest(session, wanted, before=before, limit=limit + 1)
    entries = [AuditEntryView.model_validate(row) for row in rows[:limit]]
    return AuditPage(entries=entries, next_before=entries[-1].id if len(rows) > limit else None)


def export_entries(session: Session) -> Iterator[AuditEntryView]:
    """All entries, the oldest first."""
    return (AuditEntryView.model_validate(row) for row in repository.oldest_first(session))
