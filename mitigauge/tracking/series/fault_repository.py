"""SQL of mails and threads that could not be dealt with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.tracking.series.tables import MailFault

MOST_LISTED = 200


def count(session: Session, place: str, name: str, why: str) -> MailFault:
    """One more failure of it; its row, locked."""
    wanted = insert(MailFault).values(
        place=place, name=name, why=why, failures=1, first_at=func.now(), last_at=func.now()
    )
    counted = wanted.on_conflict_do_update(
        index_elements=["place", "name"],
        set_={"failures": MailFault.failures + 1, "why": why, "last_at": func.now()},
    ).returning(MailFault)
    return session.scalars(counted, execution_options={"populate_existing": True}).one()


def forget(session: Session, place: str, name: str) -> None:
    """It was dealt with after all."""
    session.execute(delete(MailFault).where(MailFault.place == place, MailFault.name == name))


def set_aside(session: Session, place: str = "") -> Sequence[MailFault]:
    """The newest 200 that are not tried again, of one place where it is given."""
    wanted = select(MailFault).where(MailFault.set_aside).order_by(MailFault.id.desc())
    if place:
        wanted = wanted.where(MailFault.place == place)
    return session.scalars(wanted.limit(MOST_LISTED)).all()
