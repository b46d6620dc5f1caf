"""The answer to a revision, from what is stored of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from email.message import EmailMessage

from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.limit_service import lines_of
from mitigauge.core.errors import NotReady
from mitigauge.kernels import repository as kernel_rows
from mitigauge.kernels.mails.mail import address_of
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.letters.reply import reply
from mitigauge.reporting.letters.reply.cover_letter import findings
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.tracking.series.mail_thread import FoundRevision
from mitigauge.tracking.series.request_repository import stopped
from mitigauge.tracking.series.service import recipients_of
from mitigauge.tracking.series.tables import SeriesRevision
from mitigauge.tracking.studies import service as studies


def answer(session: Session, revision: SeriesRevision, *, sender: str = "") -> EmailMessage:
    """The mail that answers *revision* with what its experiment found.

    Who asked for no more answers is not among its receivers. Raises NotReady before the
    experiment's end, and InvalidInput as :func:`reply.mail`.
    """
    return answer_to(session, revision, _answered(session, revision, sender), sender=sender)


def answer_to(
    session: Session, revision: SeriesRevision, answered: reply.Addressees, *, sender: str = ""
) -> EmailMessage:
    """The same to another mail than the revision's own."""
    if revision.experiment_id is None:
        raise NotReady(
            f"{revision.label} is {revision.state}: nothing was measured of it",
            hint=f"`mitigauge series start {revision.series.name} {revision.label}` measures it.",
        )
    view = views.show_experiment(session, revision.experiment_id)
    if view.state is not ExperimentState.FINISHED:
        raise NotReady(
            f"experiment {view.id} is {view.state}: an answer waits for its end",
            hint=f"`mitigauge experiment wait {view.id}` follows it.",
        )
    return _mail(session, answered, view, revision.letter, revision_id=revision.id, sender=sender)


def answer_found(
    session: Session, found: FoundRevision, experiment_id: int, *, archive: str = reply.LORE
) -> EmailMessage:
    """The answer to a revision that was only tried: nothing of it is stored but an experiment.

    Raises InvalidInput as :func:`reply.mail`.
    """
    view = views.show_experiment(session, experiment_id)
    no_more, who = stopped(session), recipients_of(found)
    label = f"v{found.version}"
    answered = reply.Addressees(
        label=label,
        title=found.title,
        subject=who.subject or found.title,
        message_id=found.first.message_id,
        references=[each for each in who.references if each],
        to=without(who.to, no_more),
        cc=without(who.cc, no_more),
        archive=archive.rstrip("/"),
        own_id=f"try.{label}.{experiment_id}",
    )
    return _mail(session, answered, view, found.letter, sender="")


def _mail(
    session: Session,
    answered: reply.Addressees,
    view: ExperimentView,
    letter: str,
    *,
    revision_id: int = 0,
    sender: str,
) -> EmailMessage:
    return reply.mail(
        answered,
        view,
        gathered(session, view).text(within_mail=True),
        kernels_of(session, view),
        {name: workload.by_hand for name, workload in Catalog().workloads.items()},
        findings(letter),
        besides=reply.Besides(
            lines_of(session, [view.id]).get(view.id, ""),
            studies.lines_of(session, revision_id) if revision_id else [],
        ),
        sender=sender,
    )


def _answered(session: Session, revision: SeriesRevision, sender: str) -> reply.Addressees:
    series = revision.series
    no_more = stopped(session)
    return reply.Addressees(
        label=revision.label,
        title=revision.title,
        subject=revision.recipients.subject or revision.title,
        message_id=revision.message_id,
        references=[each for each in revision.recipients.references if each],
        to=without(revision.recipients.to, no_more),
        cc=without(revision.recipients.cc, no_more),
        reported_by=sender,
        archive=series.archive.rstrip("/") or reply.LORE,
        own_id=f"{series.name}.{revision.label}.{revision.experiment_id}",
    )


def without(shown: Sequence[str], addresses: Collection[str]) -> list[str]:
    """Receivers but those of *addresses*."""
    return [
        each for each in shown if (found := address_of(each)) and found.address not in addresses
    ]


def kernels_of(session: Session, view: ExperimentView) -> list[reply.BuiltKernel]:
    """How the kernels of an experiment were built."""
    releases = {arm.kernel for c in view.comparisons for arm in c.arms if arm.kernel}
    ran = run_rows.kernel_builds(session, view.id)
    return [
        reply.BuiltKernel(
            release=str(kernel.release),
            base=kernel.base,
            patches=[patch["title"] for patch in kernel.patches],
            profile=kernel.profile,
            toolchain=kernel.toolchain,
            loosely=kernel.loosely,
            # Of what ran: the kernel may have been built anew since.
            build_id=ran[kernel.release].build_id
            if kernel.release in ran
            else str(kernel.build_id),
        )
        for kernel in kernel_rows.of_releases(session, releases)
    ]
