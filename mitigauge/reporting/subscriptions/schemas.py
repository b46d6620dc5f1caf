"""What is asked of subscriptions, and what is shown of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.view import View
from mitigauge.reporting.subscriptions.states import (
    SubscriptionKind,
    SubscriptionState,
    TellWay,
    Template,
)

LONGEST_SUBJECT = 400
LONGEST_ADDRESS = 2000


class NewSubscription(BaseModel):
    """What somebody wants to hear of, and how."""

    model_config = ConfigDict(extra="forbid")

    kind: SubscriptionKind
    subject: Annotated[
        str,
        Field(
            max_length=LONGEST_SUBJECT,
            description="of which one: a series' name, ENVIRONMENT/HOST, or WORKLOAD/CASE, the "
            "case by its title; empty for the other kinds",
        ),
    ] = ""
    trend_id: Annotated[
        int | None, Field(ge=1, le=2**31 - 1, description="for a case: a trend of it")
    ] = None
    way: TellWay
    address: Annotated[
        str, Field(min_length=1, max_length=LONGEST_ADDRESS, description="a mail address or a URL")
    ]
    template: Template = Field(Template.JSON, description="of a webhook's body")
    at_once: bool = Field(
        False, description="within seconds, instead of a digest a day (mail) or 15 minutes"
    )


class SubscriptionView(View):
    """One subscription."""

    id: int
    owner: str
    kind: SubscriptionKind
    subject: str = Field(description="of which one; empty where the kind says it all")
    way: TellWay
    to: str = Field(description="the mail address, or the URL without most of its path")
    template: Template
    at_once: bool
    state: SubscriptionState
    why: str = Field(description="why it is paused, or what went wrong last; empty: nothing")
    created_at: datetime
    told_at: datetime | None = Field(description="when something was told last")


class AddedSubscription(View):
    """A subscription that was just made."""

    subscription: SubscriptionView
    secret: str = Field(
        description="by which a webhook's signature is checked; it is shown this once. Empty: mail"
    )
