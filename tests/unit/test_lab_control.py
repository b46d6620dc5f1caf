"""The lab's own line to a QEMU that ends, stays or never was."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import control
from lab.errors import LabError


@contextmanager
def machine(place: Path, *, leaves: bool) -> Iterator[Path]:
    """A QEMU that answers everything; where it *leaves*, it is gone with its answer to quit."""
    path = place / "control.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=_answer, args=(listener, leaves), daemon=True)
        thread.start()
        yield path
    thread.join(timeout=10)


def _answer(listener: socket.socket, leaves: bool) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b'{"QMP": {"version": {}, "capabilities": []}}\n')
        while request := connection.recv(4096):
            asked = json.loads(request)
            value = {"status": "running"} if asked["execute"] == "query-status" else {}
            answer = json.dumps({"return": value, "id": asked.get("id")}).encode() + b"\n"
            connection.sendall(answer)
            if leaves and asked["execute"] == "quit":
                return


@pytest.mark.parametrize("leaves", [True, False])
def test_a_machine_may_be_gone_before_it_hears_goodbye(tmp_path: Path, leaves: bool) -> None:
    with machine(tmp_path, leaves=leaves) as path:
        control.quit_machine(path)


def test_a_machine_tells_its_state(tmp_path: Path) -> None:
    with machine(tmp_path, leaves=False) as path:
        assert control.run_state(path) == "running"


def test_a_machine_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="does not answer"):
        control.run_state(tmp_path / "control.sock")
