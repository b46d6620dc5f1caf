"""`mitigauge demo --recorded`: what a newcomer sees first."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY
from tests.ports import free_port

# Alone on a machine it takes some six seconds.
PATIENCE_S = 120


@contextmanager
def demo(database_url: str, home: Path, port: int, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "demo", "--recorded", *words],
        cwd=REPOSITORY,
        env=os.environ
        | {
            "MITIGAUGE_HOME": str(home),
            "MITIGAUGE_DATABASE_URL": database_url,
            "MITIGAUGE_PORT": str(port),
            "PYTHONUNBUFFERED": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.communicate()


def test_it_ends_after_the_report_when_told_to(
    database_url: str, engine: Engine, tmp_path: Path
) -> None:
    for _ in range(2):
        with demo(database_url, tmp_path, free_port(), "--once") as process:
            said, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, said
        assert "Nothing was measured here" in said
        assert "EMULATED" in said
        assert "experiment 1" in said
    with engine.connect() as connection:
        # What is at least so much lies within no margin.
        notes = connection.scalars(text("select note from verdict where bound <> 'exact'")).all()
        assert notes
        assert not [note for note in notes if "real, yet within" in note]
        assert connection.execute(text("select count(*) from experiment")).scalar_one() == 1
    assert (tmp_path / "reports" / "experiment-1.md").exists()


def test_it_serves_the_experiment_until_it_is_stopped(database_url: str, tmp_path: Path) -> None:
    port = free_port()
    with demo(database_url, tmp_path, port) as process:
        base = f"http://127.0.0.1:{port}"
        _, _, key = awaited(process, f"{base}/").partition("#key=")
        with httpx2.Client(
            base_url=base, headers={"Origin": base, "Content-Type": "application/json"}
        ) as browser:
            assert browser.post("/api/session", json={"key": key}).status_code in (200, 201)
            shown = browser.get("/api/experiments/1").json()
        assert shown["state"] == "finished"
        assert shown["boots_done"] + shown["boots_left_out"] == shown["boots_total"] > 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 143
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def awaited(process: subprocess.Popen[str], beginning: str) -> str:
    """The line with that beginning, once it is printed."""
    assert process.stdout
    deadline, said = time.monotonic() + PATIENCE_S, []
    for line in process.stdout:
        said.append(line)
        if line.startswith(beginning):
            return line.strip()
        assert time.monotonic() < deadline, said
    raise AssertionError("".join(said))
