"""Making, checking and ending tokens and browser sessions."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from mitigauge.access import repository
from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.audit.repository import AuditFilter
from mitigauge.access.audit.repository import count as count_entries
from mitigauge.access.roles import OPERATOR, Caller, Means, Role
from mitigauge.access.schemas import NewTokenView, TokenView
from mitigauge.access.secret import key_id, new_secret, stored_form
from mitigauge.access.tables import AccessToken, BrowserSession
from mitigauge.core.errors import Conflict, InvalidInput, MitigaugeError, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.storage.database.engine import database_now

PREFIX: Final = "mgt_"
TOKEN: Final = re.compile(r"mgt_[A-Za-z0-9_-]{43}")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
LONGEST_DAYS: Final = 3650
NOTE_USE_EVERY: Final = timedelta(minutes=1)
SESSION_LASTS: Final = timedelta(days=7)
# Of one subject; the oldest end. Somebody who logs in without end fills no table.
MOST_SESSIONS: Final = 50
# Each leaves an entry in the audit log, which nothing deletes.
MOST_LOG_INS: Final = 60
LOG_INS_WITHIN: Final = timedelta(hours=1)


class Unauthenticated(MitigaugeError):
    """Nobody known asks: no token or session, or one that is not valid."""

    status = 401


def create_token(session: Session, name: str, role: Role, *, days: int | None) -> NewTokenView:
    """Make a token that lasts *days*, or for ever with None. Its secret is shown this once.

    Raises :class:`InvalidInput` for a name or number that cannot be, and :class:`Conflict`
    while another token has the name.
    """
    _check_name(name)
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(
            f"a token cannot last {days} days", hint=f"Give 1 to {LONGEST_DAYS}, or --never."
        )
    require_same_key(session)
    now = database_now(session)
    before = repository.unrevoked_token(session, name)
    if before is not None:
        if _state(before, now) == "valid":
            raise _name_taken(name)
        _revoke(session, before, now)
    until = None if days is None else now + timedelta(days=days)
    secret = PREFIX + new_secret()
    token = AccessToken(
        name=name,
        role=role,
        hash=stored_form("token", secret),
        key_id=key_id(),
        created_at=now,
        expires_at=until,
    )
    session.add(token)
    after = {"role": role, "expires_at": until or "never"}
    audit.record(session, Action.TOKEN_CREATE, Subject(SubjectKind.TOKEN, name), after=after)
    try:
        session.flush()
    except IntegrityError as error:
        raise _name_taken(name) from error
    return NewTokenView(**dict(_view(token, now)), token=secret)


def require_same_key(session: Session) -> None:
    """See that this machine's key is the one under which the service's valid tokens were made.

    Raises :class:`Conflict` where it is not: their holders would be refused here.
    """
    names = repository.tokens_of_other_keys(session, key_id())
    if not names:
        return
    path = get_settings().home / "access-key"
    raise Conflict(
        f"this machine's key, {path}, is not the one of this service: it makes tokens wrong that "
        f"are valid elsewhere ({', '.join(names[:5])}{', …' if len(names) > 5 else ''})",
        hint=f"Copy access-key from the machine that made them over {path}. Is that key lost, "
        "`mitigauge token revoke NAME` ends each of them.",
    )


def list_tokens(session: Session) -> list[TokenView]:
    """All tokens, the newest first, with those that are revoked or expired."""
    now = database_now(session)
    return [_view(token, now) for token in repository.tokens(session)]


def revoke_token(session: Session, name: str) -> TokenView:
    """Revoke the token of that name and end its sessions. Raises :class:`NotFound`."""
    token = repository.unrevoked_token(session, name)
    if token is None:
        raise NotFound(
            f"there is no token {name[:64]!r} that could be revoked",
            hint="`mitigauge token list` shows them.",
        )
    now = database_now(session)
    _revoke(session, token, now)
    return _view(token, now)


def by_token(session: Session, secret: str) -> Caller:
    """Whose token it is. Raises :class:`Unauthenticated` for one that is not valid."""
    token, _ = _valid_token(session, secret)
    return Caller(token.name, token.role, Means.TOKEN)


def open_session_by_token(session: Session, secret: str) -> tuple[str, Caller]:
    """A browser session's secret, and whose it is. Raises :class:`Unauthenticated`."""
    token, now = _valid_token(session, secret)
    until = now + SESSION_LASTS
    if token.expires_at is not None:
        until = min(until, token.expires_at)
    return _open(session, token.name, token.role, token.id, until, now)


def open_operators_session(session: Session) -> tuple[str, Caller]:
    """An admin's browser session; whoever calls this has seen the link's key."""
    now = database_now(session)
    return _open(session, OPERATOR, Role.ADMIN, None, now + SESSION_LASTS, now)


