"""The audit log. A trigger of its table refuses UPDATE, DELETE and TRUNCATE."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Identity, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from mitigauge.core.actor import Way
from mitigauge.storage.database.base import Base, one_of
from mitigauge.storage.database.enum_column import EnumWord

# The longest values, in characters; of what was before and after, in bytes as JSON.
LONGEST_ACTOR, LONGEST_ADDRESS, LONGEST_REQUEST_ID, LONGEST_JOB = 200, 100, 64, 40
LONGEST_SUBJECT, LONGEST_REFUSED, LARGEST_VALUES = 300, 500, 8192


def _at_most(column: str, longest: int) -> CheckConstraint:
    return CheckConstraint(f"length({column}) <= {longest}", name=column)


class AuditEntry(Base):
    """One change, or one that was refused for lack of rights."""

    __tablename__ = "audit_entry"
    __table_args__ = (
        CheckConstraint(one_of("way", Way), name="way"),
        # Not a list of words: what an older or newer version wrote has to stay readable.
        CheckConstraint("action ~ '^[a-z][a-z-]{0,29}\\.[a-z][a-z-]{0,29}$'", name="action"),
        CheckConstraint("subject_kind ~ '^[a-z][a-z-]{0,29}$'", name="subject_kind"),
        _at_most("actor", LONGEST_ACTOR),
        _at_most("address", LONGEST_ADDRESS),
        _at_most("request_id", LONGEST_REQUEST_ID),
        _at_most("job", LONGEST_JOB),
        _at_most("subject", LONGEST_SUBJECT),
        _at_most("refused", LONGEST_REFUSED),
        CheckConstraint(
            f"octet_length(before::text) + octet_length(after::text) <= {2 * LARGEST_VALUES}",
            name="values",
        ),
        Index("ix_audit_entry_at", "at"),
        Index("ix_audit_entry_actor", "actor", "id"),
        Index("ix_audit_entry_action", "action", "id"),
        Index("ix_audit_entry_subject", "subject_kind", "subject", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    actor: Mapped[str]
    way: Mapped[Way] = mapped_column(EnumWord(Way))
    address: Mapped[str]
    request_id: Mapped[str]
    # What a worker acted for: "job 12", "run 5".
    job: Mapped[str]
    action: Mapped[str]
    subject_kind: Mapped[str]
    subject: Mapped[str]
    before: Mapped[dict[str, Any]]
    after: Mapped[dict[str, Any]]
    # Why it was refused; empty: it was done.
    refused: Mapped[str]
