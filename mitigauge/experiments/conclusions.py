"""What an experiment says once it is over: its headline, and the false alarms it adds.

Worked out after the experiment was closed and apart from closing it, so that no number can
keep a run from its end or a host from the next run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from mitigauge.database import database_now, transaction
from mitigauge.experiments import repository
from mitigauge.experiments.aa import double_outcomes
from mitigauge.experiments.event_log import record_event
from mitigauge.experiments.judging import ValueMap, value_map
from mitigauge.experiments.tables import AaOutcome, Boot, Experiment
from mitigauge.experiments.views import comparison_views, headline

log = structlog.get_logger()


def conclude(engine: Engine, experiment_id: int) -> None:
    """Store headline and false alarms of an experiment that is over; again, it does nothing.

    What cannot be worked out is said in the event log and not tried again. Raises nothing but
    what :func:`mitigauge.database.is_away` knows.
    """
    with transaction(engine) as session:
        experiment = repository.experiment(session, experiment_id)
        runs = [run.id for run in experiment.runs]
        boots = repository.boots_of(session, runs)
        values = value_map(repository.values_of(session, runs))
    conclusion = _Conclusion()
    try:
        conclusion = _worked_out(experiment, boots, values)
    except Exception as error:
        log.exception("no conclusion", experiment=experiment_id)
        conclusion = _Conclusion(trouble=f"{type(error).__name__}: {error}")
    with transaction(engine) as session:
        _store(session, experiment_id, conclusion)


@dataclass(frozen=True, slots=True)
class _Conclusion:
    headline: str = ""
    false_alarms: Sequence[dict[str, Any]] = ()
    trouble: str = ""


def _worked_out(experiment: Experiment, boots: Sequence[Boot], values: ValueMap) -> _Conclusion:
    """Takes seconds for thousands of cases, so no transaction is open meanwhile."""
    return _Conclusion(
        headline=headline(comparison_views(experiment, boots, values)),
        false_alarms=[
            row
            for run in experiment.runs
            for row in double_outcomes(run, [b for b in boots if b.run_id == run.id], values)
        ],
    )


def _store(session: Session, experiment_id: int, conclusion: _Conclusion) -> None:
    experiment = repository.locked_experiment(session, experiment_id)
    if experiment.concluded_at is not None:
        return
    experiment.concluded_at = database_now(session)
    experiment.headline = conclusion.headline
    if conclusion.false_alarms:
        session.execute(insert(AaOutcome).on_conflict_do_nothing(), conclusion.false_alarms)
    if conclusion.trouble:
        record_event(
            session,
            experiment_id=experiment_id,
            run_id=None,
            kind="failed",
            text=f"no headline and no false alarms: {conclusion.trouble}",
        )
