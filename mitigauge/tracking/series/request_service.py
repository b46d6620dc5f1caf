"""Requests that came by mail, as they are stored and carried out.

A request lets nothing run but what its own signed mail brings: heads that say which thread it
answers are not signed, so it never approves the patches of that thread's revision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import OPERATOR
from mitigauge.core.actor import acting_by_mail
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.series import request_repository as repository
from mitigauge.tracking.series import retests, service
from mitigauge.tracking.series.request import (
    STUDIES,
    Request,
    RequestKind,
    base_named,
    request_in,
    signature_of,
)
from mitigauge.tracking.series.schemas import Recipients, RequestView, RequestWhole
from mitigauge.tracking.series.states import Attested, RequestState, RevisionState
from mitigauge.tracking.series.tables import SeriesRequest, SeriesRevision

MOST_PER_DAY = 20
MOST_WAITING = 500
MOST_REFERENCES = 30
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A mail with a request, and what is known of its sender.

    *allowed*: whether the sender is on the operator's list.
    """

    mail: Mail
    request: Request
    allowed: bool
    attested: Attested

    @property
    def is_trusted(self) -> bool:
        """Whether it is carried out without a person."""
        return self.allowed and self.attested == Attested.PASS

    @property
    def key(self) -> str:
        """Its message-id, or one made of its bytes."""
        made = f"{hashlib.sha256(self.mail.raw).hexdigest()}@no-message-id"
        return self.mail.message_id or made


# Bytes of a mail that are shown to whoever decides about it.
MOST_SHOWN = 1 << 20


@dataclass(frozen=True, slots=True)
class Means:
    """What carrying out takes. *bases*: source packages that are here → their versions.

    *study*: asks something of a revision, for whom.
    """

    blobs: BlobStore
    bases: Mapping[str, str]
    study: Callable[[Session, SeriesRevision, RequestKind, str], None]


def take(session: Session, came: IncomingRequest, means: Means) -> tuple[SeriesRequest | None, str]:
    """Store a request and carry it out where it is trusted; it, and what became of it in words.

    None where nothing is stored: it was dealt with already, or there are too many.
    """
    found = repository.by_message_id(session, came.key)
    signature = signature_of(came.mail) if came.is_trusted else ""
    why_not = _why_not(session, came, found, signature)
    if why_not:
        return None, why_not
    row = found or SeriesRequest(message_id=came.key)
    row.sender, row.subject = came.mail.sender.address, came.mail.subject[:300]
    row.recipients = _recipients(came.mail)
    row.attested, row.signature = came.attested, signature
    row.mail_sha256 = means.blobs.put(came.mail.raw)
    row.asked, row.line = came.request.asked, came.request.line
    row.state, row.why = RequestState.WAITING, _why_waiting(came)
    row.revision = repository.revision_answered(session, _answered_ids(came.mail))
    with acting_by_mail(row.sender):
        if came.is_trusted:
            _decide(session, row, came.request, means)
        session.add(row)
        session.flush()
        after = {
            "state": row.state, "why": row.why, "line": row.line, "attested": row.attested,
            "mail_sha256": row.mail_sha256,
        }  # fmt: skip
        audit.record(session, Action.REQUEST_DECIDE, _subject(row), after=after)
    return row, f"{row.state}: {row.why}"


def _why_not(
    session: Session, came: IncomingRequest, found: SeriesRequest | None, signature: str
) -> str:
    """Why a mail is not stored; empty where it is.

    One that waits makes way for one that is trusted: anybody can send a mail under an id first.
    """
    sender = came.mail.sender.address
    if found is not None and not (came.is_trusted and found.state == RequestState.WAITING):
        return "it was dealt with already"
    if not came.is_trusted:
        full = repository.count_waiting(session) >= MOST_WAITING
        return f"{MOST_WAITING} requests wait for a person already" if full else ""
    if signature and repository.is_signature_known(session, signature):
        return "what is signed in it was dealt with already"
    # One more is stored, so that its sender is told once.
    if repository.count_of_sender(session, sender, DAY) > MOST_PER_DAY:
        return f"{sender} asked for more than {MOST_PER_DAY} things in a day"
    return ""


