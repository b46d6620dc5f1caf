"""By what a receiver knows that a webhook comes from here, after Standard Webhooks."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from standardwebhooks import Webhook

from mitigauge.access.secret import key_id, stored_form

_KIND: Final = "webhook"
PREFIX: Final = "whsec_"


def new_salt() -> str:
    """What a new subscription's secret is made of, beside the installation's key."""
    return secrets.token_urlsafe(16)


def secret_of(salt: str) -> str:
    """The secret of a subscription: who reads the database alone cannot work it out."""
    return PREFIX + base64.b64encode(bytes.fromhex(stored_form(_KIND, salt))).decode()


def key_in_use() -> str:
    """Which key secrets are made under here."""
    return key_id()


def signed_heads(
    secrets_known: Iterable[str], name: str, body: bytes, now: datetime
) -> dict[str, str]:
    """The heads of a message that is called *name*, sent at *now* (UTC): a signature a secret."""
    made = [Webhook(secret).sign(name, now, body.decode()) for secret in secrets_known]
    return {
        "webhook-id": name,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(made),
    }
