"""`mitigauge db upgrade` by real processes: two at once, held up, cut off in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, inspect, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.engine import schema_revisions
from mitigauge.storage.database.schema_revision import UPGRADES_OLDER
from mitigauge.storage.database.schema_upgrade import is_known, one_at_a_time, upgrade
from tests import next_version
from tests.next_version import NEXT, NOW

OURS = (sys.executable, "-m", "cli.main")

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


Start = Callable[[], subprocess.Popen[str]]


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Start:
    """Starts an upgrade to the next version, whose migration alters ``host_lease`` twice."""
    folder = next_version.migrations(tmp_path)
    return lambda: start_upgrade(database_url, next_version.command(folder))


def start_upgrade(url: str, version: Sequence[str] = OURS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*version, "db", "upgrade"],
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
    engine: Engine, start: Start
) -> None:
    hold(engine)
    first = start()
    wait_until_migrating(engine)
    second = start()
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
    assert f"upgraded from {NOW}" in told
    assert schema_revisions(engine)[0] == NEXT


@pytest.mark.long("the real time-out of a lock")
def test_an_upgrade_that_a_reader_holds_up_changes_nothing_and_names_the_reader(
    engine: Engine, database_url: str, start: Start
) -> None:
    with reading(database_url, "host_lease"):
        process = start()
        _, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert f"the schema is still at {NOW}" in complaint
    assert "a long report" in complaint
    assert "mitigauge db upgrade" in complaint
    assert schema_revisions(engine)[0] == NOW
    assert next_version.COLUMN not in {c["name"] for c in inspect(engine).get_columns("host_lease")}
    again = start()
    again.communicate(timeout=120)
    assert again.returncode == 0


def test_an_upgrade_whose_connection_is_cut_leaves_the_old_schema_whole(
    engine: Engine, start: Start
) -> None:
    # In its second statement, when the first has changed the table already.
    hold(engine, turn=2)
    process = start()
    first = wait_until_migrating(engine, turn=2)
    with engine.connect() as connection:
        connection.execute(text("select pg_terminate_backend(:pid)"), {"pid": first})
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert f"the schema is still at {NOW}" in complaint
    assert "mitigauge db upgrade" in complaint
    assert next_version.COLUMN not in {c["name"] for c in inspect(engine).get_columns("host_lease")}


@pytest.mark.long("a statement that is slowed down, and the server's notice of a lost client")
def test_a_killed_upgrade_lets_the_next_one_in(engine: Engine, start: Start) -> None:
    slow_down(engine, 4)
    first = start()
    wait_until_migrating(engine)
    first.kill()
    first.communicate()
    second = start()
    _, complaint = second.communicate(timeout=120)
    assert second.returncode == 0, complaint
    assert schema_revisions(engine)[0] == NEXT


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
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    with next_version.installed(tmp_path):
        with engine.connect() as holder, one_at_a_time(holder):
            said: list[str] = []
            with pytest.raises(
                NotReady, match=r"another upgrade .* since .* waited for 3 s"
            ) as given_up:
                upgrade(database_url, say=said.append, patience_s=3)
        assert "schema stays whole" in given_up.value.hint
        assert len(said) == 1
        assert upgrade(database_url).applied == 1


@pytest.mark.parametrize("old", ["0001", "0031", "0059"])
def test_a_schema_before_the_baseline_stays_and_what_upgrades_it_is_said(
    engine: Engine, database_url: str, old: str
) -> None:
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = :old"), {"old": old})
    process = start_upgrade(database_url)
    _, complaint = process.communicate(timeout=60)
    words = " ".join(complaint.split())
    assert process.returncode == 1
    assert "Traceback" not in complaint
    assert f"the database schema is at {old}, which this program does not know" in words
    assert f"known to commit {UPGRADES_OLDER} of Mitigauge's repository" in words
    assert "newer" not in words
    assert schema_revisions(engine)[0] == old


@pytest.mark.parametrize("word", ["006", "head", "base", "heads"])
def test_only_a_whole_revision_is_known(word: str) -> None:
    assert not is_known(word)
    assert is_known(NOW)
