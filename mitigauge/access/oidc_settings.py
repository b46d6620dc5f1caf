"""Single sign-on by OpenID Connect as the operator configures it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from mitigauge.access.roles import Role
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import quoted
from mitigauge.core.settings import Settings

EVERYBODY: Final = "*"
LONGEST_URL: Final = 2000
CALLBACK: Final = "/api/session/oidc/callback"
_NEEDED: Final = ("oidc_issuer", "oidc_client_id", "oidc_client_secret", "oidc_roles")


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """A provider by which people log in, and what their groups let them do."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    groups_claim: str
    roles: Mapping[str, Role]
    """By group; ``*`` is everybody whom the provider knows."""
    name: str
    """What the button says."""
    origin: str
    """The dashboard's own address, without a slash at its end."""

    @property
    def redirect_uri(self) -> str:
        """Where the provider sends browsers back to."""
        return self.origin + CALLBACK


def single_sign_on(settings: Settings) -> SingleSignOn | None:
    """What *settings* say of single sign-on; None where they say nothing.

    Raises :class:`InvalidInput` for half a configuration, or one that is not safe.
    """
    if not any(getattr(settings, name) for name in _NEEDED):
        return None
    missing = [name for name in (*_NEEDED, "public_url") if not getattr(settings, name)]
    if missing:
        raise InvalidInput(
            "single sign-on is configured by half: "
            f"{', '.join(map(_variable, missing))} {'is' if len(missing) == 1 else 'are'} missing",
            hint="Set all of them, or unset the issuer, the client, its secret and the roles.",
        )
    require_safe("MITIGAUGE_OIDC_ISSUER", settings.oidc_issuer)
    require_safe("MITIGAUGE_PUBLIC_URL", settings.public_url)
    origin = settings.public_url.removesuffix("/")
    if urlsplit(origin).path:
        raise InvalidInput(
            f"MITIGAUGE_PUBLIC_URL is {quoted(origin, 200)}, which has a path",
            hint="With single sign-on the dashboard is at the root of its address: "
            "https://mitigauge.example.org.",
        )
    return SingleSignOn(
        issuer=settings.oidc_issuer,
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        groups_claim=settings.oidc_groups_claim,
        roles=read_roles(settings.oidc_roles),
        name=settings.oidc_name,
        origin=origin,
    )


def read_roles(text: str) -> dict[str, Role]:
    """The map of groups to roles that *text* writes as GROUP=ROLE with commas between.

    Raises :class:`InvalidInput` for another form, a group that is there twice, and for a role
    above viewer that everybody would get.
    """
    found: dict[str, Role] = {}
    for each in filter(None, map(str.strip, text.split(","))):
        # A group's name may have the sign in it: cn=perf.
        group, _, word = (part.strip() for part in each.rpartition("="))
        if not group or word not in list(Role):
            raise InvalidInput(
                f"MITIGAUGE_OIDC_ROLES has {quoted(each, 80)}",
                hint=f"Write GROUP=ROLE with commas between; roles: {', '.join(Role)}.",
            )
        if group in found:
            raise InvalidInput(
                f"MITIGAUGE_OIDC_ROLES has the group {quoted(group, 80)} twice",
                hint="Give each group one role.",
            )
        if group == EVERYBODY and word != Role.VIEWER:
            raise InvalidInput(
                f"MITIGAUGE_OIDC_ROLES makes everybody {word}",
                hint="*=viewer is the most that everybody may have; name groups for the others.",
            )
        found[group] = Role(word)
    if not found:
        raise InvalidInput(
            "MITIGAUGE_OIDC_ROLES names no group",
            hint="Write GROUP=ROLE with commas between: kernel-team=submitter,*=viewer.",
        )
    return found


def require_safe(name: str, url: str) -> None:
    """Raise :class:`InvalidInput` unless *url*, the value of *name*, is a safe address."""
    if not is_safe(url):
        raise InvalidInput(
            f"{name} is {quoted(url, 200)}, which is no https:// address of a machine",
            hint="Give https://NAME, without user, query and fragment; "
            "http:// is taken for this machine alone, such as http://127.0.0.1:8600.",
        )


def is_safe(url: str, *, query: bool = False) -> bool:
    """Whether *url* is https, or leads to this very machine, and has nothing odd in it.

    *query*: it may have one.
    """
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or "#" in url or "\\" in url or ("?" in url and not query):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(host))


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _variable(name: str) -> str:
    return f"MITIGAUGE_{name.upper()}"
