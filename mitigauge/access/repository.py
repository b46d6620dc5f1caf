"""SQL of tokens and browser sessions. All times are by the database's clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session, joinedload

from mitigauge.access.tables import AccessToken, BrowserSession
from mitigauge.core.natural_order import natural_order


def tokens(session: Session) -> list[AccessToken]:
    """All tokens, the newest first."""
    return list(session.scalars(select(AccessToken).order_by(AccessToken.id.desc())))


def token_by_hash(session: Session, digest: str) -> AccessToken | None:
    """The token of that HMAC."""
    return session.scalars(select(AccessToken).where(AccessToken.hash == digest)).one_or_none()


def tokens_of_other_keys(session: Session, key_id: str) -> list[str]:
    """Names of valid tokens that were made under another key than that."""
    lasting = or_(AccessToken.expires_at.is_(None), AccessToken.expires_at > func.clock_timestamp())
    wanted = select(AccessToken.name).where(
        AccessToken.revoked_at.is_(None), lasting, AccessToken.key_id != key_id
    )
    return sorted(session.scalars(wanted), key=natural_order)


def unrevoked_token(session: Session, name: str) -> AccessToken | None:
    """The one token of that name that nobody revoked, expired or not."""
    return session.scalars(
        select(AccessToken).where(AccessToken.name == name, AccessToken.revoked_at.is_(None))
    ).one_or_none()


def note_use(session: Session, token: AccessToken, now: datetime, every: timedelta) -> None:
    """Write down that a token was used, unless that was done less than *every* ago."""
    if token.last_used_at is not None and token.last_used_at > now - every:
        return
    session.execute(update(AccessToken).where(AccessToken.id == token.id).values(last_used_at=now))


def session_by_hash(session: Session, digest: str) -> BrowserSession | None:
    """The browser session of that HMAC, with its token."""
    return session.scalars(
        select(BrowserSession)
        .where(BrowserSession.hash == digest)
        .options(joinedload(BrowserSession.token))
    ).one_or_none()


def delete_session(session: Session, session_id: int) -> None:
    """End a browser session."""
    session.execute(delete(BrowserSession).where(BrowserSession.id == session_id))


def delete_sessions_of_token(session: Session, token_id: int) -> None:
    """End every browser session that a token began."""
    session.execute(delete(BrowserSession).where(BrowserSession.token_id == token_id))


def delete_spare_sessions(session: Session, subject: str, now: datetime, keep: int) -> None:
    """Remove expired sessions of all, and of *subject* those beyond the newest *keep*."""
    session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= now))
    spare = (
        select(BrowserSession.id)
        .where(BrowserSession.subject == subject)
        .order_by(BrowserSession.id.desc())
        .offset(keep)
    )
    session.execute(delete(BrowserSession).where(BrowserSession.id.in_(spare)))
