"""SQL of patch series."""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.orm import Session, selectinload

from mitigauge.jobs.blame import LONGEST_PAUSE
from mitigauge.storage.database.found_words import with_words
from mitigauge.storage.database.waits import column_has_come
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import Series, SeriesRevision

MOST_LISTED = 500


def listed(session: Session, find: str = "") -> list[Series]:
    """The newest 500 series that have the words, with their revisions, the newest first."""
    wanted = (
        with_words(select(Series), find, (Series.name, Series.title))
        .options(selectinload(Series.revisions))
        .order_by(Series.id.desc())
        .limit(MOST_LISTED)
    )
    return list(session.scalars(wanted))


def with_kernels(session: Session, series: Series) -> Series:
    """The same series, its revisions and their kernels read at once, not one by one."""
    kernels = selectinload(Series.revisions).selectinload(SeriesRevision.kernel)
    session.scalars(select(Series).where(Series.id == series.id).options(kernels)).all()
    return series


def by_key(session: Session, key: str) -> Series | None:
    """The series of that key, locked against another who would add a revision."""
    return session.scalars(select(Series).where(Series.key == key).with_for_update()).one_or_none()


def by_name(session: Session, name: str, *, lock: bool = False) -> Series | None:
    """The series of that name or id."""
    wanted = Series.id == int(name) if name.isdecimal() and len(name) < 9 else Series.name == name
    query = select(Series).where(wanted)
    return session.scalars(query.with_for_update() if lock else query).one_or_none()


def of_experiment(session: Session, experiment_id: int) -> Series | None:
    """The series of which an experiment measured a revision."""
    wanted = (
        select(Series)
        .join(SeriesRevision)
        .where(SeriesRevision.experiment_id == experiment_id)
        .limit(1)
    )
    return session.scalars(wanted).first()


def waiting_for_approval(session: Session, limit: int) -> list[tuple[Series, SeriesRevision]]:
    """Revisions that a person has to approve, the newest first, each with its series."""
    asked = (
        select(Series, SeriesRevision)
        .join(SeriesRevision, SeriesRevision.series_id == Series.id)
        .where(SeriesRevision.state == RevisionState.WAITING)
        .order_by(SeriesRevision.id.desc())
        .limit(limit)
    )
    return [(row[0], row[1]) for row in session.execute(asked)]


def revision(session: Session, revision_id: int) -> SeriesRevision | None:
    """One revision, locked against another who would start it."""
    wanted = select(SeriesRevision).where(SeriesRevision.id == revision_id).with_for_update()
    return session.scalars(wanted).one_or_none()


def to_start(session: Session) -> list[int]:
    """Ids of revisions that may run and do not yet, the oldest first."""
    states = (RevisionState.APPROVED, RevisionState.BUILDING)
    wanted = (
        select(SeriesRevision.id)
        .join(Series)
        .where(
            SeriesRevision.state.in_(states),
            Series.spec != "",
            or_(
                SeriesRevision.again_at.is_(None),
                column_has_come(SeriesRevision.again_at, LONGEST_PAUSE),
            ),
        )
        .order_by(SeriesRevision.id)
    )
    return list(session.scalars(wanted))


def watched(session: Session, archive: str) -> list[Series]:
    """The series that are looked for in that archive."""
    return list(session.scalars(select(Series).where(Series.watched, Series.archive == archive)))


def watched_archives(session: Session) -> list[str]:
    """Addresses of the archives of watched series, sorted."""
    wanted = select(Series.archive).where(Series.watched, Series.archive != "").distinct()
    return sorted(session.scalars(wanted))
