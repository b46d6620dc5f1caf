"""A log-in by single sign-on that a browser has begun, as its cookie keeps it. Pure but for time.

The cookie is signed and holds one random secret; what the provider gets (state, nonce, the
verifier of PKCE) is made of that under the installation's key, so that neither the cookie nor the
provider's address bar gives away the others.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final

from mitigauge.access.oidc_people import LOG_IN_LASTS
from mitigauge.access.secret import new_secret, stored_form

LONGEST_PATH: Final = 1500
LONGEST_COOKIE: Final = 4000
# A page of the dashboard, not a route of the API, as browsers write addresses.
_PAGE: Final = re.compile(r"/(?!api(?:[/?#]|$))(?:(?!/)[!#-\[\]-~][!#-\[\]-~]*)?")


@dataclass(frozen=True, slots=True)
class BegunLogIn:
    """A browser's log-in on its way to the provider and back."""

    secret: str = field(repr=False)
    page: str
    """Where one wanted to be."""
    began_at: int
    """Seconds since 1970."""

    @property
    def state(self) -> str:
        """What comes back from the provider with the browser."""
        return stored_form("oidc state", self.secret)

    @property
    def nonce(self) -> str:
        """What comes back inside the ID token."""
        return stored_form("oidc nonce", self.secret)

    @property
    def verifier(self) -> str:
        """By which this service proves that the code is its own (PKCE)."""
        return stored_form("oidc verifier", self.secret)

    def sealed(self) -> str:
        """The cookie's value."""
        held = json.dumps([self.secret, self.page, self.began_at]).encode()
        text = urlsafe_b64encode(held).decode().rstrip("=")
        return f"{text}.{stored_form('oidc cookie', text)}"


def begin_log_in(page: str | None, now: float) -> BegunLogIn:
    """A new log-in that leads to *page*, if that is one of ours."""
    return BegunLogIn(new_secret(), own_page(page), int(now))


def unsealed(cookie: str, now: float) -> BegunLogIn | None:
    """The log-in that a cookie holds; None for one that is not ours, or has expired."""
    text, _, seal = cookie.partition(".")
    if len(cookie) > LONGEST_COOKIE or not cookie.isascii():
        return None
    if not hmac.compare_digest(seal, stored_form("oidc cookie", text)):
        return None
    secret, page, began_at = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if not 0 <= now - began_at < LOG_IN_LASTS.total_seconds():
        return None
    return BegunLogIn(secret, page, began_at)


def own_page(page: str | None) -> str:
    """*page* if it is the path of a page of the dashboard, with its query; else the first one."""
    if page is None or len(page) > LONGEST_PATH or not _PAGE.fullmatch(page):
        return "/"
    return page
