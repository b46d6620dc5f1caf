"""`host check` opens a console for a moment: what answers, what does not, and in whose words."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.check import Item, State
from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.adapters.console import open_console, probe
from pipelines.adapters.console.stream import holder_of
from pipelines.host_check import console_item
from tests.lab import controllers
from tests.unit.power.test_console import Line, until

SSH = {
    "kind": "ssh", "address": "cs1", "user": "ops",
    "key_file": "/keys/k", "known_hosts_file": "/keys/known", "command": "console clx-01",
}  # fmt: skip


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "HOLD_S", 0.3)


@pytest.fixture
def line() -> Iterator[Line]:
    found = Line()
    yield found
    with suppress(OSError):  # closed by the test
        found.close()


def item(console: dict[str, Any]) -> Item:
    variables = {"mitigauge_console": console}
    return console_item(
        AnsibleHost(host_vars("one", "rack", variables, boot_timeout_s=60), SilentLog())
    )


def tcp(port: int) -> dict[str, Any]:
    return {"kind": "tcp", "address": "127.0.0.1", "port": port}


def program(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program called ssh that does what *script* says."""
    path = directory / "ssh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")


def test_a_port_that_stays_open_is_heard_and_let_go(home: Path, line: Line) -> None:
    found = item(tcp(line.port))
    assert (found.state, found.found) == (State.OK, f"127.0.0.1:{line.port} is open")
    until(lambda: line.served == 1)
    assert line.listeners[0].recv(1) == b""
    # No reader was left behind, and no log was begun.
    assert not (home / "consoles").exists()


def test_a_line_that_talks_all_the_time_is_a_good_one(home: Path, line: Line) -> None:
    over = threading.Event()

    def talk() -> None:
        while not over.wait(0.02):
            line.say("x" * 1000)

    talker = threading.Thread(target=talk)
    talker.start()
    try:
        assert item(tcp(line.port)).state is State.OK
    finally:
        over.set()
        talker.join()


def test_a_port_that_nobody_serves_is_told(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
    found = item(tcp(port))
    assert (found.state, found.found) == (
        State.MISSING, f"tcp: 127.0.0.1:{port}: Connection refused",
    )  # fmt: skip
    assert "mitigauge_console" in found.mend


def test_a_port_that_hangs_up_is_told(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            with suppress(OSError):
                server.accept()[0].close()

        threading.Thread(target=refuse, daemon=True).start()
        found = item(tcp(int(server.getsockname()[1])))
    assert found.state is State.MISSING
    assert "takes the connection and ends it" in found.found


def test_a_line_that_a_reader_of_ours_has_is_not_opened_twice(home: Path, line: Line) -> None:
    console = open_console(
        host_vars("one", "rack", {"mitigauge_console": tcp(line.port)}, boot_timeout_s=60)
    )
    assert console is not None
    console.listen()
    try:
        until(lambda: line.served == 1)
        found = item(tcp(line.port))
        assert (found.state, found.found) == (State.OK, "a reader of ours listens")
        assert line.served == 1
        assert holder_of(home / "consoles/rack/one.lock") is not None
        line.close()
        until(lambda: "console lost" in console.tail())
        found = item(tcp(line.port))
        assert found.state is State.MISSING
        assert "console lost, tried again" in found.found
    finally:
        console.end()


def test_serial_over_lan_is_opened_and_given_back(home: Path, tmp_path: Path, line: Line) -> None:
    chassis = controllers.state_chassis(tmp_path / "chassis-state")
    with controllers.ipmi(tmp_path / "rig", chassis, line.port) as values:
        sol = {"kind": "ipmi-sol", **{n: v for n, v in values.items() if n != "driver"}}
        for _ in range(2):
            found = item(sol)
            assert (found.state, found.found) == (State.OK, "127.0.0.1 is open")
        wrong = controllers.password_file(tmp_path, "wrong")
        found = item({**sol, "password_file": str(wrong)})
        assert found.state is State.MISSING
        assert found.found == "The IPMI controller 127.0.0.1 refused the password."
        assert found.mend == "Correct password_file."


def test_a_session_of_somebody_elses_is_left_to_them(
    home: Path, tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "ipmitool"
    tool.write_text(
        f'#!/bin/sh\necho "$*" >>{tmp_path}/seen\n'
        'echo "Info: SOL payload already active on another session"\nexit 1\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = item({"kind": "ipmi-sol", "address": "b1", "user": "ops", "password_file": str(secret)})
    assert (found.state, found.found) == (State.NOTE, "b1: somebody else has its one session")
    assert "deactivate" not in (tmp_path / "seen").read_text()


def test_a_password_file_that_is_not_there_is_told(home: Path) -> None:
    found = item({"kind": "ipmi-sol", "address": "b", "user": "u", "password_file": "/no/such"})
    assert found.state is State.MISSING
    assert "/no/such" in found.found


@pytest.mark.parametrize(
    ("script", "state", "said"),
    [
        ("echo Authenticated to cs1\nexec sleep 345", State.OK, "cs1 is open"),
        ("echo ops@cs1: Permission denied; exit 255", State.MISSING, "ssh: ops@cs1: Permission"),
        ("exit 255", State.MISSING, "ssh: nothing was said"),
        ("echo Authenticated to cs1; echo no clx-01", State.MISSING, "ended at once: no clx-01"),
        ("echo Connecting; exec sleep 345", State.MISSING, "not open within 1 s: Connecting"),
    ],
)
def test_what_a_console_server_says_over_ssh_is_what_is_told(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    script: str, state: State, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(probe, "OPEN_S", 1.0)
    program(tmp_path, monkeypatch, script)
    found = item(SSH)
    assert found.state is state
    assert said in found.found


def test_a_line_over_ssh_that_talks_all_the_time_is_a_good_one(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "echo Authenticated to cs1\nexec yes SOL payload already active")
    assert (item(SSH).state, item(SSH).found) == (State.OK, "cs1 is open")


def test_a_program_that_is_not_installed_is_told_with_its_package(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = item(SSH)
    assert (found.state, found.found) == (State.MISSING, "ssh: there is no program ssh")
    assert "openssh-client" in found.mend


def test_a_file_is_there_or_not_or_empty(tmp_path: Path) -> None:
    log = tmp_path / "serial.log"
    console = {"kind": "file", "path": str(log)}
    found = item(console)
    assert found.state is State.MISSING
    assert "cannot be read: No such file" in found.found
    log.touch()
    found = item(console)
    assert (found.state, found.found) == (State.NOTE, f"{log} is empty")
    assert "ttyS0" in found.mend
    log.write_text("login:")
    assert item(console).found == f"{log}, 6 bytes"
    assert item(console).state is State.OK


def test_a_host_without_a_console_is_a_note() -> None:
    found = item({"kind": "none"})
    assert (found.state, found.found) == (State.NOTE, "none")
    assert "docs/hosts.md" in found.mend
