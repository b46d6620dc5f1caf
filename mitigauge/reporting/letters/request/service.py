"""The answer that a stored request is owed, if there is one now."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import EmailMessage
from enum import StrEnum

from sqlalchemy.orm import Session

from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.mails.mail import address_of
from mitigauge.measurement.experiments.states import FINAL_STATES, ExperimentState
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.letters.reply import reply
from mitigauge.reporting.letters.reply.service import answer_to, without
from mitigauge.reporting.letters.request import request_reply
from mitigauge.reporting.letters.request.request_reply import Answer
from mitigauge.storage.database.engine import database_now
from mitigauge.tracking.series import request_repository as repository
from mitigauge.tracking.series.request import FORMS, STUDIES, RequestKind
from mitigauge.tracking.series.states import RequestState, RevisionState
from mitigauge.tracking.series.tables import SeriesRequest, SeriesRevision
from mitigauge.tracking.studies import service as studies
from mitigauge.tracking.studies.states import ENDED

MOST_FAILURES = 20
LONGEST_ERROR = 500
_WITHOUT_FIGURES = (
    RevisionState.FAILED, RevisionState.REFUSED, RevisionState.NOTHING_RUNS_IT,
)  # fmt: skip


class Part(StrEnum):
    """Which of its two answers."""

    RECEIPT = "receipt"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class PendingReply:
    """One answer to one request."""

    request: int
    part: Part
    mail: EmailMessage

    @property
    def name(self) -> str:
        """What its files and its deliveries are known by."""
        return f"request-{self.request}-{self.part}"


def owed(session: Session, row: SeriesRequest, *, sender: str = "") -> PendingReply | None:
    """What *row* is to be answered now; None: nothing yet, or nothing any more.

    Raises InvalidInput where nobody can be answered.
    """
    if row.asked != RequestKind.STOP and _is_stopped(session, row):
        row.state, row.why = RequestState.DONE, "not answered: no more answers are wanted"
        return None
    if row.state == RequestState.ACCEPTED and row.measured is not None:
        result = _result(session, row, row.measured, sender)
        if result is not None:
            return PendingReply(row.id, Part.RESULT, result)
    if row.receipt_at is not None:
        return None
    heads = _answered(session, row, Part.RECEIPT, sender)
    return PendingReply(
        row.id, Part.RECEIPT, request_reply.mail(heads, _understood(row), sender=sender)
    )


def answered(session: Session, row: SeriesRequest, part: Part, missed: str = "") -> None:
    """Note that an answer went out; *missed*: who did not get it and why, empty: all have it."""
    now = database_now(session)
    row.failures, row.error = 0, clean_text(missed)[:LONGEST_ERROR]
    row.receipt_at = row.receipt_at or now
    if part is Part.RESULT:
        row.result_at = now
    if part is Part.RESULT or row.asked == RequestKind.STOP:
        row.state = RequestState.DONE


def not_answered(row: SeriesRequest, why: str, *, for_good: bool = False) -> None:
    """Note that somebody did not get an answer; after 20 times, or *for_good*, it is given up."""
    row.failures += 1
    row.error = clean_text(why)[:LONGEST_ERROR]
    if for_good or row.failures >= MOST_FAILURES:
        row.state, row.why = RequestState.DONE, "its answer could not be sent"


def _is_stopped(session: Session, row: SeriesRequest) -> bool:
    of_series = bool(row.revision and repository.stopped_by(session, row.revision.series_id))
    return of_series or row.sender in repository.stopped(session)


def _understood(row: SeriesRequest) -> Answer:
    if row.state == RequestState.REFUSED:
        return Answer(row.line, [f"Nothing is measured for it: {row.why}."], FORMS)
    if row.asked == RequestKind.STOP:
        series = row.revision.series.name if row.revision else ""
        also = f", and the series {series} is not answered any more" if series else ""
        return Answer(row.line, [f"You get no more answers{also}. This is the last one."])
    assert row.measured is not None
    to_come = "The result comes as an answer to your mail."
    if row.asked in STUDIES:
        return Answer(row.line, [_what_is_studied(row.asked, row.measured), to_come])
    return Answer(row.line, [*_what_is_done(row.measured), to_come])


def _what_is_studied(asked: RequestKind, revision: SeriesRevision) -> str:
    of = f"{revision.label} of {revision.series.name}"
    if asked is RequestKind.SELECT:
        return (
            f"{of} and its base are booted on emulated processors under each option, to see which "
            "mitigation each chooses."
        )
    if asked is RequestKind.VARIANTS:
        return (
            f"{of} and the other revisions of the series are built, what they run is counted "
            "exactly, and those that do as much of what protects are ranked."
        )
    return (
        f"The kernels between the base and {of} are built, each patch alone too, and what they run "
        "is counted exactly."
    )


def _what_is_done(measured: SeriesRevision) -> list[str]:
    label = measured.label
    title = f" ({measured.retest})" if measured.retest else ""
    base = measured.base or measured.series.base
    said = [f"{label} of {measured.series.name}{title} on {base} is built and measured for it."]
    if measured.has_fix:
        said.append(f"It is compared with v{measured.number} without your diff.")
    if measured.state == RevisionState.WAITING:
        said.append(
            f"Before that a person here has to look at the patches of v{measured.number}, whose "
            "sender is not proven."
        )
    return said


def _result(
    session: Session, row: SeriesRequest, measured: SeriesRevision, sender: str
) -> EmailMessage | None:
    """What came of the measurement; None before its end."""
    if row.asked in STUDIES:
        return _study(session, row, measured, sender)
    if studies.is_waited_for(session, measured.id):
        return None
    why = _why_no_figures(session, measured)
    if why is None:
        return None
    heads = _answered(session, row, Part.RESULT, sender)
    if why:
        said = [f"{measured.label} of {measured.series.name} has no figures: {why}."]
        return request_reply.mail(heads, Answer(row.line, said, FORMS), sender=sender)
    return request_reply.automatic(answer_to(session, measured, heads, sender=sender))


def _study(
    session: Session, row: SeriesRequest, revision: SeriesRevision, sender: str
) -> EmailMessage | None:
    """What came of the study that a mail asked for; None before its end."""
    study = studies.of_request(session, revision, row.asked)
    if study is not None and study.state not in ENDED:
        return None
    heads = _answered(session, row, Part.RESULT, sender)
    if study is None or not study.answer:
        why = f"{study.state}: {study.why}" if study else "it is gone"
        said = [f"Of {revision.label} of {revision.series.name} nothing can be said, {why}."]
        return request_reply.mail(heads, Answer(row.line, said, FORMS), sender=sender)
    said = [f"{revision.label} of {revision.series.name}:"]
    answer = Answer(row.line, said, told=study.answer)
    return request_reply.mail(heads, answer, sender=sender)


def _why_no_figures(session: Session, measured: SeriesRevision) -> str | None:
    """Why a revision has no figures; empty where it has, None where that is still open."""
    if measured.state in _WITHOUT_FIGURES:
        return measured.why
    experiment = session.get(Experiment, measured.experiment_id or 0)
    if experiment is None or experiment.state not in FINAL_STATES:
        return None
    if experiment.concluded_at is None:
        # Its verdicts are still those of an interim analysis.
        return None
    if experiment.state == ExperimentState.FINISHED:
        return ""
    errors = ", ".join(run_rows.errors_of(session, experiment.id, limit=3))
    return f"its experiment was {experiment.state}" + (f": {errors}" if errors else "")


def _answered(session: Session, row: SeriesRequest, part: Part, sender: str) -> reply.Addressees:
    """Heads: to whoever asked; a result also to those of the series whom the mail names.

    The others whom it names are not answered: those heads are not signed.
    """
    about = row.measured or row.revision
    cc = _of_the_series(row, about) if part is Part.RESULT and about else []
    return reply.Addressees(
        label=about.label if about else "your mail",
        title=about.title if about else row.subject,
        subject=row.subject or "your mail",
        message_id=row.message_id,
        references=row.recipients.references,
        to=row.recipients.to,
        cc=without(cc, repository.stopped(session)),
        reported_by=sender,
        archive=(about.series.archive.rstrip("/") if about else "") or reply.LORE,
        own_id=f"mitigauge-{row.id}-{row.mail_sha256[:12]}.{part}",
    )


def _of_the_series(row: SeriesRequest, about: SeriesRevision) -> list[str]:
    known = {
        found.address
        for each in (*about.recipients.to, *about.recipients.cc)
        if (found := address_of(each))
    }
    return [
        each
        for each in row.recipients.cc
        if (found := address_of(each)) and found.address in known and found.address != row.sender
    ]
