"""What is asked of subscriptions, and what is shown of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mitigauge.core.hostile_text import quoted
from mitigauge.core.view import View
from mitigauge.reporting.subscriptions.states import (
    SubscriptionKind,
    SubscriptionState,
    TellWay,
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
    at_once: bool = Field(
        False, description="within seconds, instead of a digest a day (mail) or 15 minutes"
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_chats(cls, values: Any) -> Any:
        """What clients of before send as a template: ``json``, which is the only form now."""
        if not isinstance(values, dict) or "template" not in values:
            return values
        others = {name: value for name, value in values.items() if name != "template"}
        if values["template"] != "json":
            raise ValueError(
                f"messages in the form of {quoted(values['template'], 40)} are no longer made: a "
                "webhook gets JSON (docs/trends.md, Webhooks), which a bridge turns into the chat's"
            )
        return others


class SubscriptionView(View):
    """One subscription."""

    id: int
    owner: str
    kind: SubscriptionKind
    subject: str = Field(description="of which one; empty where the kind says it all")
    way: TellWay
    to: str = Field(description="the mail address, or the URL without most of its path")
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
