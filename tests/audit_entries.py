"""Entries of the audit log, for tests."""

from __future__ import annotations

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.access.audit.tables import AuditEntry


def entries(engine: Engine, action: str = "") -> list[AuditEntry]:
    """All entries, or those of an action, the oldest first."""
    wanted = select(AuditEntry).order_by(AuditEntry.id)
    if action:
        wanted = wanted.where(AuditEntry.action == action)
    with Session(engine, expire_on_commit=False) as session:
        return list(session.scalars(wanted))
