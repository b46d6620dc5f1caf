"""What an ID token says: whether it is meant for us, whose it is, and what they may do. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from mitigauge.access.oidc_settings import EVERYBODY, SingleSignOn
from mitigauge.access.roles import Role
from mitigauge.access.service import Unauthenticated
from mitigauge.core.errors import Forbidden
from mitigauge.core.hostile_text import quoted

# How far the provider's clock may be from ours.
SKEW_S: Final = 60
LONGEST_SUB: Final = 255
LONGEST_NAME: Final = 120
# Names that a person may have, as a proxy's users.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")
BEGIN_AGAIN: Final = "Begin the log-in again from the dashboard."

Claims = Mapping[str, Any]


class NoRole(Forbidden):
    """The provider knows who it is, and no group of theirs may use the service."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom the provider knows. ``issuer`` and ``sub`` are who it is; ``name`` is shown."""

    issuer: str
    sub: str
    name: str
    role: Role


def check_claims(
    claims: Claims,
    header: Mapping[str, Any],
    sign_on: SingleSignOn,
    *,
    nonce: str,
    access_token: str,
    now: int,
) -> None:
    """See that an ID token, whose signature was checked, is meant for this service and log-in.

    *now*: seconds since 1970. Raises :class:`Unauthenticated` for another issuer, audience,
    party, nonce or access token, and for one that has expired or is of later than now.
    """
    token = CodeIDToken(
        dict(claims),
        dict(header),
        options={
            "iss": {"essential": True, "value": sign_on.issuer},
            "aud": {"essential": True, "value": sign_on.client_id},
            "sub": {"essential": True},
        },
        params={
            "nonce": nonce,
            "client_id": sign_on.client_id,
            "access_token": access_token,
        },
    )
    try:
        token.validate(now=now, leeway=SKEW_S)
    except (JoseError, TypeError, ValueError) as error:
        raise untrusted(sign_on, quoted(str(error), 200)) from None


def untrusted(sign_on: SingleSignOn, why: str) -> Unauthenticated:
    """The refusal of an ID token."""
    return Unauthenticated(f"the ID token of {sign_on.issuer} is refused: {why}", hint=BEGIN_AGAIN)


def identify(claims: Claims, sign_on: SingleSignOn) -> Identity:
    """Whose the claims are, with the highest role that the groups give.

    Raises :class:`NoRole` where they give none, and :class:`Unauthenticated` for somebody
    without a name that can be one here.
    """
    name = name_of(claims)
    if name is None or len(claims["sub"]) > LONGEST_SUB:
        raise Unauthenticated(
            f"{sign_on.issuer} names nobody who can be known here, but {_called(claims)}",
            hint="Let the provider send preferred_username: letters, digits and . _ @ + -, "
            f"{LONGEST_NAME} at the most.",
        )
    groups = groups_of(claims, sign_on)
    role = role_of(groups, sign_on.roles)
    if role is None:
        raise NoRole(
            f"{name} is in no group that may use this service; {sign_on.issuer} names "
            f"{len(groups)} in the claim {sign_on.groups_claim!r}",
            hint="Ask whoever runs the service: MITIGAUGE_OIDC_ROLES says which groups may, and "
            "MITIGAUGE_OIDC_GROUPS_CLAIM where the provider names them.",
        )
    return Identity(sign_on.issuer, claims["sub"], name, role)


def name_of(claims: Claims) -> str | None:
    """The first of user name, confirmed mail address and number that can be a name here."""
    mail = claims.get("email") if claims.get("email_verified") is True else None
    for said in (claims.get("preferred_username"), mail, claims.get("sub")):
        if isinstance(said, str) and len(said) <= LONGEST_NAME and _NAME.fullmatch(said):
            return said
    return None


def groups_of(claims: Claims, sign_on: SingleSignOn) -> frozenset[str]:
    """The groups that the claims name; none where they say nothing of groups.

    Raises :class:`NoRole` for a claim that is no list of texts.
    """
    said = claims.get(sign_on.groups_claim, [])
    if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
        raise NoRole(
            f"{sign_on.issuer} sends a claim {sign_on.groups_claim!r} that is no list of names",
            hint="Let the provider send groups as a list, or name the claim that has them in "
            "MITIGAUGE_OIDC_GROUPS_CLAIM.",
        )
    return frozenset(said)


def role_of(groups: Iterable[str], roles: Mapping[str, Role]) -> Role | None:
    """The highest role that the groups give; None where they give none."""
    given = [roles[group] for group in groups if group in roles]
    if EVERYBODY in roles:
        given.append(roles[EVERYBODY])
    return max(given, key=list(Role).index, default=None)


def _called(claims: Claims) -> str:
    return quoted(claims.get("preferred_username") or claims.get("sub"), 100)
