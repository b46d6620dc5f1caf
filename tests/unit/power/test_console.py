"""Consoles that tell only who listens are listened to, by a process that outlives the worker."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.service import HostVars, host_vars
from pipelines.adapters.console import (
    Console,
    ConsoleError,
    FileConsole,
    StreamConsole,
    open_console,
    reader,
)
from pipelines.adapters.console import line as connected
from pipelines.adapters.console.stream import holder_of
from pipelines.adapters.power import PowerError
from tests.lab import controllers
from tests.unit.power.conftest import require_gone

PATIENCE_S = 15.0


def host(console: Mapping[str, Any], power: Mapping[str, Any] | None = None) -> HostVars:
    variables = {"mitigauge_console": console, "mitigauge_power": power or {}}
    return host_vars("one", "rack", variables, boot_timeout_s=60)


def opened(console: Mapping[str, Any]) -> Console:
    found = open_console(host(console))
    assert found is not None
    return found


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


class Line:
    """A console server's port; what is said comes to whoever listens."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.listeners: list[socket.socket] = []
        self.served = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def say(self, text: str) -> None:
        for each in self.listeners:
            with suppress(OSError):
                each.sendall(text.encode())

    def hang_up(self) -> None:
        while self.listeners:
            self.listeners.pop().close()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.hang_up()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                self.listeners.append(self._server.accept()[0])
                self.served += 1


@pytest.fixture
def line() -> Iterator[Line]:
    found = Line()
    yield found
    found.close()


@pytest.fixture
def console(line: Line, home: Path) -> Iterator[Console]:
    """A console over TCP, listened to."""
    found = opened({"kind": "tcp", "address": "127.0.0.1", "port": line.port})
    found.listen()
    until(lambda: line.served == 1)
    yield found
    found.end()


def test_what_the_line_says_is_kept_and_cut_out_by_its_place(line: Line, console: Console) -> None:
    assert console.offset() == 0
    line.say("before\r\n")
    until(lambda: console.offset() == 8)
    line.say("\x1b[32mKernel panic\x1b[0m\r\n")
    until(lambda: console.offset() > 25)
    assert console.tail(console.offset() - 8) == "Kernel panic\n"


def test_the_log_is_for_nobody_else(console: Console, home: Path) -> None:
    log = home / "consoles" / "rack" / "one.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


def test_a_second_step_finds_the_same_reader(line: Line, console: Console, home: Path) -> None:
    lock = home / "consoles" / "rack" / "one.lock"
    pid = holder_of(lock)
    opened({"kind": "tcp", "address": "127.0.0.1", "port": line.port}).listen()
    assert holder_of(lock) == pid
    assert line.served == 1


def test_a_reader_that_was_killed_is_started_anew(line: Line, console: Console, home: Path) -> None:
    lock = home / "consoles" / "rack" / "one.lock"
    pid = holder_of(lock)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: holder_of(lock) is None)
    console.listen()
    until(lambda: line.served == 2)
    line.say("again")
    until(lambda: "again" in console.tail())


def test_another_address_in_the_inventory_is_listened_to_instead(
    console: Console, home: Path
) -> None:
    other = Line()
    moved = opened({"kind": "tcp", "address": "127.0.0.1", "port": other.port})
    moved.listen()
    until(lambda: other.served == 1)
    moved.end()
    other.close()


def test_a_line_that_breaks_off_is_taken_up_again(line: Line, console: Console) -> None:
    line.say("one\n")
    until(lambda: "one" in console.tail())
    line.hang_up()
    until(lambda: line.served == 2)
    line.say("two\n")
    until(lambda: "two" in console.tail())
    assert "console lost, tried again in 1 s" in console.tail()


def test_at_its_end_the_process_is_gone_and_the_log_stays(
    line: Line, console: Console, home: Path
) -> None:
    line.say("last words")
    until(lambda: console.offset() > 0)
    pid = holder_of(home / "consoles" / "rack" / "one.lock")
    assert pid is not None
    console.end()
    console.end()
    require_gone(pid)
    assert console.tail() == "last words"


