"""Writing entries: one beside each change, in the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy.orm import Session

from mitigauge.access.audit import tables
from mitigauge.access.audit.actions import Action, Subject
from mitigauge.access.audit.tables import AuditEntry
from mitigauge.access.audit.values import bounded, short
from mitigauge.core.actor import Actor, current_actor


def record(
    session: Session,
    action: Action,
    subject: Subject,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    by: str = "",
) -> None:
    """Note what the current actor does. It is stored with the change, or neither is.

    *before* and *after*: what of the subject changes, in few and short values; texts are cut, and
    nothing secret may be among them. *by*: the actor's name where it is only known now.
    """
    actor = replace(current_actor(), name=by) if by else current_actor()
    session.add(_entry(actor, action, subject, before, after))


def record_refusal(session: Session, action: Action, subject: Subject, why: str) -> None:
    """Note that the current actor was refused a change for lack of rights."""
    entry = _entry(current_actor(), action, subject, None, None)
    entry.refused = short(why, tables.LONGEST_REFUSED) or "refused"
    session.add(entry)


def _entry(
    actor: Actor,
    action: Action,
    subject: Subject,
    before: Mapping[str, object] | None,
    after: Mapping[str, object] | None,
) -> AuditEntry:
    return AuditEntry(
        actor=short(actor.name, tables.LONGEST_ACTOR),
        way=actor.way,
        address=short(actor.address, tables.LONGEST_ADDRESS),
        request_id=short(actor.request_id, tables.LONGEST_REQUEST_ID),
        job=short(actor.job, tables.LONGEST_JOB),
        action=action,
        subject_kind=subject.kind,
        subject=short(subject.name, tables.LONGEST_SUBJECT),
        before=bounded(before),
        after=bounded(after),
        refused="",
    )
