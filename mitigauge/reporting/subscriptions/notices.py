"""What happened, in words: notices of rows that were stored. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote

from mitigauge.core.documents import units
from mitigauge.core.documents.paths import host_path
from mitigauge.core.effect import Effect
from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.fleet.tables import Fingerprint, Host, HostAbsence
from mitigauge.reporting.subscriptions.notice_repository import BEGAN, ENDED, MEASURED
from mitigauge.reporting.subscriptions.states import Source
from mitigauge.tracking.regressions.states import EntryKind
from mitigauge.tracking.regressions.tables import Regression, RegressionEntry
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision

LONGEST_SAID = 400
Row = dict[str, Any]

_STANDS = {
    RevisionState.REFUSED: "refused",
    RevisionState.WAITING: "waits for a person to approve it",
    RevisionState.APPROVED: "approved",
    RevisionState.BUILDING: "its kernel is built",
    RevisionState.MEASURING: "it is measured",
    RevisionState.FAILED: "failed",
    RevisionState.SET_ASIDE: "set aside",
    RevisionState.NOTHING_RUNS_IT: "not measured",
}


def of_entry(entry: RegressionEntry, regression: Regression) -> Row:
    """What was said of a regression."""
    is_owner = entry.kind is EntryKind.OWNER
    return _row(
        Source.REGRESSION,
        entry.id,
        at=entry.at,
        subject=case_subject(regression.workload, regression.case_title),
        owner=entry.after if is_owner else regression.owner,
        former_owner=entry.before if is_owner else "",
        is_new=entry.kind is EntryKind.FOUND,
        title=f"Regression {regression.id}: {_what(regression)}",
        said=_describe_entry(entry),
        path=f"/regressions/{regression.id}",
    )


def case_subject(workload: str, title: str) -> str:
    """How a case is named where one subscribes to it."""
    return f"{workload}/{title}"


def host_subject(environment: str, name: str) -> str:
    """How a host is named there."""
    return f"{environment}/{name}"


def _what(of: Regression) -> str:
    change = Effect.of(of)
    effect = "from 0" if change is None else units.effect(change)
    emulated = " [emulated]" if of.emulated else ""
    return f"{of.case_title}, {effect} in {of.metric_title} on {of.host_class}{emulated}"


def _describe_entry(entry: RegressionEntry) -> str:
    if entry.kind is EntryKind.FOUND:
        words = "found"
    elif entry.kind is EntryKind.NOTE:
        words = f"note by {entry.by}"
    else:
        words = f"{entry.kind} {entry.before or 'none'} → {entry.after or 'none'}, by {entry.by}"
    return f"{words}: {entry.text}" if entry.text else words


def of_revision(revision: SeriesRevision, series: str, now: datetime) -> Row:
    """Where a revision stands."""
    stands = _STANDS[revision.state]
    said = f"{stands}: {revision.why}" if revision.why else stands
    return _of_series(revision, series, str(revision.state), said, now)


def of_measured(
    revision: SeriesRevision, series: str, experiment: Experiment, now: datetime
) -> Row:
    """That a revision's experiment is over."""
    at = experiment.finished_at or now
    said = f"experiment {experiment.id} is {experiment.state}"
    row = _of_series(revision, series, MEASURED, said, at)
    return row | {"path": f"/experiments/{experiment.id}"}


def _of_series(
    revision: SeriesRevision, series: str, word: str, said: str, at: datetime
) -> Row:  # fmt: skip
    return _row(
        Source.SERIES,
        revision.id,
        word,
        at=at,
        subject=series,
        title=f"Series {series} {revision.label}: {revision.title}",
        said=said,
        path=f"/series/{quote(series, safe='')}",
    )


def of_absence(absence: HostAbsence, host: Host, word: str) -> Row:
    """That a host is set aside, or used again."""
    by = absence.begun_by if word == BEGAN else absence.ended_by
    said = f"set aside: {absence.reason}" if word == BEGAN else "used again"
    at = absence.ended_at if word == ENDED and absence.ended_at else absence.began_at
    return _of_host(Source.HOST, absence.id, word, host, f"{said}, by {by}" if by else said, at)


def of_fingerprint(fingerprint: Fingerprint, host: Host) -> Row:
    """That a host is not what it was."""
    said = "it is not what it was: other facts than ever before"
    return _of_host(
        Source.FINGERPRINT, fingerprint.id, "", host, said, fingerprint.first_seen_at
    )  # fmt: skip


def _of_host(
    source: Source, source_id: int, word: str, host: Host, said: str, at: datetime
) -> Row:  # fmt: skip
    emulated = " [emulated]" if host.emulated else ""
    return _row(
        source,
        source_id,
        word,
        at=at,
        subject=host_subject(host.environment, host.name),
        title=f"Host {host.environment}/{host.name}{emulated}",
        said=said,
        path=host_path(host.name, host.environment),
    )


def of_week(week: str, made_at: datetime, subject: str) -> Row:
    """That a week's report is there."""
    return _row(
        Source.WEEK,
        int(week.replace("-W", "")),
        at=made_at,
        title=f"Weekly report {week}",
        said=subject,
        path=f"/weekly/{week}",
    )


def _row(
    source: Source,
    source_id: int,
    word: str = "",
    *,
    at: datetime,
    title: str,
    said: str,
    path: str,
    subject: str = "",
    owner: str = "",
    former_owner: str = "",
    is_new: bool = False,
) -> Row:
    # All of them have the same fields, so that they are stored in one statement.
    return {
        "source": source,
        "source_id": source_id,
        "word": word,
        "at": at,
        "subject": subject,
        "owner": owner,
        "former_owner": former_owner,
        "is_new": is_new,
        "title": clean_text(title)[:LONGEST_SAID],
        "said": clean_text(said)[:LONGEST_SAID],
        "path": path,
    }