def test_a_lock_file_that_names_nobody_ends_nobody(home: Path) -> None:
    found = opened({"kind": "tcp", "address": "127.0.0.1", "port": 9})
    lock = home / "consoles" / "rack" / "one.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(f"{os.getpid()}\n")
    found.end()


def test_it_ends_by_itself_once_nobody_wants_it(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, log = tmp_path / "lock", tmp_path / "log"
    monkeypatch.setattr(connected, "LOOK_EVERY_S", 0.1)
    values = reader._VALUES.validate_python(
        {"kind": "tcp", "address": "127.0.0.1", "port": line.port}
    )
    with log.open("ab") as kept:
        listener = reader._Listener(log, kept.fileno(), lock)
        lock.write_text("")
        os.utime(lock, (1, 1))
        with pytest.raises(reader._Unwanted):
            listener.listen(values)
        lock.unlink()
        with pytest.raises(reader._Unwanted):
            listener.listen(values)


def test_the_disk_of_a_log_is_bounded_and_places_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "LOG_LIMIT_BYTES", 1 << 20)
    log = tmp_path / "log"
    with log.open("ab", buffering=0) as kept:
        listener = reader._Listener(log, kept.fileno(), tmp_path / "lock")
        for _ in range(64):
            listener._keep(b"x" * (128 << 10))
        listener._keep(b"the end")
    assert log.stat().st_size == (8 << 20) + 7
    assert log.stat().st_blocks * 512 < 3 << 20
    assert FileConsole(log).tail(8) == "xthe end"[-8:]


def test_serial_over_lan_is_read_from_a_real_controller(
    line: Line, home: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "rig"
    chassis = controllers.state_chassis(tmp_path / "chassis-state")
    with controllers.ipmi(directory, chassis, line.port) as values:
        of_power = {name: value for name, value in values.items() if name != "driver"}
        found = opened({"kind": "ipmi-sol", **of_power})
        found.listen()
        try:
            until(lambda: "SOL Session operational" in found.tail())
            line.say("Linux version 7.2\r\n")
            until(lambda: "Linux version 7.2\n" in found.tail())
        finally:
            found.end()
        # The controller has one session: it is given back, also by a reader that was killed.
        found.listen()
        until(lambda: found.tail().count("SOL Session operational") == 2)
        found.end()


def test_a_password_that_others_may_read_stops_serial_over_lan(home: Path, tmp_path: Path) -> None:
    secret = controllers.password_file(tmp_path, mode=0o644)
    values = {"address": "bmc1", "user": "ops", "password_file": str(secret)}
    with pytest.raises(PowerError, match="open to other users"):
        opened({"kind": "ipmi-sol", **values}).listen()


def test_a_console_over_ssh_is_a_command_that_checks_whom_it_speaks_to(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ssh"
    program.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/seen\necho a login:\nexec sleep 345\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    more = {"key_file": "/keys/k", "known_hosts_file": "/keys/known", "command": "console clx-01"}
    found = opened({"kind": "ssh", "address": "cs1", "user": "ops", **more})
    found.listen()
    until(lambda: "a login:" in found.tail())
    found.end()
    seen = (tmp_path / "seen").read_text()
    for words in ("StrictHostKeyChecking=yes", "BatchMode=yes", "-l ops -- cs1 console clx-01"):
        assert words in seen


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    found = opened({"kind": "file", "path": str(tmp_path / "serial.log")})
    with pytest.raises(ConsoleError, match=r"serial\.log cannot be read: No such file"):
        found.tail()
    (tmp_path / "serial.log").write_bytes(b"x" * 100 + b"\x1b[0;32mOK\x1b[0m\r\n")
    assert found.offset() == 115
    assert found.tail(15) == "OK\n"


def test_an_emulated_host_has_its_machines_log_and_others_none() -> None:
    qemu = {"driver": "qemu", "qmp": "/q", "serial_log": "/var/log/serial"}
    assert isinstance(open_console(host({}, qemu)), FileConsole)
    assert open_console(host({"kind": "none"}, qemu)) is None
    assert open_console(host({}, {"driver": "none"})) is None
    tcp = {"kind": "tcp", "address": "cs1", "port": 7001}
    assert isinstance(open_console(host(tcp, qemu)), StreamConsole)
