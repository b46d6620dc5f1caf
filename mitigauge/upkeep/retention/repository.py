"""SQL of retention: short transactions over few rows, each with time-outs of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Column, Engine, MetaData, String, func, select, text, union
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.measurement.experiments.tables import Event
from mitigauge.storage.database.engine import advisory_lock, database_now, transaction
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.waits import has_come
from mitigauge.upkeep.retention.tables import Pruning

# Rows a transaction; some milliseconds each.
BATCH = 2000
STATEMENT_TIMEOUT_S = 20
# Nothing here is worth that a run waits for it.
LOCK_TIMEOUT_S = 1
# Lines of the log that only accompany what a run does: tasks of plays, and steps that begin.
# What came of a step, why a run ended and whatever else is said stays.
CHATTER = ("ansible", "boot.arm", "boot.wait", "measure.start")
# Columns that end in sha256 and name no blob.
NO_BLOBS = ("result.body_sha256",)
FINAL = "('finished', 'failed', 'cancelled')"
RECORDS_KEPT = 400


@dataclass(frozen=True, slots=True)
class Part:
    """What was removed at once; or why something was not."""

    count: int = 0
    bytes: int = 0
    error: str = ""


def alone(engine: Engine) -> AbstractContextManager[bool]:
    """Whether nobody else prunes, and nobody will until the block's end."""
    return advisory_lock(engine, Lock.RETENTION)


@contextmanager
def short_transaction(engine: Engine) -> Iterator[Session]:
    """A transaction that neither runs nor waits for long."""
    with transaction(engine) as session:
        session.execute(text(f"set local statement_timeout = '{STATEMENT_TIMEOUT_S}s'"))
        session.execute(text(f"set local lock_timeout = '{LOCK_TIMEOUT_S}s'"))
        yield session


def now(engine: Engine) -> datetime:
    """The database's clock."""
    with short_transaction(engine) as session:
        return database_now(session)


class Ended(NamedTuple):
    """An experiment or run that ended, and when."""

    id: int
    at: datetime


_EXPERIMENTS = text(
    f"""
    select id, coalesce(finished_at, created_at) as at from experiment
    where state in {FINAL} and id > :after and not exists (
      select from run where experiment_id = experiment.id and state not in {FINAL})
    order by id limit {BATCH}
    """
)
_RUNS = text(
    f"""
    select id, finished_at as at from run
    where state in {FINAL} and finished_at < :before and id > :after and not exists (
      select from host_lease where run_id = run.id and released_at is null)
    order by id limit {BATCH}
    """
)


def ended_experiments(engine: Engine) -> Iterator[Ended]:
    """Experiments none of whose runs goes on."""
    return _in_pages(engine, _EXPERIMENTS, {})


def runs_ended_before(engine: Engine, before: datetime) -> Iterator[Ended]:
    """Runs that ended before a time and hold no host."""
    return _in_pages(engine, _RUNS, {"before": before})


def _in_pages(engine: Engine, query: Any, values: dict[str, Any]) -> Iterator[Ended]:
    after = 0
    while True:
        with short_transaction(engine) as session:
            page = session.execute(query, {"after": after, **values}).all()
        if not page:
            return
        yield from (Ended(row.id, row.at) for row in page)
        after = page[-1].id


