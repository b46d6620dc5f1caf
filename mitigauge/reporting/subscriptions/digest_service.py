"""From what happened to digests: each thing once, and each digest sent once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.core.hostile_text import clean_text
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.reporting.subscriptions import (
    digest_repository,
    notice_repository,
    notices,
    repository,
    signature,
)
from mitigauge.reporting.subscriptions.digest_repository import Pending, Target
from mitigauge.reporting.subscriptions.lines import DigestLine
from mitigauge.reporting.subscriptions.states import (
    PERIODS,
    DigestState,
    SubscriptionState,
    TellWay,
)
from mitigauge.reporting.subscriptions.tables import Digest, Notice, Subscription
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.waits import has_come

MOST_LINES: Final = 50
# Longer than any sending takes; then whoever began is gone.
LOST_AFTER: Final = timedelta(minutes=10)
GIVE_UP_AFTER: Final = timedelta(days=1)
# A digest that no worker could even begin.
UNSERVED_AFTER: Final = timedelta(days=2)
FIRST_PAUSE: Final = timedelta(minutes=1)
LONGEST_PAUSE: Final = timedelta(hours=4)
KEPT: Final = timedelta(days=30)
LONGEST_SAID: Final = 300


def take_in(session: Session) -> None:
    """Make notices of all that happened since the last time, and keep others from doing so."""
    notice_repository.lock(session)
    while rows := _new_rows(session):
        notice_repository.add(session, rows)


def _new_rows(session: Session) -> list[notices.Row]:
    now = database_now(session)
    aside = (notice_repository.BEGAN, notice_repository.ENDED)
    return [
        *(notices.of_entry(*each) for each in notice_repository.entries(session)),
        *(notices.of_revision(*each, now) for each in notice_repository.revisions(session)),
        *(notices.of_measured(*each, now) for each in notice_repository.measured(session)),
        *(
            notices.of_absence(*each, word)
            for word in aside
            for each in notice_repository.absences(session, word)
        ),
        *(notices.of_fingerprint(*each) for each in notice_repository.fingerprints(session)),
        *(notices.of_week(*each) for each in notice_repository.weeks(session)),
    ]


def make_digests(session: Session) -> list[int]:
    """Make the digests that are due, one a target; their numbers.

    The cursors of their subscriptions are moved with them: both are stored, or neither.
    """
    take_in(session)
    last = notice_repository.last_id(session)
    waiting = digest_repository.pending(session)
    repository.move_cursors(session, last, but=[each.subscription for each in waiting])
    made = [
        _make(session, target, ids, last)
        for target, ids in _due(
            waiting, digest_repository.open_targets(session), database_now(session)
        )
    ]
    session.add_all(made)
    session.flush()
    return [each.id for each in made]


def _due(
    waiting: Iterable[Pending],
    under_way: set[tuple[str, TellWay, str]],
    now: datetime,
) -> list[tuple[Target, list[int]]]:
    """Targets whose time has come, each with all its subscriptions that have something to tell."""
    together: dict[Target, list[Pending]] = defaultdict(list)
    for each in waiting:
        together[each.target].append(each)
    return [
        (target, [each.subscription for each in group])
        for target, group in together.items()
        if (target.owner, target.way, target.address) not in under_way
        and (target.at_once or _is_over(min(each.since for each in group), target, now))
    ]


def _is_over(since: datetime, target: Target, now: datetime) -> bool:
    period = PERIODS[target.way]
    return has_come(since + period, now, period)


def _make(session: Session, target: Target, ids: list[int], last: int) -> Digest:
    told = digest_repository.notices_for(session, ids, MOST_LINES)
    count = digest_repository.count_for(session, ids)
    repository.note(session, ids, cursor=last)
    return Digest(
        owner=target.owner,
        way=target.way,
        address=target.address,
        key_id=target.key_id,
        subscriptions=ids,
        lines=[_line(each) for each in told],
        left_out=count - len(told),
    )


def _line(of: Notice) -> DigestLine:
    return DigestLine(
        id=of.id, at=of.at, about=of.source, title=of.title, said=of.said, path=of.path
    )


@dataclass(frozen=True, slots=True)
class Begun:
    """A digest that its caller, and nobody else, sends now. *secrets*: to sign it by."""

    id: int
    tries: int
    owner: str
    way: TellWay
    address: str
    made_at: datetime
    lines: Sequence[DigestLine]
    left_out: int
    secrets: Sequence[str]


def begin_next(session: Session) -> Begun | None:
    """A digest whose time has come, for this caller alone; commit before it is sent.

    What a worker began and never ended is ended first; what nobody wants any more is dropped.
    """
    now = database_now(session)
    said = "whoever sent it ended before it was noted"
    lost = digest_repository.lapse(session, LOST_AFTER, said)
    if lost:
        repository.note(session, lost, why=f"not known: {said}")
    _give_up_unserved(session, now)
    keys = ("", signature.key_in_use())
    while found := digest_repository.next_due(session, keys, LONGEST_PAUSE):
        wanted = repository.active(session, found.subscriptions)
        if wanted:
            return _begin(found, wanted, now)
        found.state, found.ended_at = DigestState.DROPPED, now
        session.flush()
    return None


def _begin(digest: Digest, wanted: Sequence[Subscription], now: datetime) -> Begun:
    digest.state, digest.begun_at = DigestState.BEGUN, now
    digest.first_at = digest.first_at or now
    digest.tries += 1
    return Begun(
        id=digest.id,
        tries=digest.tries,
        owner=digest.owner,
        way=digest.way,
        address=digest.address,
        made_at=digest.made_at,
        lines=digest.lines,
        left_out=digest.left_out,
        secrets=[signature.secret_of(each.salt) for each in wanted if each.salt],
    )


def end(session: Session, of: Begun, answer: DeliveryAnswer) -> DigestState | None:
    """Write down what came of one that :func:`begin_next` gave; how it stands now.

    None where it was taken for lost meanwhile.
    """
    digest = digest_repository.lock_begun(session, of.id, of.tries)
    if digest is None:
        return None
    now = database_now(session)
    digest.said = clean_text(answer.said)[:LONGEST_SAID]
    if answer.state is DeliveryState.TAKEN:
        repository.note_told(session, digest.subscriptions, now)
        return _over(digest, DigestState.TOLD, now)
    if answer.state is DeliveryState.UNKNOWN:
        repository.note(session, digest.subscriptions, why=f"not known: {digest.said}")
        return _over(digest, DigestState.UNKNOWN, now)
    # First tried while a clock was ahead: it counts from now on.
    digest.first_at = min(digest.first_at or now, now)
    too_long = now - digest.first_at >= GIVE_UP_AFTER
    if answer.state is DeliveryState.REFUSED or too_long:
        return _give_up(session, digest, now)
    repository.note(session, digest.subscriptions, why=f"tried again: {digest.said}")
    digest.state, digest.next_at = DigestState.WAITING, now + pause_after(digest.tries)
    return digest.state


def pause_after(tries: int) -> timedelta:
    """How long after so many tries the next one comes."""
    return min(FIRST_PAUSE * 2.0 ** min(tries - 1, 20), LONGEST_PAUSE)


def _over(digest: Digest, state: DigestState, now: datetime) -> DigestState:
    digest.state, digest.ended_at = state, now
    return state


def _give_up(session: Session, digest: Digest, now: datetime) -> DigestState:
    why = f"given up after {digest.tries} tries: {digest.said}"
    repository.note(session, digest.subscriptions, state=SubscriptionState.PAUSED, why=why)
    return _over(digest, DigestState.GIVEN_UP, now)


def _give_up_unserved(session: Session, now: datetime) -> None:
    for digest in digest_repository.unserved(session, now - UNSERVED_AFTER):
        digest.said = "no worker has the key under which its secret was made"
        _give_up(session, digest, now)


def forget_old(session: Session) -> None:
    """Delete digests that were over a month ago."""
    digest_repository.forget(session, database_now(session) - KEPT)
