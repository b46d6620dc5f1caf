"""Roles by the groups that a trusted proxy names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from mitigauge.access.roles import Role
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import quoted
from mitigauge.core.settings import Settings

EVERYBODY: Final = "*"
_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}")


def proxy_roles(settings: Settings) -> dict[str, Role]:
    """The roles by group that *settings* give the users of the trusted proxy; empty: it names them.

    Raises :class:`InvalidInput` for roles of no proxy, a header that cannot be, and as
    :func:`read_roles`.
    """
    if not settings.proxy_roles:
        return {}
    if not settings.proxy_secret_file:
        raise InvalidInput(
            "MITIGAUGE_PROXY_ROLES is given, and no proxy is trusted",
            hint="Name the file with the proxy's secret in MITIGAUGE_PROXY_SECRET_FILE.",
        )
    if not _HEADER.fullmatch(settings.proxy_groups_header):
        raise InvalidInput(
            f"MITIGAUGE_PROXY_GROUPS_HEADER is {quoted(settings.proxy_groups_header, 80)}",
            hint="Give the name of a header: letters, digits and -.",
        )
    return read_roles(settings.proxy_roles)


def read_roles(text: str) -> dict[str, Role]:
    """The map of groups to roles that *text* writes as GROUP=ROLE with commas between.

    Raises :class:`InvalidInput` for another form, a group that is there twice, and for a role
    above viewer that everybody would get.
    """
    found: dict[str, Role] = {}
    for each in _parts(text):
        # A group's name may have the sign in it: cn=perf.
        group, _, word = (part.strip() for part in each.rpartition("="))
        if not group or word not in list(Role):
            raise InvalidInput(
                f"MITIGAUGE_PROXY_ROLES has {quoted(each, 80)}",
                hint=f"Write GROUP=ROLE with commas between; roles: {', '.join(Role)}.",
            )
        if group in found:
            raise InvalidInput(
                f"MITIGAUGE_PROXY_ROLES has the group {quoted(group, 80)} twice",
                hint="Give each group one role.",
            )
        if group == EVERYBODY and word != Role.VIEWER:
            raise InvalidInput(
                f"MITIGAUGE_PROXY_ROLES makes everybody {word}",
                hint="*=viewer is the most that everybody may have; name groups for the others.",
            )
        found[group] = Role(word)
    if not found:
        raise InvalidInput(
            "MITIGAUGE_PROXY_ROLES names no group",
            hint="Write GROUP=ROLE with commas between: kernel-team=submitter,*=viewer.",
        )
    return found


def groups_in(values: Iterable[str]) -> frozenset[str]:
    """The groups that the values of a header name, with commas between."""
    return frozenset(group for value in values for group in _parts(value) if group != EVERYBODY)


def role_of(groups: Iterable[str], roles: Mapping[str, Role]) -> Role | None:
    """The highest role that the groups give; None where they give none."""
    given = [roles[group] for group in groups if group in roles]
    if EVERYBODY in roles:
        given.append(roles[EVERYBODY])
    return max(given, key=list(Role).index, default=None)


def _parts(text: str) -> list[str]:
    return [part for part in map(str.strip, text.split(",")) if part]
