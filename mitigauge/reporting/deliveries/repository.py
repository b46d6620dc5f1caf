"""SQL of deliveries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.reporting.deliveries.states import OPEN, DeliveryState
from mitigauge.reporting.deliveries.tables import MailDelivery
from mitigauge.storage.database.waits import began_before


def lose(session: Session, mail: str, ago: timedelta) -> None:
    """What somebody began so long *ago* and never ended: nobody knows what came of it."""
    session.execute(
        update(MailDelivery)
        .where(
            MailDelivery.mail == mail,
            MailDelivery.state == DeliveryState.BEGUN,
            began_before(MailDelivery.begun_at, ago),
        )
        .values(state=DeliveryState.UNKNOWN, said="whoever sent it ended before it was noted")
    )


def begin(session: Session, mail: str, receivers: Iterable[str], now: datetime) -> set[str]:
    """Those of *receivers* for whom this caller, and nobody else, hands it over now."""
    rows = [
        {"mail": mail, "receiver": each, "state": DeliveryState.BEGUN, "begun_at": now}
        for each in sorted(set(receivers))
    ]
    if not rows:
        return set()
    wanted = insert(MailDelivery).values(rows)
    again = {"state": DeliveryState.BEGUN, "begun_at": now, "tries": MailDelivery.tries + 1}
    claimed = wanted.on_conflict_do_update(
        index_elements=["mail", "receiver"],
        set_=again,
        where=MailDelivery.state == DeliveryState.LATER,
    ).returning(MailDelivery.receiver)
    return set(session.scalars(claimed))


def end(session: Session, mail: str, receiver: str, state: str, said: str, now: datetime) -> None:
    """Note what came of one that this caller began."""
    session.execute(
        update(MailDelivery)
        .where(
            MailDelivery.mail == mail,
            MailDelivery.receiver == receiver,
            MailDelivery.state == DeliveryState.BEGUN,
        )
        .values(state=state, said=said, ended_at=now)
    )


def of(session: Session, mail: str) -> Sequence[MailDelivery]:
    """All receivers of a mail."""
    wanted = select(MailDelivery).where(MailDelivery.mail == mail).order_by(MailDelivery.receiver)
    return session.scalars(wanted.execution_options(populate_existing=True)).all()


def open_mails(session: Session, prefix: str) -> list[str]:
    """Mails whose name begins so and that some receiver may still get."""
    wanted = select(MailDelivery.mail).where(
        MailDelivery.mail.startswith(prefix, autoescape=True), MailDelivery.state.in_(OPEN)
    )
    return list(session.scalars(wanted.distinct().order_by(MailDelivery.mail)))
