"""Subscribing: adding, listing, pausing, resuming and removing."""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from mitigauge.core.hostile_text import quoted
from mitigauge.reporting.subscriptions import notice_repository, repository, signature
from mitigauge.reporting.subscriptions.digest_service import take_in
from mitigauge.reporting.subscriptions.notices import case_subject
from mitigauge.reporting.subscriptions.schemas import (
    AddedSubscription,
    NewSubscription,
    SubscriptionView,
)
from mitigauge.reporting.subscriptions.states import (
    NAMED,
    SubscriptionKind,
    SubscriptionState,
    TellWay,
)
from mitigauge.reporting.subscriptions.tables import Subscription
from mitigauge.reporting.subscriptions.webhook_url import (
    Networks,
    masked,
    read_url,
    require_possible,
)

MOST: Final = 100
LONGEST_MAIL_ADDRESS: Final = 254
# One address alone, without a name, a comment or a second one.
_MAIL: Final = re.compile(r"[A-Za-z0-9._%+=~/-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
LIST: Final = "`mitigauge subscription list` shows yours."


def list_subscriptions(session: Session, owner: str | None) -> list[SubscriptionView]:
    """Those of a person, or of everybody (None); the newest first."""
    return [_view(each) for each in repository.listed(session, owner)]


def add(
    session: Session, new: NewSubscription, *, owner: str, networks: Networks
) -> AddedSubscription:
    """Subscribe *owner*; nothing that happened before now is told.

    Raises :class:`InvalidInput` for what cannot be told or where it cannot go,
    :class:`NotFound` for what is not there, :class:`Conflict` for one that is there already or
    one too many.
    """
    row = Subscription(
        owner=owner,
        kind=new.kind,
        subject=_subject(session, new),
        way=new.way,
        address=_address(new, networks),
        at_once=new.at_once,
    )
    # From here on nobody else adds one, and what is there now is behind its cursor.
    take_in(session)
    _require_room(session, row)
    row.cursor = notice_repository.last_id(session)
    secret = _give_secret(row)
    session.add(row)
    session.flush()
    session.refresh(row)
    audit.record(session, Action.SUBSCRIPTION_ADD, _subject_of(row), after=_audit_fields(row))
    return AddedSubscription(subscription=_view(row), secret=secret)


def pause(session: Session, subscription_id: int, *, by: str, tends: bool) -> SubscriptionView:
    """Tell nothing for a while; what happens meanwhile is not told later either.

    *tends*: whether everybody's may be changed. Raises :class:`NotFound`, :class:`Forbidden` and,
    where it is paused, :class:`Conflict`.
    """
    row = _find(session, subscription_id, by=by, tends=tends)
    if row.state is SubscriptionState.PAUSED:
        raise Conflict(f"subscription {row.id} is paused already")
    row.state, row.why = SubscriptionState.PAUSED, f"paused by {by}"
    audit.record(session, Action.SUBSCRIPTION_PAUSE, _subject_of(row), after=_audit_fields(row))
    return _view(row)


def resume(session: Session, subscription_id: int, *, by: str, tends: bool) -> SubscriptionView:
    """Tell again what happens from now on. Raises as :func:`pause` does."""
    take_in(session)
    row = _find(session, subscription_id, by=by, tends=tends)
    if row.state is SubscriptionState.ACTIVE:
        raise Conflict(f"subscription {row.id} is not paused")
    row.state, row.why = SubscriptionState.ACTIVE, ""
    row.cursor = notice_repository.last_id(session)
    audit.record(session, Action.SUBSCRIPTION_RESUME, _subject_of(row), after=_audit_fields(row))
    return _view(row)


def remove(session: Session, subscription_id: int, *, by: str, tends: bool) -> SubscriptionView:
    """End one; how it was. Raises :class:`NotFound` and :class:`Forbidden`."""
    row = _find(session, subscription_id, by=by, tends=tends)
    view = _view(row)
    audit.record(session, Action.SUBSCRIPTION_REMOVE, _subject_of(row), before=_audit_fields(row))
    repository.remove(session, row.id)
    return view


def _find(session: Session, subscription_id: int, *, by: str, tends: bool) -> Subscription:
    found = repository.find(session, subscription_id)
    if found is None:
        raise NotFound(f"there is no subscription {subscription_id}", hint=LIST)
    if found.owner != by and not tends:
        raise Forbidden(
            f"subscription {subscription_id} is somebody else's",
            hint=f"{LIST} An admin may end everybody's.",
        )
    return found


def _subject(session: Session, new: NewSubscription) -> str:
    if new.trend_id is not None:
        return _case_of_trend(session, new)
    subject = new.subject.strip()
    if new.kind not in NAMED:
        if subject:
            raise InvalidInput(
                f"{new.kind} is of nothing in particular", hint="Leave the subject out."
            )
        return ""
    if not subject:
        raise InvalidInput(f"{new.kind} of which one?", hint=_HOW[new.kind])
    if not _exists(session, new.kind, subject):
        raise NotFound(f"there is no {new.kind} {quoted(subject, 120)}", hint=_HOW[new.kind])
    return subject


_HOW: Final = {
    SubscriptionKind.SERIES: "Give a series' name; `mitigauge series list` has them.",
    SubscriptionKind.HOST: "Give ENVIRONMENT/HOST; `mitigauge host list` has them.",
    SubscriptionKind.CASE: "Give WORKLOAD/CASE, the case by its title, or a trend of it; "
    "`mitigauge trends list` has them.",
}


def _case_of_trend(session: Session, new: NewSubscription) -> str:
    if new.kind is not SubscriptionKind.CASE or new.subject or new.trend_id is None:
        raise InvalidInput(
            "a trend says which case is meant, and nothing else",
            hint="Give the kind `case` with either a trend or a subject.",
        )
    found = repository.case_of(session, new.trend_id)
    if found is None:
        raise NotFound(
            f"there is no trend {new.trend_id}", hint="`mitigauge trends list` shows all."
        )
    return case_subject(*found)


def _exists(session: Session, kind: SubscriptionKind, subject: str) -> bool:
    first, _, rest = subject.partition("/")
    if kind is SubscriptionKind.SERIES:
        return repository.has_series(session, subject)
    if kind is SubscriptionKind.HOST:
        return repository.has_host(session, first, rest)
    return repository.has_case(session, first, rest)


def _address(new: NewSubscription, networks: Networks) -> str:
    address = new.address.strip()
    if new.way is TellWay.WEBHOOK:
        require_possible(read_url(address), networks)
        return address
    if len(address) > LONGEST_MAIL_ADDRESS or not _MAIL.fullmatch(address) or ".." in address:
        raise InvalidInput(
            f"{quoted(address, 80)} is no mail address", hint="Give one alone: name@example.org."
        )
    name, _, domain = address.rpartition("@")
    return f"{name}@{domain.lower()}"


def _require_room(session: Session, row: Subscription) -> None:
    same = repository.same_as(session, row)
    if same is not None:
        raise Conflict(
            f"subscription {same} tells the same to the same", hint="Remove or resume that one."
        )
    if repository.count_of(session, row.owner) >= MOST:
        raise Conflict(
            f"{row.owner} has {MOST} subscriptions, which is the most",
            hint="Remove one that is not needed; `new-regressions` tells of all cases.",
        )


def _give_secret(row: Subscription) -> str:
    if row.way is not TellWay.WEBHOOK:
        return ""
    row.salt, row.key_id = signature.new_salt(), signature.key_in_use()
    return signature.secret_of(row.salt)


def _view(row: Subscription) -> SubscriptionView:
    own = {name for name in SubscriptionView.model_fields if name != "to"}
    return SubscriptionView.model_validate(
        {name: getattr(row, name) for name in own} | {"to": _to(row)}
    )


def _to(row: Subscription) -> str:
    return masked(row.address) if row.way is TellWay.WEBHOOK else row.address


def _subject_of(row: Subscription) -> Subject:
    return Subject(SubjectKind.SUBSCRIPTION, row.id)


def _audit_fields(row: Subscription) -> dict[str, object]:
    return {
        "owner": row.owner,
        "kind": row.kind,
        "subject": row.subject,
        "way": row.way,
        "to": _to(row),
    }