def by_session(session: Session, secret: str) -> Caller:
    """Whose browser session it is. Raises :class:`Unauthenticated` if it has ended."""
    found = repository.session_by_hash(session, stored_form("session", secret))
    now = database_now(session)
    if found is None or found.expires_at <= now:
        raise Unauthenticated("this browser's session has ended", hint=LOG_IN_AGAIN)
    if found.token is not None:
        if _state(found.token, now) != "valid":
            raise Unauthenticated(
                "the token of this browser's session is revoked or has expired", hint=LOG_IN_AGAIN
            )
        repository.note_use(session, found.token, now, NOTE_USE_EVERY)
    return Caller(found.subject, found.role, Means.SESSION, found.id)


def end_session(session: Session, session_id: int) -> None:
    """Log a browser out."""
    repository.delete_session(session, session_id)
    audit.record(session, Action.SESSION_END, Subject(SubjectKind.SESSION, session_id))


LOG_IN_AGAIN: Final = "Log in again, with a token or with the link that `mitigauge serve` prints."


def _valid_token(session: Session, secret: str) -> tuple[AccessToken, datetime]:
    hint = "`mitigauge token create NAME --role ROLE` makes one, on the service's machine."
    if not TOKEN.fullmatch(secret):
        raise Unauthenticated(
            f"that is no token: tokens begin with {PREFIX} and have 47 characters", hint=hint
        )
    token = repository.token_by_hash(session, stored_form("token", secret))
    if token is None:
        raise Unauthenticated("this token is not known here", hint=hint)
    now = database_now(session)
    state = _state(token, now)
    if state != "valid":
        raise Unauthenticated(f"the token {token.name!r} is {state}", hint=hint)
    repository.note_use(session, token, now, NOTE_USE_EVERY)
    return token, now


def _open(
    session: Session,
    subject: str,
    role: Role,
    token_id: int | None,
    until: datetime,
    now: datetime,
) -> tuple[str, Caller]:
    _require_few_log_ins(session, subject, now)
    secret = new_secret()
    opened = BrowserSession(
        hash=stored_form("session", secret),
        subject=subject,
        role=role,
        token_id=token_id,
        created_at=now,
        expires_at=until,
    )
    session.add(opened)
    session.flush()
    repository.delete_spare_sessions(session, subject, now, MOST_SESSIONS)
    # Until now nobody was known in this request.
    audit.record(
        session,
        Action.SESSION_BEGIN,
        Subject(SubjectKind.SESSION, opened.id),
        after={"role": role, "expires_at": until},
        by=subject,
    )
    return secret, Caller(subject, role, Means.SESSION, opened.id)


def _require_few_log_ins(session: Session, subject: str, now: datetime) -> None:
    """Raise Conflict for a subject that logged in too often; the operator has the log's machine."""
    since = now - LOG_INS_WITHIN
    wanted = AuditFilter(actor=subject, action=Action.SESSION_BEGIN, since=since)
    if subject != OPERATOR and count_entries(session, wanted) >= MOST_LOG_INS:
        raise Conflict(
            f"{subject} logged in {MOST_LOG_INS} times within an hour",
            hint="A session lasts seven days: keep its cookie. A program sends the token itself, "
            "as `Authorization: Bearer`.",
        )


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise InvalidInput(
            f"a token cannot be named {name[:80]!r}",
            hint="Up to 64 letters, digits and . _ @ - serve, the first a letter or digit.",
        )
    if name == OPERATOR:
        raise InvalidInput(
            f"a token cannot be named {OPERATOR!r}: so this machine's command line is called",
            hint="Name it after the person or program that gets it.",
        )


def _name_taken(name: str) -> Conflict:
    return Conflict(
        f"there is a token {name!r} already",
        hint=f"Choose another name, or `mitigauge token revoke {name}` first.",
    )


def _revoke(session: Session, token: AccessToken, now: datetime) -> None:
    before = {"role": token.role, "state": _state(token, now)}
    audit.record(
        session, Action.TOKEN_REVOKE, Subject(SubjectKind.TOKEN, token.name), before=before
    )
    token.revoked_at = now
    repository.delete_sessions_of_token(session, token.id)
    session.flush()


def _state(token: AccessToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= now:
        return "expired"
    return "valid"


def _view(token: AccessToken, now: datetime) -> TokenView:
    return TokenView.model_validate(
        {
            "id": token.id,
            "name": token.name,
            "role": token.role,
            "state": _state(token, now),
            "created_at": token.created_at,
            "expires_at": token.expires_at,
            "last_used_at": token.last_used_at,
            "revoked_at": token.revoked_at,
        }
    )
