"""The queue's tables: pinned, the same from every migration path, and made anew without loss."""

from __future__ import annotations

import importlib.metadata
import re
import threading
import time
from importlib import resources
from pathlib import Path
from typing import Any, cast

import pytest
from alembic import command
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, Engine, text

from mitigauge.jobs.abilities import Abilities
from mitigauge.storage.database.engine import alembic_config
from mitigauge.storage.database.queue_schema import drop_queue, make_queue
from mitigauge.storage.database.schema_revision import MIGRATIONS
from pipelines.advance import Advancer
from pipelines.host_watch import NoWatch
from pipelines.worker import Worker
from tests import recording
from tests.postgres import Databases, engine_of

INSTALLED = importlib.metadata.version("procrastinate")
WAY_OUT = (
    f"procrastinate {INSTALLED} wants other tables than db/migrations builds: put its "
    f"sql/schema.sql, below its licence, into db/migrations/queue/procrastinate-{INSTALLED}.sql "
    "and add a migration that calls drop_queue and make_queue with that version."
)

# Everything that bears the package's name, each with what defines it.
CATALOGUE = """
select 'column', c.table_name || '.' || c.column_name,
       concat_ws(' ', c.udt_name, c.character_maximum_length, c.is_nullable, c.column_default,
                 c.is_identity)
  from information_schema.columns c where table_name like 'procrastinate%'
union all
select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
  from pg_constraint where conrelid::regclass::text like 'procrastinate%' and contype <> 'n'
union all
select 'index', indexname, indexdef from pg_indexes where tablename like 'procrastinate%'
union all
select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid)
  from pg_trigger where tgrelid::regclass::text like 'procrastinate%' and not tgisinternal
union all
select 'function', oid::regprocedure::text, pg_get_functiondef(oid)
  from pg_proc where proname like 'procrastinate%'
union all
select 'word', enumtypid::regtype::text || '.' || enumlabel, '' from pg_enum
  where enumtypid::regtype::text like 'procrastinate%'
"""


def queue_of(engine: Engine) -> dict[tuple[str, str], str]:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(CATALOGUE.replace("%", "%%")).all()
    assert {row[0] for row in rows} >= {"column", "constraint", "index", "function", "word"}
    return {(row[0], row[1]): row[2] for row in rows}


def as_the_package_wants(engine: Engine) -> dict[tuple[str, str], str]:
    """The queue as the installed package makes it, in place of ours."""
    with engine.begin() as connection:
        drop_queue(connection)
        connection.exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
    return queue_of(engine)


def test_the_migrations_build_the_tables_that_the_installed_package_wants(engine: Engine) -> None:
    ours = queue_of(engine)
    assert ours == as_the_package_wants(engine), WAY_OUT


def test_the_installed_version_has_its_pinned_file_and_a_migration(engine: Engine) -> None:
    pinned = MIGRATIONS / "queue" / f"procrastinate-{INSTALLED}.sql"
    versions = "".join(path.read_text() for path in (MIGRATIONS / "versions").glob("*.py"))
    # An update that leaves the tables as they are needs neither.
    if not pinned.is_file():
        assert newest_pinned().read_text("utf-8").endswith(SchemaManager.get_schema()), WAY_OUT
        return
    assert f'"{INSTALLED}"' in versions, WAY_OUT
    assert pinned.read_text("utf-8").endswith(SchemaManager.get_schema()), WAY_OUT
    assert "Permission is hereby granted, free of charge" in pinned.read_text("utf-8")


def newest_pinned() -> Path:
    files = (MIGRATIONS / "queue").glob("procrastinate-*.sql")
    return max(files, key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)])


def test_the_migration_that_makes_the_queue_does_not_ask_the_installed_package(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SchemaManager, "get_schema", staticmethod(lambda: "select 'other' / 0"))
    with databases.copied("template1") as url:
        command.upgrade(alembic_config(url), "head")
        engine = engine_of(url)
        assert ("column", "procrastinate_jobs.queueing_lock") in queue_of(engine)
        engine.dispose()


