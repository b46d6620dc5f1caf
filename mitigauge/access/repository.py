"""SQL of tokens, browser sessions and people. All times are by the database's clock."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, joinedload

from mitigauge.access.tables import AccessToken, BrowserSession, OidcPerson, UsedLogIn
from mitigauge.core.natural_order import natural_order


def tokens(session: Session) -> list[AccessToken]:
    """All tokens, the newest first."""
    return list(session.scalars(select(AccessToken).order_by(AccessToken.id.desc())))


def token_by_hash(session: Session, digest: str) -> AccessToken | None:
    """The token of that HMAC."""
    return session.scalars(select(AccessToken).where(AccessToken.hash == digest)).one_or_none()


def valid_hashes(session: Session, now: datetime) -> frozenset[str]:
    """HMACs of all tokens that let somebody in at *now*."""
    lasting = or_(AccessToken.expires_at.is_(None), AccessToken.expires_at > now)
    return frozenset(
        session.scalars(select(AccessToken.hash).where(AccessToken.revoked_at.is_(None), lasting))
    )


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
    """The browser session of that HMAC, with its token or person."""
    return session.scalars(
        select(BrowserSession)
        .where(BrowserSession.hash == digest)
        .options(joinedload(BrowserSession.token), joinedload(BrowserSession.person))
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


def use_up_log_in(session: Session, digest: str, until: datetime) -> bool:
    """Note that the log-in of that HMAC has come back; False if that was noted before.

    Notes whose time is over go: by then the log-in itself has expired.
    """
    session.execute(delete(UsedLogIn).where(UsedLogIn.until <= func.clock_timestamp()))
    noted = insert(UsedLogIn).values(hash=digest, until=until).on_conflict_do_nothing()
    return session.scalar(noted.returning(UsedLogIn.hash)) is not None


def lock_people(session: Session) -> None:
    """Let nobody else look for a free name until the transaction's end."""
    session.execute(text("LOCK TABLE oidc_person IN SHARE ROW EXCLUSIVE MODE"))


def person(session: Session, issuer: str, sub: str) -> OidcPerson | None:
    """Whom the issuer knows by that number."""
    return session.scalars(
        select(OidcPerson).where(OidcPerson.issuer == issuer, OidcPerson.sub == sub)
    ).one_or_none()


def person_by_subject(session: Session, subject: str) -> OidcPerson | None:
    """Who is stored by that name."""
    return session.scalars(select(OidcPerson).where(OidcPerson.subject == subject)).one_or_none()


def subjects_like(session: Session, subject: str) -> frozenset[str]:
    """The names of people that begin with *subject*."""
    wanted = select(OidcPerson.subject).where(
        OidcPerson.subject.startswith(subject, autoescape=True)
    )
    return frozenset(session.scalars(wanted))


def delete_sessions_of_person(session: Session, person_id: int) -> int:
    """End every browser session of a person; how many there were."""
    ended = delete(BrowserSession).where(BrowserSession.person_id == person_id)
    return len(session.scalars(ended.returning(BrowserSession.id)).all())
