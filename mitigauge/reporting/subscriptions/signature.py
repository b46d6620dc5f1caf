"""By what a receiver knows that a webhook comes from here. Pure but for the key's file."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final

from mitigauge.access.secret import key_id, stored_form

HEADER: Final = "Mitigauge-Signature"
_KIND: Final = "webhook"
PREFIX: Final = "mgw_"


def new_salt() -> str:
    """What a new subscription's secret is made of, beside the installation's key."""
    return secrets.token_urlsafe(16)


def secret_of(salt: str) -> str:
    """The secret of a subscription: who reads the database alone cannot work it out."""
    return PREFIX + stored_form(_KIND, salt)


def key_in_use() -> str:
    """Which key secrets are made under here."""
    return key_id()


def signature(secrets_known: Iterable[str], body: bytes, now: int) -> str:
    """The header's value: the time in seconds since 1970, and one ``v1`` a secret."""
    made = [f"v1={_digest(secret, body, now)}" for secret in secrets_known]
    return ",".join([f"t={now}", *made])


def _digest(secret: str, body: bytes, now: int) -> str:
    return hmac.new(secret.encode(), f"{now}.".encode() + body, hashlib.sha256).hexdigest()
