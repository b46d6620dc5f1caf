"""Roles and what each of them may do. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Who acts through the command line of this machine, or through the link that `serve` prints.
OPERATOR: Final = "operator"
# Days a token lasts, unless it is told otherwise.
DEFAULT_DAYS: Final = 90


class Role(StrEnum):
    """Roles, from the least to the most that one may do; *runner* is a CI's."""

    VIEWER = "viewer"
    RUNNER = "runner"
    SUBMITTER = "submitter"
    APPROVER = "approver"
    ADMIN = "admin"


class Right(StrEnum):
    """What a request may need."""

    READ = "read"
    SUBMIT = "submit"
    CANCEL_OWN = "cancel own"
    CANCEL_ANY = "cancel any"
    RESUME_HOST = "resume a host"
    RESERVE_HOST = "reserve a host"
    SET_ASIDE = "set a host aside or break a reservation"
    APPROVE = "approve a series"
    READ_AUDIT = "read the audit log"
    TRIAGE = "triage regressions and trends"
    SUBSCRIBE = "subscribe"
    TEND_SUBSCRIPTIONS = "see and end everybody's subscriptions"


_SUBMITS = frozenset({Right.READ, Right.SUBMIT, Right.CANCEL_OWN})
RIGHTS: Final = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.RUNNER: _SUBMITS,
    Role.SUBMITTER: _SUBMITS | {Right.RESERVE_HOST, Right.TRIAGE, Right.SUBSCRIBE},
    Role.APPROVER: _SUBMITS
    | {Right.CANCEL_ANY, Right.RESUME_HOST, Right.RESERVE_HOST, Right.SET_ASIDE, Right.APPROVE}
    | {Right.READ_AUDIT, Right.TRIAGE, Right.SUBSCRIBE},
    Role.ADMIN: frozenset(Right),
}


class Means(StrEnum):
    """How a request says who it is from."""

    NOTHING = "nothing"
    TOKEN = "token"
    SESSION = "session"
    PROXY = "proxy"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    subject: str
    """Stored as the owner of what is submitted; empty for somebody unnamed."""
    role: Role
    means: Means
    session_id: int | None = None
    """The browser session's row, where one was used."""

    def may(self, right: Right) -> bool:
        """Whether the caller's role has that right."""
        return right in RIGHTS[self.role]

    def may_cancel(self, owner: str) -> bool:
        """Whether the caller may stop an experiment that *owner* submitted."""
        own = bool(self.subject) and owner == self.subject
        return self.may(Right.CANCEL_ANY) or (own and self.may(Right.CANCEL_OWN))


def roles_with(right: Right) -> list[Role]:
    """The roles that have a right, the least first."""
    return [role for role in Role if right in RIGHTS[role]]
