"""The servers and databases that tests get: copies, which nobody else sees or leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.embedded_server import status
from mitigauge.storage.database.engine import new_engine
from tests import postgres
from tests.postgres import Databases, end_left_servers, filled, kept_server

SESSION = """
import sys, time
from pathlib import Path
from tests.postgres import started_server
with started_server(print, Path(sys.argv[1])) as (home, url):
    print(home, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """What another checkout keeps: a server to copy, and no session."""
    kept = tmp_path / "kept"
    kept.mkdir()
    made = kept_server(print)
    postgres._copy(made, kept / made.name)
    return kept


def numbers(engine: Engine, upto: int) -> int:
    with engine.begin() as connection:
        connection.execute(text("create table number as select generate_series(1, :n) n"),
                           {"n": upto})  # fmt: skip
    return upto


def count(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("select count(*) from number")).scalar_one())


def test_what_a_test_does_to_its_copy_no_other_copy_shows(databases: Databases) -> None:
    for _ in range(2):
        with databases.copied() as url:
            engine = new_engine(url)
            assert filled(engine, numbers, 7) == 7
            assert count(engine) == 7
            with engine.begin() as connection:
                connection.execute(text("delete from number"))
            engine.dispose()


def test_rows_are_made_once_for_each_argument(databases: Databases) -> None:
    calls = []

    def make(engine: Engine, upto: int) -> int:
        calls.append(upto)
        return numbers(engine, upto)

    for wanted in (3, 4, 3):
        with databases.copied() as url:
            engine = new_engine(url)
            assert filled(engine, make, wanted) == wanted
            assert count(engine) == wanted
            engine.dispose()
    assert calls == [3, 4]


def more(engine: Engine) -> int:
    with engine.begin() as connection:
        connection.execute(text("insert into number values (99)"))
    return count(engine)


def test_rows_upon_rows_are_copied_too(databases: Databases) -> None:
    for _ in range(2):
        with databases.copied() as url:
            engine = new_engine(url)
            filled(engine, numbers, 7)
            assert filled(engine, more) == 8
            assert count(engine) == 8
            engine.dispose()


def test_rows_upon_what_a_test_wrote_itself_are_made_there(databases: Databases) -> None:
    for written in (1, 2):
        with databases.copied() as url:
            engine = new_engine(url)
            filled(engine, numbers, 7)
            for _ in range(written):
                more(engine)
            assert filled(engine, more) == 8 + written
            engine.dispose()


def test_a_killed_session_s_server_is_ended_by_the_next_of_its_checkout_alone(kept: Path) -> None:
    session = subprocess.Popen(
        [sys.executable, "-c", SESSION, str(kept)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert session.stdout
    home = Path(session.stdout.readline().strip())
    assert status(home).ready
    assert end_left_servers(kept) == []
    session.send_signal(signal.SIGKILL)
    session.communicate(timeout=60)
    assert home not in end_left_servers()
    assert status(home).ready
    assert end_left_servers(kept) == [home]
    assert not home.exists()
    assert end_left_servers(kept) == []


def test_a_number_that_another_process_has_now_is_not_taken_for_the_session(kept: Path) -> None:
    note = kept / "servers" / "mgpg-gone"
    note.parent.mkdir()
    note.write_text(json.dumps({"home": str(kept / "gone"), "pid": os.getpid(), "began": "1"}))
    assert end_left_servers(kept) == [kept / "gone"]
    assert not note.exists()


def test_a_template_of_other_migrations_is_made_anew_and_that_is_said(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(postgres, "digest", lambda: "other")
    made = kept_server(said.append, kept)
    assert [path.name for path in kept.glob("postgres-*")] == [made.name] == ["postgres-other"]
    assert said == ["the migrations have changed: the tests' template database is made anew"]
    with postgres.started_server(said.append, kept) as (_, url), Databases(url).open() as databases:
        assert len(said) == 1
        with databases.copied() as copy:
            engine = new_engine(copy)
            with engine.connect() as connection:
                assert connection.execute(text("select count(*) from run")).scalar_one() == 0
            engine.dispose()


def test_several_processes_that_begin_at_once_end_what_was_left_once(kept: Path) -> None:
    begin = [sys.executable, "-c", SESSION, str(kept)]
    left = subprocess.Popen(begin, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert left.stdout
    home = Path(left.stdout.readline().strip())
    left.kill()
    left.communicate(timeout=60)
    sessions = [
        subprocess.Popen(begin, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    try:
        homes = {Path(each.stdout.readline().strip()) for each in sessions if each.stdout}
        assert len(homes) == 3
        assert all(status(each).ready for each in homes)
        assert not home.exists()
    finally:
        for session in sessions:
            session.kill()
            session.communicate(timeout=60)
        end_left_servers(kept)


def test_a_server_lives_in_memory_where_that_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = Path(tempfile.gettempdir())
    assert postgres.folder(tmp_path / "nothing") == temporary
    monkeypatch.setattr(postgres, "ROOM_BYTES", 1)
    assert postgres.folder(tmp_path) == tmp_path
    monkeypatch.setattr(postgres, "ROOM_BYTES", 1 << 62)
    assert postgres.folder(tmp_path) == temporary