def test_a_queue_of_an_older_package_with_jobs_in_it_becomes_the_pinned_one(engine: Engine) -> None:
    wanted = queue_of(engine)
    with engine.begin() as connection:
        drop_queue(connection)
        older_queue(connection)
        connection.exec_driver_sql(
            "insert into procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)"
            " values ('runs', 'advance', 'a', 'run-1', '{\"run_id\": 1}')"
        )
    assert queue_of(engine) != wanted
    with engine.begin() as connection:
        drop_queue(connection)
        make_queue(connection, newest_pinned().stem.partition("-")[2])
    assert queue_of(engine) == wanted


def older_queue(connection: Connection) -> None:
    """The queue as version 3.0 had it: by the package's own migrations up to there."""
    folder = resources.files("procrastinate.sql") / "migrations"
    for script in sorted(Path(str(folder)).glob("*.sql")):
        if script.name < "03.01":
            connection.exec_driver_sql(script.read_text("utf-8").replace("%", "%%"))


class Counting:
    """Stands for an advancer: says which runs it was asked to advance, and does nothing."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.watch = NoWatch()
        self.asked: list[int] = []

    def advance(self, run_id: int, **_: Any) -> float | None:
        self.asked.append(run_id)
        return None


def wait_for_more(advancer: Counting) -> None:
    seen, deadline = len(advancer.asked), time.monotonic() + 60
    while len(advancer.asked) <= seen:
        assert time.monotonic() < deadline, "no run was advanced any more"
        time.sleep(0.1)


def test_a_worker_goes_on_while_its_queue_is_made_anew_with_jobs_in_it(
    engine: Engine, database_url: str, home: Path
) -> None:
    recording.load(engine)
    with engine.begin() as connection:
        connection.execute(text("update run set state = 'running', wake_at = null"))
    advancer, stop = Counting(engine), threading.Event()
    with engine.begin() as connection:
        hosts = connection.execute(text("select environment, name from host")).all()
    can = Abilities(
        hosts={place: [name for at, name in hosts if at == place] for place, _ in hosts}
    )
    worker = Worker(cast(Advancer, advancer), database_url, look=lambda: can)
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        wait_for_more(advancer)
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "insert into procrastinate_jobs (queue_name, task_name, args, scheduled_at)"
                " values ('runs', 'advance', '{\"run_id\": 1}', now() + interval '1 hour')"
            )
            drop_queue(connection)
            make_queue(connection, newest_pinned().stem.partition("-")[2])
        wait_for_more(advancer)
        wait_for_more(advancer)
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def test_a_queue_that_is_dropped_lets_go_of_who_waits_for_it(engine: Engine) -> None:
    """A session that holds the last table and then wants the first one."""
    tables_of_it = (
        "select tablename from pg_tables where schemaname = current_schema()"
        " and tablename like 'procrastinate%'"
    )
    with engine.connect() as other, engine.connect() as watching:
        other.execute(text("set deadlock_timeout = '1min'"))
        tables = other.scalars(text(tables_of_it)).all()
        other.execute(text(f"lock table {tables[-1]} in row share mode"))
        dropped = threading.Thread(target=drop_all, args=(engine,))
        dropped.start()
        while not watching.scalar(text("select count(*) from pg_locks where not granted")):
            watching.rollback()
        other.execute(text(f"lock table {tables[0]} in row share mode"))
        other.commit()
        dropped.join(60)
        assert other.scalars(text(tables_of_it)).all() == []


def drop_all(engine: Engine) -> None:
    with engine.begin() as connection:
        drop_queue(connection)


def test_a_worker_of_another_version_stops_by_itself(
    engine: Engine, database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SEEN_EVERY_S", "LOOK_AT_ABILITIES_S"):
        monkeypatch.setattr(f"pipelines.worker.{name}", 0.1)
    worker = Worker(cast(Advancer, Counting(engine)), database_url, look=Abilities)
    thread = threading.Thread(target=worker.run)
    thread.start()
    time.sleep(1)
    assert thread.is_alive()
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    thread.join(30)
    assert not thread.is_alive()
    with engine.begin() as connection:
        assert connection.execute(text("select stopped_at from worker")).scalar() is not None
