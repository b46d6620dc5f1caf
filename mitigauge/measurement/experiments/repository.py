"""SQL of experiments: what was asked, and the event log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, selectinload

from mitigauge.core.errors import NotFound
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.experiments.tables import Case, Comparison, Event, Experiment
from mitigauge.storage.database.locks import AGAINST_CHANGES, Lock


def experiment(session: Session, experiment_id: int, *, with_cases: bool = True) -> Experiment:
    """One experiment with comparisons, arms and cases. Raises :class:`NotFound`."""
    arms = selectinload(Experiment.comparisons).selectinload(Comparison.arms)
    cases = selectinload(Experiment.comparisons).selectinload(Comparison.cases)
    found = session.scalars(
        select(Experiment)
        .where(Experiment.id == experiment_id)
        .options(*((arms, cases) if with_cases else (arms,)))
    ).one_or_none()
    if found is None:
        raise no_experiment(experiment_id)
    return found


def no_experiment(experiment_id: int) -> NotFound:
    """The error for an experiment that is not there."""
    return NotFound(
        f"there is no experiment {experiment_id}", hint="`mitigauge experiment list` shows all."
    )


def is_cancelled(session: Session, experiment_id: int) -> bool:
    """Whether it was asked to stop."""
    state = session.scalars(select(Experiment.state).where(Experiment.id == experiment_id))
    return state.one() == "cancelled"


def comparison(session: Session, comparison_id: int) -> Comparison:
    """One comparison with its arms and cases."""
    return session.scalars(
        select(Comparison)
        .where(Comparison.id == comparison_id)
        .options(selectinload(Comparison.arms), selectinload(Comparison.cases))
    ).one()


def locked_experiment(session: Session, experiment_id: int) -> Experiment:
    """The experiment, locked. Raises :class:`NotFound`."""
    found = session.get(
        Experiment, experiment_id, with_for_update=AGAINST_CHANGES, populate_existing=True
    )
    if found is None:
        raise no_experiment(experiment_id)
    return found


def case(session: Session, experiment_id: int, case_id: int) -> tuple[Case, Comparison]:
    """A case of the experiment and its comparison. Raises :class:`NotFound`."""
    found = session.execute(
        select(Case, Comparison)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .where(Case.id == case_id, Comparison.experiment_id == experiment_id)
    ).one_or_none()
    if found is None:
        raise NotFound(
            f"experiment {experiment_id} has no case {case_id}",
            hint="Its matrix lists the cases.",
        )
    return found[0], found[1]


def ended_last(session: Session, limit: int) -> list[Experiment]:
    """Experiments that are over, who ended last first."""
    asked = select(Experiment).where(Experiment.finished_at.is_not(None))
    newest = asked.order_by(Experiment.finished_at.desc(), Experiment.id.desc())
    return list(session.scalars(newest.limit(limit)))


def count(session: Session) -> int:
    """How many experiments there are."""
    return session.scalar(select(func.count()).select_from(Experiment)) or 0


def workloads_of(session: Session, experiment_id: int) -> set[str]:
    """Workloads of the experiment's cases. Raises :class:`NotFound`."""
    experiment(session, experiment_id, with_cases=False)
    found = (
        select(Case.workload)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .where(Comparison.experiment_id == experiment_id)
        .distinct()
    )
    return set(session.scalars(found))


def parameters_of(session: Session, experiment_id: int) -> dict[int, dict[str, Any]]:
    """Parameters of the experiment's cases, by case id."""
    found = session.execute(
        select(Case.id, Case.parameters)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .where(Comparison.experiment_id == experiment_id)
    )
    return {row.id: row.parameters for row in found}


def layouts_of(session: Session, experiment_id: int) -> dict[int, int]:
    """In how many layouts each kernel was built, by comparison id."""
    wanted = select(Comparison.id, Comparison.layouts).where(
        Comparison.experiment_id == experiment_id
    )
    return {row.id: row.layouts for row in session.execute(wanted)}


def case_count(session: Session, comparison_id: int) -> int:
    """How many cases a comparison has."""
    counted = select(func.count()).where(Case.comparison_id == comparison_id)
    return session.scalar(counted) or 0


def events_after(
    session: Session, experiment_id: int, after: int = 0, limit: int = 500
) -> list[Event]:
    """Events with an id above *after*, oldest first."""
    return list(
        session.scalars(
            select(Event)
            .where(Event.experiment_id == experiment_id, Event.id > after)
            .order_by(Event.id)
            .limit(limit)
        )
    )


def last_event_id(session: Session, experiment_id: int) -> int:
    """The newest event's id; 0 where there is none."""
    newest = session.scalar(select(func.max(Event.id)).where(Event.experiment_id == experiment_id))
    return newest or 0


def lock_events(session: Session, experiment_id: int) -> None:
    """Let nobody else write events of the experiment until the transaction ends."""
    session.execute(select(func.pg_advisory_xact_lock(Lock.EVENTS, experiment_id)))


def mark_running(session: Session, experiment_id: int, at: datetime) -> bool:
    """The first of a queued experiment's runs has its host; False where it had one before."""
    marked = session.scalars(
        update(Experiment)
        .where(Experiment.id == experiment_id, Experiment.state == ExperimentState.QUEUED)
        .values(state=ExperimentState.RUNNING, started_at=at)
        .returning(Experiment.id)
    )
    return marked.one_or_none() is not None
