"""SQL of notices: which rows none was made of yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, cast, exists, func, literal, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.fleet.states import AbsenceKind
from mitigauge.measurement.fleet.tables import Fingerprint, Host, HostAbsence
from mitigauge.reporting.letters.weekly.tables import WeeklyReport
from mitigauge.reporting.subscriptions.states import Source
from mitigauge.reporting.subscriptions.tables import Notice
from mitigauge.storage.database.locks import Lock
from mitigauge.tracking.regressions.tables import Regression, RegressionEntry
from mitigauge.tracking.series.tables import Series, SeriesRevision

# Rows of one kind that are looked at in one go.
AT_ONCE = 2000
# A history's entry is committed before so many later ones are.
LATE_ENTRIES = 1000


def lock(session: Session) -> None:
    """Let nobody else make notices, subscriptions or digests until the transaction ends."""
    session.execute(text("SELECT pg_advisory_xact_lock(:lock, 0)"), {"lock": int(Lock.NOTICES)})


def last_id(session: Session) -> int:
    """The number of the newest notice; 0: there is none."""
    return session.scalar(select(func.max(Notice.id))) or 0


def add(session: Session, rows: Iterable[Mapping[str, Any]]) -> None:
    """Store notices in their order."""
    values = [dict(row) for row in rows]
    if values:
        session.execute(insert(Notice).on_conflict_do_nothing(), values)


def _is_new(source: Source, source_id: Any, word: Any = "") -> ColumnElement[bool]:
    """Whether no notice was made of a row."""
    return ~exists().where(
        Notice.source == source, Notice.source_id == source_id, Notice.word == word
    )


def entries(session: Session) -> Sequence[tuple[RegressionEntry, Regression]]:
    """New entries of regressions' histories."""
    seen = select(func.coalesce(func.max(Notice.source_id), 0)).where(
        Notice.source == Source.REGRESSION
    )
    rows = session.execute(
        select(RegressionEntry, Regression)
        .join(Regression, RegressionEntry.regression_id == Regression.id)
        .where(
            RegressionEntry.id > seen.scalar_subquery() - LATE_ENTRIES,
            _is_new(Source.REGRESSION, RegressionEntry.id),
        )
        .order_by(RegressionEntry.id)
        .limit(AT_ONCE)
    )
    return [(entry, regression) for entry, regression in rows]


def revisions(session: Session) -> Sequence[tuple[SeriesRevision, str]]:
    """Revisions that stand where none was said to stand, with their series' names."""
    rows = session.execute(
        select(SeriesRevision, Series.name)
        .join(Series, SeriesRevision.series_id == Series.id)
        .where(_is_new(Source.SERIES, SeriesRevision.id, SeriesRevision.state))
        .order_by(SeriesRevision.id)
        .limit(AT_ONCE)
    )
    return [(revision, name) for revision, name in rows]


MEASURED = "measured"


def measured(session: Session) -> Sequence[tuple[SeriesRevision, str, Experiment]]:
    """Revisions whose experiments are over, with their series' names."""
    rows = session.execute(
        select(SeriesRevision, Series.name, Experiment)
        .join(Series, SeriesRevision.series_id == Series.id)
        .join(Experiment, SeriesRevision.experiment_id == Experiment.id)
        .where(
            Experiment.state.in_(FINAL_STATES),
            # Before that its verdicts are those of an interim analysis.
            Experiment.concluded_at.is_not(None),
            _is_new(Source.SERIES, SeriesRevision.id, literal(MEASURED)),
        )
        .order_by(SeriesRevision.id)
        .limit(AT_ONCE)
    )
    return [(revision, name, experiment) for revision, name, experiment in rows]


BEGAN, ENDED = "began", "ended"


def absences(session: Session, word: str) -> Sequence[tuple[HostAbsence, Host]]:
    """Times in which a host is set aside, that began, or that ended."""
    wanted = (
        select(HostAbsence, Host)
        .join(Host, HostAbsence.host_id == Host.id)
        .where(
            HostAbsence.kind == AbsenceKind.SET_ASIDE,
            _is_new(Source.HOST, HostAbsence.id, literal(word)),
        )
        .order_by(HostAbsence.id)
        .limit(AT_ONCE)
    )
    if word == ENDED:
        wanted = wanted.where(HostAbsence.ended_at.is_not(None))
    return [(absence, host) for absence, host in session.execute(wanted)]


def fingerprints(session: Session) -> Sequence[tuple[Fingerprint, Host]]:
    """Fingerprints of hosts that had others before."""
    earlier = aliased(Fingerprint)
    rows = session.execute(
        select(Fingerprint, Host)
        .join(Host, Fingerprint.host_id == Host.id)
        .where(
            exists().where(earlier.host_id == Fingerprint.host_id, earlier.id < Fingerprint.id),
            _is_new(Source.FINGERPRINT, Fingerprint.id),
        )
        .order_by(Fingerprint.id)
        .limit(AT_ONCE)
    )
    return [(fingerprint, host) for fingerprint, host in rows]


def weeks(session: Session) -> list[tuple[str, Any, str]]:
    """Week, when its report was made and the report's subject, of weeks that are over."""
    number = cast(func.replace(WeeklyReport.week, "-W", ""), Integer)
    rows = session.execute(
        select(WeeklyReport.week, WeeklyReport.made_at, WeeklyReport.document["subject"].astext)
        .where(
            WeeklyReport.complete,
            WeeklyReport.superseded_at.is_(None),
            _is_new(Source.WEEK, number),
        )
        .order_by(WeeklyReport.week)
        .limit(AT_ONCE)
    )
    return [(week, made_at, subject or "") for week, made_at, subject in rows]
