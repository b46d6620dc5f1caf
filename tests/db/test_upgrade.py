"""`mitigauge db upgrade` by real processes: two at once, held up, cut off in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from alembic import command
from sqlalchemy import Engine, create_engine, inspect, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.engine import alembic_config, schema_revisions
from mitigauge.storage.database.schema_upgrade import one_at_a_time, upgrade

# Waits before each statement that changes ``host_lease``, as if that were a large table.
SLOW_DOWN = """
create function slow_down() returns event_trigger language plpgsql as $$ begin
  if current_query() ilike '%host_lease%' then
    perform pg_sleep({seconds});
    -- Each statement sees what was committed meanwhile.
    while nextval('turn') >= (select min(turn) from held) loop
      perform setval('turn', lastval(), false), pg_sleep(0.05);
    end loop;
  end if; end $$;
create table held (turn integer);
create sequence turn;
create event trigger slow_down on ddl_command_start when tag in ('ALTER TABLE')
  execute function slow_down()
"""


@pytest.fixture
def before_turns(database_url: str) -> str:
    """A database one migration before turns, which alters ``host_lease`` twice."""
    command.downgrade(alembic_config(database_url), "0008")
    return database_url


def start_upgrade(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cli.main", "db", "upgrade"],
        env={**os.environ, "MITIGAUGE_DATABASE_URL": url, "COLUMNS": "300"},
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def slow_down(engine: Engine, seconds: float) -> None:
    with engine.begin() as connection:
        connection.execute(text(SLOW_DOWN.format(seconds=seconds)))


def hold(engine: Engine, turn: int = 1) -> None:
    """Let such statements wait, from the *turn*-th on, until they are let go."""
    slow_down(engine, 0)
    with engine.begin() as connection:
        connection.execute(text("insert into held values (:turn)"), {"turn": turn})


def let_go(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("delete from held"))


def migrating(engine: Engine) -> list[int]:
    """Pids of backends that are inside a statement which alters a table."""
    with engine.connect() as connection:
        found = connection.scalars(
            text(
                "select pid from pg_stat_activity where datname = current_database()"
                " and state = 'active' and query ilike 'alter table%'"
            )
        )
        return list(found)


def wait_until_migrating(engine: Engine, turn: int = 1) -> int:
    """The pid of the backend that is in the *turn*-th statement that alters a table."""
    deadline = time.monotonic() + 60
    while not (found := migrating(engine)) or turns(engine) < turn:
        assert time.monotonic() < deadline, "no migration began"
        time.sleep(0.05)
    return found[0]


def turns(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("select last_value from turn")) or 0)


@contextmanager
def reading(url: str, table: str) -> Iterator[None]:
    """Somebody's transaction that has read *table* and is not at its end."""
    reader = create_engine(url, connect_args={"application_name": "a long report"})
    with reader.connect() as connection:
        connection.execute(text(f"select count(*) from {table}"))
        yield
    reader.dispose()


@pytest.mark.long("who waits says so after two seconds")
def test_the_second_upgrade_waits_for_a_slow_first_one_and_says_since_when(
    engine: Engine, before_turns: str
) -> None:
    hold(engine)
    first = start_upgrade(before_turns)
    wait_until_migrating(engine)
    second = start_upgrade(before_turns)
    assert second.stdout
    waits = second.stdout.readline()
    let_go(engine)
    said, complaint = second.communicate(timeout=120)
    assert second.returncode == 0, complaint
    assert first.wait(60) == 0
    assert "another upgrade" in waits
    assert "has been running since" in waits
    assert "nothing was left to do" in said
    told, _ = first.communicate()
    assert "upgraded from 0008" in told
    current, head = schema_revisions(engine)
    assert current == head


@pytest.mark.long("the real time-out of a lock")
def test_an_upgrade_that_a_reader_holds_up_changes_nothing_and_names_the_reader(
    engine: Engine, before_turns: str
) -> None:
    with reading(before_turns, "host_lease"):
        process = start_upgrade(before_turns)
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert "the schema is still at 0008" in complaint
    assert "a long report" in complaint
    assert "mitigauge db upgrade" in complaint
    assert schema_revisions(engine)[0] == "0008"
    assert "activity" not in {c["name"] for c in inspect(engine).get_columns("host_lease")}
    again = start_upgrade(before_turns)
    again.communicate(timeout=120)
    assert again.returncode == 0


def test_an_upgrade_whose_connection_is_cut_leaves_the_old_schema_whole(
    engine: Engine, before_turns: str
) -> None:
    # In its second statement, when the first has changed the table already.
    hold(engine, turn=2)
    process = start_upgrade(before_turns)
    first = wait_until_migrating(engine, turn=2)
    with engine.connect() as connection:
        connection.execute(text("select pg_terminate_backend(:pid)"), {"pid": first})
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert "the schema is still at 0008" in complaint
    assert "mitigauge db upgrade" in complaint
    assert "activity" not in {c["name"] for c in inspect(engine).get_columns("host_lease")}


@pytest.mark.long("a statement that is slowed down, and the server's notice of a lost client")
def test_a_killed_upgrade_lets_the_next_one_in(engine: Engine, before_turns: str) -> None:
    slow_down(engine, 4)
    first = start_upgrade(before_turns)
    wait_until_migrating(engine)
    first.kill()
    first.communicate()
    second = start_upgrade(before_turns)
    _, complaint = second.communicate(timeout=120)
    assert second.returncode == 0, complaint
    current, head = schema_revisions(engine)
    assert current == head


def test_a_schema_of_a_newer_program_is_left_alone(engine: Engine, database_url: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    process = start_upgrade(database_url)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert "9999" in complaint
    assert "newer" in complaint


def test_a_database_that_does_not_answer_is_said_in_plain_words() -> None:
    process = start_upgrade("postgresql://nobody@127.0.0.1:9/nothing")
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert "the database does not answer" in complaint
    assert "MITIGAUGE_DATABASE_URL" in complaint


def test_an_upgrade_that_hangs_is_not_waited_for_without_end(
    engine: Engine, before_turns: str
) -> None:
    with engine.connect() as holder, one_at_a_time(holder):
        said: list[str] = []
        with pytest.raises(
            NotReady, match=r"another upgrade .* since .* waited for 3 s"
        ) as given_up:
            upgrade(before_turns, say=said.append, patience_s=3)
    assert "schema stays whole" in given_up.value.hint
    assert len(said) == 1
    assert upgrade(before_turns).applied > 0
