"""People who log in by single sign-on: who is who, and their browser sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy.orm import Session

from mitigauge.access import repository, service
from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.oidc_claims import BEGIN_AGAIN, Identity
from mitigauge.access.roles import Caller
from mitigauge.access.secret import stored_form
from mitigauge.access.service import Unauthenticated
from mitigauge.access.tables import OidcPerson
from mitigauge.core.errors import NotFound
from mitigauge.storage.database.engine import database_now

# Apart from tokens' and proxies' names.
PREFIX: Final = "oidc:"
# A group that was taken away loses its right within this time.
SESSION_LASTS: Final = timedelta(hours=1)
LOG_IN_LASTS: Final = timedelta(minutes=10)


def use_up(session: Session, state: str) -> None:
    """See that the log-in of that *state* ends here for the first time.

    Raises :class:`Unauthenticated` for one that came back before.
    """
    until = database_now(session) + LOG_IN_LASTS
    if not repository.use_up_log_in(session, stored_form("oidc used", state), until):
        raise Unauthenticated("this log-in has ended already", hint=BEGIN_AGAIN)


def open_session(session: Session, identity: Identity) -> tuple[str, Caller]:
    """A browser session's secret for *identity*, and whose it is.

    The role counts for the sessions that the person has already, too.
    """
    now = database_now(session)
    repository.lock_people(session)
    person = repository.person(session, identity.issuer, identity.sub)
    if person is None:
        person = OidcPerson(
            issuer=identity.issuer,
            sub=identity.sub,
            subject=_free_subject(session, identity.name),
            role=identity.role,
            created_at=now,
        )
        session.add(person)
    person.role, person.seen_at = identity.role, now
    session.flush()
    return service.open_persons_session(session, person, now + SESSION_LASTS, now)


def end_sessions_of(session: Session, issuer: str, sub: str) -> None:
    """End the sessions of whoever may not use the service any more."""
    person = repository.person(session, issuer, sub)
    if person is not None:
        _end_sessions(session, person, by=person.subject)


def end_sessions(session: Session, subject: str) -> None:
    """End the sessions of who is stored as *subject*. Raises :class:`NotFound`."""
    person = repository.person_by_subject(session, subject)
    if person is None:
        raise NotFound(
            f"nobody who logged in by single sign-on is stored as {subject[:140]!r}",
            hint="`mitigauge audit list --action session.begin` shows who logged in.",
        )
    _end_sessions(session, person)


def _end_sessions(session: Session, person: OidcPerson, *, by: str = "") -> None:
    # Who is refused again and again ends nothing, and writes nothing.
    if repository.delete_sessions_of_person(session, person.id):
        subject = Subject(SubjectKind.SESSION, f"all of {person.subject}")
        audit.record(session, Action.SESSION_END, subject, by=by)


def _free_subject(session: Session, name: str) -> str:
    """The name a new person is stored by. Whoever comes second gets a number behind it."""
    taken = repository.subjects_like(session, PREFIX + name)
    subject, number = PREFIX + name, 2
    while subject in taken:
        subject, number = f"{PREFIX}{name}-{number}", number + 1
    return subject
