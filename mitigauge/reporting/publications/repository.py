"""SQL of publications."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.repository import given_again_since
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.reporting.publications.states import OPEN, PublicationState, TargetName
from mitigauge.reporting.publications.tables import Publication
from mitigauge.storage.database.waits import began_before, column_has_come
from mitigauge.tracking.series.tables import SeriesRevision


def add_new(session: Session, targets: Collection[TargetName], since: datetime) -> int:
    """A row for each target and experiment of a revision that was concluded from then on.

    How many there were.
    """
    made = 0
    for target in targets:
        known = select(Publication.experiment_id).where(Publication.target == target)
        wanted = (
            select(literal(target.value), Experiment.id)
            .join(SeriesRevision, SeriesRevision.experiment_id == Experiment.id)
            .where(
                Experiment.state == ExperimentState.FINISHED,
                Experiment.concluded_at >= since,
                Experiment.id.not_in(known),
            )
            .distinct()
        )
        done = session.execute(
            insert(Publication)
            .from_select(["target", "experiment_id"], wanted)
            .on_conflict_do_nothing()
            .returning(Publication.id)
        )
        made += len(done.all())
    return made


def take_again(session: Session, targets: Collection[TargetName]) -> int:
    """Let those be sent once more whose verdicts were given again since; how many there were."""
    now = func.clock_timestamp()
    done = session.execute(
        update(Publication)
        .where(
            Publication.target.in_(targets),
            Publication.state.not_in(OPEN),
            given_again_since(Publication.experiment_id, Publication.begun_at),
        )
        .values(state=PublicationState.WAITING, tries=0, made_at=now, next_at=now, ended_at=None)
        .returning(Publication.id)
    )
    return len(done.all())


def begin_next(
    session: Session,
    targets: Collection[TargetName],
    *,
    lost_after: timedelta,
    longest_pause: timedelta,
) -> Publication | None:
    """One whose time has come, locked; None: there is none. One that was lost is taken again."""
    wanted = (
        select(Publication)
        .where(
            Publication.target.in_(targets),
            or_(
                (Publication.state == PublicationState.WAITING)
                & column_has_come(Publication.next_at, longest_pause),
                (Publication.state == PublicationState.BEGUN)
                & began_before(Publication.begun_at, lost_after),
            ),
        )
        .order_by(Publication.next_at, Publication.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    return session.scalars(wanted).one_or_none()


def revision_of(session: Session, experiment_id: int) -> SeriesRevision | None:
    """The revision that an experiment measures; None: it measures none."""
    wanted = select(SeriesRevision).where(SeriesRevision.experiment_id == experiment_id)
    return session.scalars(wanted.order_by(SeriesRevision.id).limit(1)).one_or_none()


def of_experiment(session: Session, experiment_id: int) -> Sequence[Publication]:
    """Where its result went."""
    wanted = select(Publication).where(Publication.experiment_id == experiment_id)
    return session.scalars(wanted.order_by(Publication.target)).all()
