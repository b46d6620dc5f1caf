"""Our own PostgreSQL server: real ones, each in a directory of its own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database import embedded_server
from mitigauge.storage.database.embedded_server import (
    EmbeddedPostgresError,
    ensure_running,
    restart_immediately,
    status,
    stop,
)
from mitigauge.storage.files.log_files import cut_log

ENSURE = (
    "import sys, pathlib; from mitigauge.storage.database.embedded_server import ensure_running;"
    "print(ensure_running(pathlib.Path(sys.argv[1])))"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory outside pytest's own, which another session may close to other accounts."""
    with tempfile.TemporaryDirectory(prefix="mgpg-") as directory:
        yield Path(directory)


@pytest.fixture
def home(place: Path) -> Iterator[Path]:
    """A state directory whose server is gone after the test."""
    home = place / "state of ours"
    yield home
    stop(home, mode="immediate")


def start_elsewhere(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE, str(home)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )


def one(url: str, query: LiteralString) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
        assert row is not None
        return row[0]


def test_a_new_server_is_postgresql_18_with_our_database(home: Path) -> None:
    url = ensure_running(home)
    assert str(one(url, "SHOW server_version")).startswith("18.")
    assert one(url, "SELECT current_database()") == "mitigauge"
    assert one(url, "SHOW max_connections") == "100"
    assert one(url, "SHOW server_encoding") == "UTF8"


def test_it_listens_on_no_network_address_and_nobody_else_can_reach_its_socket(home: Path) -> None:
    url = ensure_running(home)
    assert one(url, "SHOW listen_addresses") == ""
    run = home / "postgres" / "run"
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "postgres").stat().st_mode) == 0o700


def test_asking_again_finds_the_running_server(home: Path) -> None:
    url = ensure_running(home)
    pid = status(home).pid
    assert ensure_running(home) == url
    assert status(home).pid == pid


def test_many_processes_that_ask_at_once_share_one_server(home: Path) -> None:
    processes = [start_elsewhere(home) for _ in range(5)]
    urls = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0] * 5
    assert urls == {ensure_running(home)}
    assert one(urls.pop(), "SELECT 1") == 1


def test_the_server_outlives_the_process_that_started_it(home: Path) -> None:
    starter = start_elsewhere(home)
    url = starter.communicate(timeout=60)[0].strip()
    time.sleep(0.2)
    assert status(home).ready
    assert one(url, "SELECT 1") == 1


def test_a_crash_keeps_what_was_committed(home: Path) -> None:
    url = ensure_running(home)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept VALUES (42)")
    before = status(home).pid
    assert restart_immediately(home) == url
    assert status(home).pid != before
    assert one(url, "SELECT n FROM kept") == 42


def test_a_log_that_is_cut_while_the_server_runs_is_written_on(home: Path) -> None:
    url = ensure_running(home)
    server_log = home / "postgres" / "server.log"
    with server_log.open("ab") as log:
        log.write(b"what it said before\n" * 100_000)
    assert cut_log(server_log, 1_000_000) > 1_000_000
    with pytest.raises(psycopg.errors.UndefinedTable):
        one(url, "SELECT no FROM such_table_at_all")
    deadline = time.monotonic() + 20
    while b"such_table_at_all" not in (said := server_log.read_bytes()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert b"\0" not in said
    assert len(said) < 510_000


def test_a_log_that_has_grown_too_long_is_cut_at_the_start(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_running(home)
    stop(home)
    server_log = home / "postgres" / "server.log"
    with server_log.open("ab") as log:
        log.write(b"what it said before\n" * 100_000)
    monkeypatch.setattr(embedded_server, "LOG_LIMIT_BYTES", 1_000_000)
    assert one(ensure_running(home), "SELECT 1") == 1
    assert server_log.stat().st_size < 510_000


def test_status_and_stop_of_a_server_that_never_was_start_nothing(home: Path) -> None:
    assert not status(home).running
    assert not stop(home)
    assert not home.exists()


def test_a_stopped_server_is_reported_as_stopped_and_starts_again(home: Path) -> None:
    url = ensure_running(home)
    assert stop(home)
    assert not status(home).running
    assert not stop(home)
    assert one(ensure_running(home), "SELECT 1") == 1
    assert ensure_running(home) == url


@pytest.mark.parametrize("name", ["n" * 120, "a,comma"])
def test_a_path_that_cannot_hold_a_socket_gets_a_short_private_one(place: Path, name: str) -> None:
    home = place / name
    try:
        url = ensure_running(home)
        assert one(url, "SELECT 1") == 1
        directory = Path(str(one(url, "SHOW unix_socket_directories")).strip('"'))
        assert len(str(directory)) < 40
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    finally:
        stop(home, mode="immediate")
    directory.rmdir()


def test_spaces_and_apostrophes_in_the_path_do_no_harm(place: Path) -> None:
    home = place / "it's ours (really)"
    try:
        assert one(ensure_running(home), "SELECT 1") == 1
    finally:
        stop(home, mode="immediate")


def test_a_path_that_a_shell_would_expand_is_refused(place: Path) -> None:
    home = place / "$(touch pwned)"
    with pytest.raises(EmbeddedPostgresError, match="plainer path"):
        ensure_running(home)
    assert not home.exists()


def test_a_pid_file_that_names_somebody_elses_process_is_not_believed(home: Path) -> None:
    ensure_running(home)
    pid_file = home / "postgres" / "data" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    stop(home)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    assert not status(home).running
    assert one(ensure_running(home), "SELECT 1") == 1


def test_an_interrupted_first_start_is_begun_again(home: Path) -> None:
    leftover = home / "postgres" / "data.new"
    leftover.mkdir(parents=True)
    (leftover / "PG_VERSION").write_text("18\n")
    assert one(ensure_running(home), "SELECT 1") == 1
    assert not leftover.exists()


def test_data_of_another_major_version_is_refused_untouched(home: Path) -> None:
    ensure_running(home)
    stop(home)
    version = home / "postgres" / "data" / "PG_VERSION"
    version.write_text("16\n")
    with pytest.raises(EmbeddedPostgresError, match=r"made by PostgreSQL 16; this is 18") as caught:
        ensure_running(home)
    assert caught.value.hint
    assert version.read_text() == "16\n"


def test_a_server_that_cannot_start_says_why_in_its_own_words(home: Path) -> None:
    ensure_running(home)
    stop(home)
    with (home / "postgres" / "data" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(EmbeddedPostgresError, match="no_such_setting"):
        ensure_running(home)


def test_a_socket_directory_laid_out_by_somebody_else_is_refused(home: Path, place: Path) -> None:
    (home / "postgres").mkdir(parents=True)
    (home / "postgres" / "run").symlink_to(place)
    with pytest.raises(EmbeddedPostgresError, match="is a link"):
        ensure_running(home)


def test_without_the_package_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "MAJOR", "99")
    with pytest.raises(EmbeddedPostgresError) as caught:
        embedded_server.binary("postgres")
    assert "make setup" in str(caught.value)