def _why_waiting(came: IncomingRequest) -> str:
    sender = came.mail.sender.address
    if not came.allowed:
        return f"{sender} is not on the list of senders"
    if came.attested == Attested.FAIL:
        return f"its signature is not {sender}'s: somebody else may write so"
    return f"{sender} is on the list of senders, but nothing attests that they wrote it"


def _decide(session: Session, row: SeriesRequest, asked: Request, means: Means) -> None:
    """Carry out what one asks who may, within a day's limit."""
    if row.sender in repository.stopped(session):
        row.state, row.why = RequestState.IGNORED, f"{row.sender} asked for no more answers"
    elif repository.count_of_sender(session, row.sender, DAY) >= MOST_PER_DAY:
        row.state = RequestState.REFUSED
        row.why = f"{MOST_PER_DAY} requests came from you within a day; ask again tomorrow"
    else:
        carry_out(session, row, asked, means, by=row.sender)


def carry_out(
    session: Session, row: SeriesRequest, asked: Request, means: Means, *, by: str
) -> None:
    """Do what is asked for, or note why not, in words for whoever asked."""
    if asked.asked == RequestKind.STOP:
        row.state, row.why = RequestState.ACCEPTED, "no more answers"
        return
    stopped_by = repository.stopped_by(session, row.revision.series_id) if row.revision else ""
    if stopped_by:
        row.state = RequestState.IGNORED
        row.why = f"{stopped_by} asked that this series is not answered any more"
        return
    try:
        row.measured = _measured(session, row, asked, means, by)
    except InvalidInput as error:
        row.state, row.why = RequestState.REFUSED, clean_text(error.message)[:2000]
    else:
        done = "studied" if asked.asked in STUDIES else "measured"
        row.state, row.why = RequestState.ACCEPTED, f"{row.measured.label} is {done} for it"


def _measured(
    session: Session, row: SeriesRequest, asked: Request, means: Means, by: str
) -> SeriesRevision:
    """What is measured for it. Raises InvalidInput where nothing can be."""
    if asked.why:
        raise InvalidInput(asked.why)
    revision = row.revision
    if revision is None:
        raise InvalidInput("your mail answers no patch series that is followed here")
    series = repository.lock_series(session, revision.series_id)
    if revision.state == RevisionState.REFUSED:
        raise InvalidInput(f"{revision.label} of this series cannot run: {revision.why}")
    if asked.asked in STUDIES:
        means.study(session, revision, asked.asked, by)
        return revision
    if not series.spec:
        raise InvalidInput("nobody has said here yet by what this series is measured")
    base = _base(asked.base, {series.base: "", **means.bases}) if asked.base else ""
    if asked.fix or base not in ("", series.base):
        return retests.retest(
            session, revision, asked.fix, means.blobs, by, base=base, approves=False
        )
    return _once_more(session, revision, means.blobs, by)


def _base(said: str, known: Mapping[str, str]) -> str:
    """The source package that is meant. Raises InvalidInput naming those there are."""
    found = base_named(said, known)
    if found is None:
        words = [f"{name} {version}".strip() for name, version in sorted(known.items())]
        raise InvalidInput(f"the base {said} is not here; known: {', '.join(words)}")
    return found


def _once_more(
    session: Session, revision: SeriesRevision, blobs: BlobStore, by: str
) -> SeriesRevision:
    """The revision measured again, or what of it is still to be measured."""
    newest = [
        each
        for each in revision.series.revisions
        if each is revision
        or (each.number == revision.number and each.retest and not each.base and not each.has_fix)
    ][-1]
    if repository.is_over(session, newest.experiment_id):
        return retests.retest(session, revision, (), blobs, by, approves=False)
    if newest.state == RevisionState.FAILED:
        newest.state, newest.why = RevisionState.APPROVED, f"asked for again by {by}"
    return newest


