"""Shared by the tests of power drivers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pipelines.adapters.power import protocol


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a controller never does is given up after seconds."""
    monkeypatch.setattr(protocol, "SETTLE_S", 3.0)
    monkeypatch.setattr(protocol, "ASK_EVERY_S", 0.1)
    monkeypatch.setattr(protocol, "NOT_YET_S", 1.0)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A password file as it should be."""
    path = tmp_path / "secret"
    path.write_text("open sesame\n")
    path.chmod(0o600)
    return path


def require_gone(pid: int) -> None:
    """Fail unless a process ends within seconds; one that was killed may take a moment."""
    deadline = time.monotonic() + 10
    while _is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs"
        time.sleep(0.02)


def _is_running(pid: int) -> bool:
    """Whether it does anything yet; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
