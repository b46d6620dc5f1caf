"""Subscriptions: who wants to hear of what, and how."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query

from api.bodies import UNREAD_BODY
from api.database import Database
from api.gate import Known, needs
from api.parameters import Id
from mitigauge.access.roles import Caller, Right, roles_with
from mitigauge.core.errors import Forbidden
from mitigauge.core.settings import get_settings
from mitigauge.reporting.subscriptions import service
from mitigauge.reporting.subscriptions.schemas import (
    AddedSubscription,
    NewSubscription,
    SubscriptionView,
)
from mitigauge.reporting.subscriptions.webhook_url import read_networks

router = APIRouter(prefix="/api/subscriptions", tags=["subscriptions"])

MAY: Final = [Depends(needs(Right.SUBSCRIBE))]


@router.get("")
def list_subscriptions(
    session: Database,
    caller: Known,
    everybody: Annotated[bool, Query(description="also other people's; for admins")] = False,
) -> list[SubscriptionView]:
    """One's own subscriptions, the newest first."""
    if everybody and not _tends(caller):
        raise Forbidden(
            f"{caller.role} may not {Right.TEND_SUBSCRIPTIONS}",
            hint=f"Roles that may: {', '.join(roles_with(Right.TEND_SUBSCRIPTIONS))}.",
        )
    if not everybody and not caller.subject:
        return []
    return service.list_subscriptions(session, None if everybody else caller.subject)


@router.post("", status_code=201, dependencies=MAY)
def add_subscription(
    new: NewSubscription, session: Database, caller: Known
) -> AddedSubscription:  # fmt: skip
    """Subscribe. The secret of a webhook is in this answer alone."""
    networks = read_networks(get_settings().webhook_networks)
    return service.add(session, new, owner=caller.subject, networks=networks)


@router.post("/{subscription_id}/pause", dependencies=MAY, openapi_extra=UNREAD_BODY)
def pause_subscription(subscription_id: Id, session: Database, caller: Known) -> SubscriptionView:
    """Tell nothing for a while; what happens meanwhile is not told later. A body is not read."""
    return service.pause(session, subscription_id, by=caller.subject, tends=_tends(caller))


@router.post("/{subscription_id}/resume", dependencies=MAY, openapi_extra=UNREAD_BODY)
def resume_subscription(subscription_id: Id, session: Database, caller: Known) -> SubscriptionView:
    """Tell again, from now on. A body is not read."""
    return service.resume(session, subscription_id, by=caller.subject, tends=_tends(caller))


@router.post("/{subscription_id}/remove", dependencies=MAY, openapi_extra=UNREAD_BODY)
def remove_subscription(subscription_id: Id, session: Database, caller: Known) -> SubscriptionView:
    """End one; the answer is how it was. A body is not read."""
    return service.remove(session, subscription_id, by=caller.subject, tends=_tends(caller))


def _tends(caller: Caller) -> bool:
    return caller.may(Right.TEND_SUBSCRIPTIONS)
