"""The event log: lines written at a transaction's end.

Who follows it reads on from the id that it saw last. Two transactions that write events of one
experiment take turns, so that ids become visible in ascending order and none is missed.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.experiments import repository
from mitigauge.measurement.experiments.tables import Event

LONGEST_TEXT = 4000


def record_event(
    session: Session, *, experiment_id: int, run_id: int | None, kind: str, text: str
) -> None:
    """Append to the experiment's log when the transaction commits."""
    line = Event(
        experiment_id=experiment_id, run_id=run_id, kind=kind, text=clean_text(text[:LONGEST_TEXT])
    )
    session.info.setdefault("events", []).append(line)


@event.listens_for(Session, "before_commit")
def _write(session: Session) -> None:
    # Locks that are held until the commit come last and in order, so that none waits for long
    # and no two transactions wait for each other.
    if session.in_nested_transaction():
        return
    lines: list[Event] = session.info.pop("events", [])
    if not lines:
        return
    session.flush()
    for experiment_id in sorted({line.experiment_id for line in lines}):
        repository.lock_events(session, experiment_id)
    for line in lines:
        # One by one: a bulk insert does not promise ids in the order of the lines.
        session.add(line)
        session.flush()


@event.listens_for(Session, "after_rollback")
def _forget(session: Session, *_: Any) -> None:
    session.info.pop("events", None)