def last_chatter_to_go(engine: Engine, experiment_id: int, kept: int) -> int | None:
    """The latest accompanying line that goes where the last *kept* stay; None: none goes."""
    with short_transaction(engine) as session:
        return session.scalar(
            select(Event.id)
            .where(Event.experiment_id == experiment_id, Event.kind.in_(CHATTER))
            .order_by(Event.id.desc())
            .offset(kept)
            .limit(1)
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one table that may go."""

    table: str
    where: str
    """Condition; the table is called ``t`` in it."""
    values: dict[str, Any]


def chatter(experiment_id: int, last: int) -> Rows:
    """Accompanying lines of an experiment, up to the one with the number *last*."""
    return Rows(
        "event",
        "experiment_id = :experiment and id <= :last and kind = any(:chatter)",
        {"experiment": experiment_id, "last": last, "chatter": list(CHATTER)},
    )


def attempts(run_id: int) -> Rows:
    """All step attempts of a run."""
    return Rows("step_attempt", "run_id = :run", {"run": run_id})


# Of jobs that are over, and of the service's own, which never are.
_SETTLED = """
    exists (select from job j where j.id = t.job_id
      and (j.subject = '' or j.state in ('done', 'failed', 'cancelled')))
"""


def job_lines(before: datetime) -> Rows:
    """Lines of jobs' logs that are older than *before*."""
    return Rows("job_event", f"at < :before and {_SETTLED}", {"before": before})


def job_attempts(before: datetime) -> Rows:
    """Attempts at jobs that ended before *before*."""
    return Rows("job_attempt", f"finished_at < :before and {_SETTLED}", {"before": before})


def stale_jobs(before: datetime) -> Rows:
    """Jobs of the queue without news since *before* that nobody works on any more.

    They are over, or their worker has died, or their run is over.
    """
    return Rows(
        "procrastinate_jobs",
        f"""
        not exists (
          select from procrastinate_events e where e.job_id = t.id and e.at >= :before)
        and (t.status in ('succeeded', 'failed', 'cancelled', 'aborted')
          or t.status in ('doing', 'aborting') and not exists (
            select from procrastinate_workers w
            where w.id = t.worker_id and w.last_heartbeat >= :before)
          or t.status = 'todo' and not exists (
            select from run where run.id::text = t.args->>'run_id' and state not in {FINAL}))
        """,
        {"before": before},
    )


def dead_workers(before: datetime) -> Rows:
    """Workers that the queue has not heard of since *before*."""
    return Rows("procrastinate_workers", "last_heartbeat < :before", {"before": before})


def old_records() -> Rows:
    """Records of prunings, less the latest."""
    newest = "select id from pruning order by id desc limit :kept"
    return Rows("pruning", f"id not in ({newest})", {"kept": RECORDS_KEPT})


def measure(engine: Engine, rows: Rows) -> Part:
    """How many they are, and their size."""
    query = f"""
        select count(*), coalesce(sum(pg_column_size(t.*)), 0) from {rows.table} t
        where {rows.where}
    """
    with short_transaction(engine) as session:
        count, size = session.execute(text(query), rows.values).one()
    return Part(count, int(size))


def remove(engine: Engine, rows: Rows) -> Iterator[Part]:
    """Remove them, a batch a transaction; what somebody else has locked is left."""
    query = f"""
        with gone as (
          delete from {rows.table} whole where ctid = any (array(
            select ctid from {rows.table} t where {rows.where}
            limit {BATCH} for update of t skip locked))
          returning pg_column_size(whole.*) as size)
        select count(*), coalesce(sum(size), 0) from gone
    """
    count = BATCH
    while count == BATCH:
        with short_transaction(engine) as session:
            count, size = session.execute(text(query), rows.values).one()
        if count:
            yield Part(count, int(size))


def naming_columns(metadata: MetaData) -> list[Column[Any]]:
    """Columns that name blobs: texts whose name ends in sha256, less those known not to."""
    return [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if column.name.endswith("sha256")
        and isinstance(column.type, String)
        and f"{table.name}.{column.name}" not in NO_BLOBS
    ]


def named(engine: Engine, metadata: MetaData, digests: Sequence[str]) -> set[str]:
    """Those of the blobs that a row names."""
    wanted = list(digests)
    found = union(
        *(select(column).where(column == func.any(wanted)) for column in naming_columns(metadata))
    )
    with short_transaction(engine) as session:
        return set(session.scalars(found))


def record(engine: Engine, started_at: datetime, removed: list[dict[str, Any]]) -> None:
    """Write down a pruning that came to its end."""
    with short_transaction(engine) as session:
        session.add(Pruning(started_at=started_at, removed=removed))
        went = {str(kind["kind"]): kind["count"] for kind in removed if kind["count"]}
        audit.record(session, Action.DATABASE_PRUNE, Subject(SubjectKind.DATABASE, ""), after=went)


def due(engine: Engine, interval: timedelta) -> bool:
    """Whether the last pruning that came to its end is as long ago as that."""
    with short_transaction(engine) as session:
        last = session.scalar(select(func.max(Pruning.finished_at)))
        return last is None or has_come(last + interval, database_now(session), interval)
