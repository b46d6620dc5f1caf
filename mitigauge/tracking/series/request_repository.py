"""SQL of requests that came by mail."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import timedelta

from sqlalchemy import ColumnElement, Engine, cast, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.storage.database.engine import advisory_lock, database_now
from mitigauge.storage.database.locks import Lock
from mitigauge.tracking.series.request import RequestKind
from mitigauge.tracking.series.states import RequestState, RevisionState
from mitigauge.tracking.series.tables import Series, SeriesRequest, SeriesRevision

MOST_LISTED = 500


def alone(engine: Engine) -> AbstractContextManager[bool]:
    """Whether nobody else deals with mails, and nobody will until the block's end."""
    return advisory_lock(engine, Lock.REQUESTS)


def by_message_id(session: Session, message_id: str) -> SeriesRequest | None:
    """The request of that mail, locked."""
    wanted = select(SeriesRequest).where(SeriesRequest.message_id == message_id)
    return session.scalars(wanted.with_for_update()).one_or_none()


def by_id(session: Session, request_id: int) -> SeriesRequest | None:
    """One request, locked."""
    wanted = select(SeriesRequest).where(SeriesRequest.id == request_id)
    return session.scalars(wanted.with_for_update()).one_or_none()


def is_signature_known(session: Session, signature: str) -> bool:
    """Whether what is signed so was dealt with."""
    wanted = select(SeriesRequest.id).where(SeriesRequest.signature == signature)
    return session.scalars(wanted.limit(1)).one_or_none() is not None


def listed(session: Session, state: str = "") -> list[SeriesRequest]:
    """The newest 500 requests, of one state where it is given."""
    wanted = select(SeriesRequest).order_by(SeriesRequest.id.desc()).limit(MOST_LISTED)
    return list(session.scalars(wanted.where(SeriesRequest.state == state) if state else wanted))


def count_of_sender(session: Session, sender: str, within: timedelta) -> int:
    """Requests of a sender that came so lately and were not set aside."""
    now = database_now(session)
    wanted = select(func.count()).where(
        SeriesRequest.sender == sender,
        SeriesRequest.received_at.between(now - within, now),
        SeriesRequest.state != RequestState.WAITING,
    )
    return int(session.scalar(wanted) or 0)


def count_waiting(session: Session) -> int:
    """Requests that wait for a person."""
    wanted = select(func.count()).where(SeriesRequest.state == RequestState.WAITING)
    return int(session.scalar(wanted) or 0)


def revision_answered(session: Session, ids: Sequence[str]) -> SeriesRevision | None:
    """The revision of which one of these mails is; the first id that is of one decides."""
    if not ids:
        return None
    patches = cast(SeriesRevision.patches, JSONB)
    of_patch = [patches.contains([{"message_id": each}]) for each in ids]
    wanted = (
        select(SeriesRevision)
        .where(SeriesRevision.retest == "", or_(SeriesRevision.message_id.in_(ids), *of_patch))
        # A refused one and a whole one may have the same mail.
        .order_by(SeriesRevision.state == RevisionState.REFUSED, SeriesRevision.id.desc())
    )
    found = session.scalars(wanted).all()
    for each in ids:
        for revision in found:
            if each in (revision.message_id, *(p.message_id for p in revision.patches)):
                return revision
    return None


def lock_series(session: Session, series_id: int) -> Series:
    """A series, locked against another who would add a revision."""
    return session.get_one(Series, series_id, with_for_update=True)


def _stops() -> ColumnElement[bool]:
    """Rows that say *no more answers*, and were not taken back."""
    return (SeriesRequest.asked == RequestKind.STOP) & SeriesRequest.state.in_(
        (RequestState.ACCEPTED, RequestState.DONE)
    )


def stopped_by(session: Session, series_id: int) -> str:
    """Who asked that a series is not answered any more; empty: nobody."""
    wanted = (
        select(SeriesRequest.sender)
        .join(SeriesRevision, SeriesRequest.revision_id == SeriesRevision.id)
        .where(_stops(), SeriesRevision.series_id == series_id)
    )
    return session.scalars(wanted.limit(1)).one_or_none() or ""


def stopped(session: Session) -> set[str]:
    """Addresses that asked for no more answers."""
    return set(session.scalars(select(SeriesRequest.sender).where(_stops())))


def unanswered(session: Session) -> list[int]:
    """Ids of requests whose sender may be owed an answer, the oldest first."""
    owed = (SeriesRequest.state == RequestState.ACCEPTED) | (
        (SeriesRequest.state == RequestState.REFUSED) & SeriesRequest.receipt_at.is_(None)
    )
    return list(session.scalars(select(SeriesRequest.id).where(owed).order_by(SeriesRequest.id)))


def is_over(session: Session, experiment_id: int | None) -> bool:
    """Whether an experiment came to its end, whatever that was."""
    wanted = select(Experiment.state).where(Experiment.id == experiment_id)
    return session.scalar(wanted) in FINAL_STATES
