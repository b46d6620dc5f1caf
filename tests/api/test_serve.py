"""`mitigauge serve` as a process: its link, and its end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from sqlalchemy import Engine

from api.app import create_app
from api.server import PatientProtocol, listen, make_server
from mitigauge.core.settings import REPOSITORY, get_settings
from tests.ports import free_port


def until(true: Callable[[], object], what: str, *, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come within {within_s} s"
        time.sleep(0.02)


@contextmanager
def served(
    database_url: str, home: Path, *options: str, say: bytes = b"", stdout: int | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    port = free_port()
    log = home / "serve.log"
    environment = {
        **os.environ,
        "MITIGAUGE_DATABASE_URL": database_url,
        "MITIGAUGE_HOME": str(home),
        "COLUMNS": "60",
    }
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "serve", "--port", str(port), *options],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=file if stdout is None else stdout,
            stderr=file,
        )
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(say)
    try:
        until(lambda: answers(port) or process.poll() is not None, "the service", within_s=60)
        assert process.poll() is None, log.read_text()
        yield process, port, log
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/api/health/live").status_code == 200
    except httpx2.TransportError:
        return False


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_within_seconds(
    database_url: str, engine: Engine, home: Path, ending: signal.Signals
) -> None:
    with (
        served(database_url, home) as (process, port, log),
        # A browser keeps its connection for as long as it likes: it is not waited for.
        httpx2.Client(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        assert client.get("/api/health/live").status_code == 200
        process.send_signal(ending)
        process.wait(30)
    assert "Traceback" not in log.read_text()


def log_in(port: int, key: str) -> httpx2.Response:
    base = f"http://127.0.0.1:{port}"
    return httpx2.post(f"{base}/api/session", json={"key": key}, headers={"Origin": base})


def test_on_loopback_a_terminal_gets_a_link_whole_on_one_line_that_lets_in(
    database_url: str, engine: Engine, home: Path
) -> None:
    ours, theirs = os.openpty()
    try:
        with served(database_url, home, stdout=theirs) as (_, port, _log):
            os.close(theirs)
            shown = read_until(ours, "Ctrl-C")
            found = re.search(rf"http://127.0.0.1:{port}/login#key=(\S{{43}})\x1b?", shown)
            assert found is not None, shown
            answer = log_in(port, found[1])
            assert (answer.status_code, answer.json()["role"]) == (201, "admin")
            assert log_in(port, found[1][:-1]).status_code == 401
    finally:
        os.close(ours)


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_what_is_no_terminal_gets_no_key_but_the_way_to_one(
    database_url: str, engine: Engine, home: Path, kind: str
) -> None:
    """A log file, a journal, a pipe of a CI: kept for long, and read by many."""
    ours, theirs = os.pipe()
    with served(database_url, home, stdout=None if kind == "file" else theirs) as (_, port, log):
        os.close(theirs)
        if kind == "file":
            until(lambda: "Ctrl-C" in log.read_text(), "the address")
            # Whole: the way to a token stands in the same breath.
            until(lambda: "token create" in " ".join(log.read_text().split()), "the way in")
            said = log.read_text()
        else:
            said = read_until(ours, "mitigauge serve")
        assert f"http://127.0.0.1:{port}/" in said
        assert "key=" not in said
        assert re.search(r"[A-Za-z0-9_-]{40}", said) is None
        assert log_in(port, "").status_code == 401
    os.close(ours)


def read_until(handle: int, word: str) -> str:
    """What comes over *handle*, up to that word and the rest of its line."""
    said = b""
    while word.encode() not in said or not said.endswith(b"\n"):
        said += os.read(handle, 65536)
    return said.decode()


def test_a_key_that_it_is_given_is_printed_nowhere(
    database_url: str, engine: Engine, home: Path
) -> None:
    key = "k" * 43
    with served(database_url, home, "--login-key-from-stdin", say=f"{key}\n".encode()) as (
        process,
        port,
        log,
    ):
        assert log_in(port, key).status_code == 201
        assert key not in log.read_text()
        assert key not in Path(f"/proc/{process.pid}/cmdline").read_text()
        assert key not in Path(f"/proc/{process.pid}/environ").read_text()


def test_beyond_loopback_there_is_no_link_but_the_way_to_a_token(
    database_url: str, engine: Engine, home: Path
) -> None:
    given = ("--host", "0.0.0.0", "--login-key-from-stdin")
    with served(database_url, home, *given, say=b"k" * 43 + b"\n") as (_, port, log):
        until(lambda: "token create" in " ".join(log.read_text().split()), "the way to a token")
        assert "#key=" not in log.read_text()
        assert log_in(port, "k" * 43).status_code == 401
        assert log_in(port, "").status_code == 401


def begun(database_url: str, home: Path, port: int) -> subprocess.Popen[str]:
    environment = {
        **os.environ, "MITIGAUGE_DATABASE_URL": database_url, "MITIGAUGE_HOME": str(home),
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "cli.main", "serve", "--port", str(port)],
        cwd=REPOSITORY, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def test_a_port_that_is_in_use_is_said_before_any_link(
    database_url: str, engine: Engine, home: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with begun(database_url, home, port) as process:
            said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"port {port} of 127.0.0.1 is in use" in said
    assert "--port 0" in said
    assert "http" not in said
    assert "Traceback" not in said


def test_port_0_is_any_free_one_and_it_is_said_which(
    database_url: str, engine: Engine, home: Path
) -> None:
    with begun(database_url, home, 0) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
            assert found, said
            port = int(found[1])
            assert port not in (0, get_settings().port)
            until(lambda: answers(port), "the service", within_s=60)
        finally:
            process.kill()


def test_answers_do_not_wait_for_acknowledgements(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    made = PatientProtocol.connection_made

    def connection_made(self: PatientProtocol, transport: asyncio.Transport) -> None:
        made(self, transport)
        raw = transport.get_extra_info("socket")
        seen.append(raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(PatientProtocol, "connection_made", connection_made)
    with listen("127.0.0.1", 0) as listener:
        server = make_server(create_app(engine))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            until(lambda: answers(listener.getsockname()[1]), "the service", within_s=60)
        finally:
            server.should_exit = True
            thread.join(30)
    assert seen
    assert all(seen)