def find(session: Session, request_id: int) -> SeriesRequest:
    """One request, locked. Raises NotFound."""
    row = repository.by_id(session, request_id)
    if row is None:
        raise NotFound(f"no request {request_id}", hint="`mitigauge series requests` lists them.")
    return row


def list_requests(session: Session, *, waiting: bool) -> list[RequestView]:
    """Requests that came by mail, the newest first; *waiting*: those that wait for a person."""
    rows = repository.listed(session, RequestState.WAITING if waiting else "")
    return [RequestView.model_validate(row) for row in rows]


def show_request(session: Session, request_id: int, blobs: BlobStore) -> RequestWhole:
    """One request with its mail. Raises NotFound."""
    row = find(session, request_id)
    mail = blobs.read(row.mail_sha256)
    head = RequestView.model_validate(row)
    return RequestWhole(
        **head.model_dump(),
        mail=mail[:MOST_SHOWN].decode(errors="replace"),
        cut=len(mail) > MOST_SHOWN,
    )


def approve(
    session: Session, row: SeriesRequest, means: Means, digest: str, by: str = OPERATOR
) -> None:
    """A person says that a request is meant, and its diff may run on our hosts.

    *digest*: how that of the mail which they looked at begins. Raises InvalidInput for another
    mail, and for a request that does not wait.
    """
    if not service.DIGEST.fullmatch(digest) or not row.mail_sha256.startswith(digest):
        raise InvalidInput(
            f"request {row.id} is not the mail that you looked at: its digest is "
            f"{row.mail_sha256[:16]}, not {digest[:16]!r}",
            hint=f"Look at it: `mitigauge series requests --mail {row.id}`.",
        )
    if row.state != RequestState.WAITING:
        raise InvalidInput(
            f"request {row.id} is {row.state}: {row.why}", hint="There is nothing to approve."
        )
    mail = mail_of(means.blobs.read(row.mail_sha256))
    asked = request_in(mail)
    if asked is None:
        raise InvalidInput(f"request {row.id} asks for nothing", hint="Ignore it.")
    # Its thread may have been added since it came.
    row.revision = repository.revision_answered(session, _answered_ids(mail))
    carry_out(session, row, asked, means, by=f"{row.sender}, approved by {by}")
    session.flush()
    audit.record(
        session,
        Action.REQUEST_APPROVE,
        _subject(row),
        before={"state": RequestState.WAITING},
        after={"state": row.state, "why": row.why, "mail_sha256": row.mail_sha256},
    )


def ignore(session: Session, row: SeriesRequest) -> None:
    """Leave a request alone: it gets no answer, and a *stop* holds no more.

    What is measured for it already goes on.
    """
    before = {"state": row.state}
    row.state, row.why = RequestState.IGNORED, "a person set it aside"
    session.flush()
    after = {"state": row.state}
    audit.record(session, Action.REQUEST_IGNORE, _subject(row), before=before, after=after)


def _subject(row: SeriesRequest) -> Subject:
    return Subject(SubjectKind.REQUEST, row.id)


def _answered_ids(mail: Mail) -> list[str]:
    """Ids of mails that *mail* may answer, the nearest first."""
    found = [mail.parent, *reversed(mail.references[-MOST_REFERENCES:])]
    return [each for each in dict.fromkeys(found) if each]


def _recipients(mail: Mail) -> Recipients:
    """What an answer's heads need of it."""
    named = [each.written for each in (*mail.to, *mail.cc)]
    references = [*mail.references[-MOST_REFERENCES:], mail.message_id]
    return Recipients(
        subject=mail.subject[:300],
        to=[mail.sender.written],
        cc=named,
        references=[each for each in references if each],
    )
