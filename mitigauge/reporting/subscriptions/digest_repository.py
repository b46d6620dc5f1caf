"""SQL of digests: what is to be told to whom, and what was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from mitigauge.reporting.subscriptions.states import (
    DigestState,
    Source,
    SubscriptionKind,
    SubscriptionState,
    TellWay,
)
from mitigauge.reporting.subscriptions.tables import Digest, Notice, Subscription
from mitigauge.storage.database.waits import began_before, column_has_come

OPEN = (DigestState.WAITING, DigestState.BEGUN)


@dataclass(frozen=True, slots=True)
class Target:
    """To whom one digest goes."""

    owner: str
    way: TellWay
    address: str
    at_once: bool
    key_id: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A subscription with something to tell. *since*: when the oldest of it was noticed."""

    subscription: int
    target: Target
    since: datetime


def _concerns() -> ColumnElement[bool]:
    """Whether a notice is one that a subscription is for, which it was not told of."""
    kind, source = Subscription.kind, Notice.source
    of_regressions = source == Source.REGRESSION
    same = Notice.subject == Subscription.subject
    owners = or_(
        Notice.owner == Subscription.owner, Notice.former_owner == Subscription.owner
    )  # fmt: skip
    wanted = or_(
        and_(kind == SubscriptionKind.MY_REGRESSIONS, of_regressions, owners),
        and_(
            kind == SubscriptionKind.NEW_REGRESSIONS,
            of_regressions,
            Notice.is_new,
            Notice.owner == "",
        ),
        and_(kind == SubscriptionKind.CASE, of_regressions, same),
        and_(kind == SubscriptionKind.SERIES, source == Source.SERIES, same),
        and_(
            kind == SubscriptionKind.HOST, source.in_((Source.HOST, Source.FINGERPRINT)), same
        ),
        and_(kind == SubscriptionKind.WEEK, source == Source.WEEK),
    )  # fmt: skip
    is_active = Subscription.state == SubscriptionState.ACTIVE
    return and_(is_active, Notice.id > Subscription.cursor, wanted)


def pending(session: Session) -> list[Pending]:
    """All subscriptions with something to tell."""
    rows = session.execute(
        select(Subscription, func.min(Notice.taken_at))
        .join(Notice, _concerns())
        .group_by(Subscription.id)
        .order_by(Subscription.id)
    )
    return [
        Pending(of.id, Target(of.owner, of.way, of.address, of.at_once, of.key_id), since)
        for of, since in rows
    ]


def notices_for(session: Session, ids: Collection[int], limit: int) -> Sequence[Notice]:
    """What is to be told to any of those subscriptions, each once, the oldest first."""
    concerned = select(Notice.id).join(Subscription, _concerns()).where(Subscription.id.in_(ids))
    wanted = select(Notice).where(Notice.id.in_(concerned)).order_by(Notice.id)
    return list(session.scalars(wanted.limit(limit)))


def count_for(session: Session, ids: Collection[int]) -> int:
    """How many there are of these."""
    asked = select(func.count(func.distinct(Notice.id))).select_from(Subscription)
    return session.scalar(asked.join(Notice, _concerns()).where(Subscription.id.in_(ids))) or 0


def open_targets(session: Session) -> set[tuple[str, TellWay, str]]:
    """Targets with a digest that is not over: they get no other one before."""
    rows = session.execute(
        select(Digest.owner, Digest.way, Digest.address).where(Digest.state.in_(OPEN))
    )
    return {(owner, way, address) for owner, way, address in rows}


def lapse(session: Session, ago: timedelta, said: str) -> list[int]:
    """End what a worker began so long *ago* and never ended; the subscriptions of such webhooks.

    Of mails it is noted elsewhere what came of them, so that these are asked about again.
    """
    begun = (Digest.state == DigestState.BEGUN) & began_before(Digest.begun_at, ago)
    ended = session.scalars(
        update(Digest)
        .where(begun, Digest.way == TellWay.WEBHOOK)
        .values(state=DigestState.UNKNOWN, said=said, ended_at=func.clock_timestamp())
        .returning(Digest.subscriptions)
    )
    lost = [each for subscriptions in ended for each in subscriptions]
    session.execute(
        update(Digest).where(begun, Digest.way == TellWay.MAIL).values(state=DigestState.WAITING)
    )
    return lost


def unserved(session: Session, before: datetime) -> list[Digest]:
    """Those that wait since then, and that no worker ever began."""
    wanted = select(Digest).where(
        Digest.state == DigestState.WAITING, Digest.tries == 0, Digest.made_at < before
    )
    return list(session.scalars(wanted.with_for_update(skip_locked=True)))


def next_due(session: Session, keys: Collection[str], longest_pause: timedelta) -> Digest | None:
    """One whose time has come, under one of those keys, which nobody else gets now."""
    wanted = (
        select(Digest)
        .where(
            Digest.state == DigestState.WAITING,
            column_has_come(Digest.next_at, longest_pause),
            Digest.key_id.in_(keys),
        )
        .order_by(Digest.next_at, Digest.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )  # fmt: skip
    return session.scalars(wanted).one_or_none()


def lock_begun(session: Session, digest_id: int, tries: int) -> Digest | None:
    """One that this caller began at that try; None where somebody ended it since."""
    wanted = select(Digest).where(
        Digest.id == digest_id, Digest.state == DigestState.BEGUN, Digest.tries == tries
    )
    return session.scalars(wanted.with_for_update()).one_or_none()


def forget(session: Session, before: datetime) -> None:
    """Delete those that were over before then."""
    session.execute(delete(Digest).where(Digest.ended_at < before))
