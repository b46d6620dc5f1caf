"""Waiting for hosts over plain SSH: real processes and sockets; `ssh` runs the command here."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.service import HostVars, host_vars
from pipelines.adapters import ssh_watch
from pipelines.adapters.ssh_command import ssh_command
from pipelines.adapters.ssh_watch import PROGRAM, SshWatch
from pipelines.host_watch import Watched

PLACE = ("fleet", "alpha")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def eventually(holds: Callable[[], bool], within_s: float = 20.0) -> bool:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def running(job: str) -> bool:
    """Whether a process on "the host" still waits for that job."""
    found = subprocess.run(["pgrep", "-f", f"/{job}/state.json"], capture_output=True, check=False)
    return bool(found.stdout.strip())


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let `ssh` be that shell script; at first one that runs the command on this machine."""
    place = tmp_path / "bin"
    place.mkdir()

    def write(script: str) -> None:
        (place / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (place / "ssh").chmod(0o755)

    write('for last; do :; done\nexec sh -c "$last"')
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    return write


def host(tmp_path: Path, **more: Any) -> HostVars:
    given = {
        "ansible_host": "127.0.0.1",
        "ansible_python_interpreter": sys.executable,
        "workload_jobs": str(tmp_path),
        **more,
    }
    return host_vars("alpha", "fleet", given, boot_timeout_s=60)


@pytest.fixture
def watch(tmp_path: Path, say: Callable[[str], None]) -> Iterator[SshWatch]:
    made = SshWatch(lambda *_: host(tmp_path))
    yield made
    made.close()


@pytest.fixture
def runner() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


def write_state(tmp_path: Path, job: str, pid: int, **more: Any) -> None:
    (tmp_path / job).mkdir(exist_ok=True)
    state = {"state": "running", "pid": pid, "boot_id": BOOT_ID, **more}
    draft = tmp_path / job / "draft"
    draft.write_text(json.dumps(state))
    draft.replace(tmp_path / job / "state.json")


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def test_the_end_of_a_running_job_is_told_once(
    watch: SshWatch, tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    write_state(tmp_path, "j1", runner.pid)
    assert watch.await_job(7, "j1", PLACE, "j1")
    assert watch.state(7, "j1") is Watched.WAITS
    assert watch.come() == []
    end(runner)
    assert eventually(lambda: watch.come() == [(7, "fleet")])
    # Until it is told, it is said again: whoever was woken may have been too early.
    assert watch.come() == [(7, "fleet")]
    assert watch.state(7, "another") is Watched.NOT
    assert watch.state(7, "j1") is Watched.COME
    assert watch.come() == []
    assert watch.state(7, "j1") is Watched.NOT


def test_one_may_wait_before_the_job_begins(
    watch: SshWatch, tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    assert watch.await_job(7, "j2", PLACE, "j2")
    time.sleep(0.3)
    assert watch.state(7, "j2") is Watched.WAITS
    write_state(tmp_path, "j2", runner.pid)
    time.sleep(0.5)
    assert watch.state(7, "j2") is Watched.WAITS
    end(runner)
    assert eventually(lambda: watch.state(7, "j2") is Watched.COME)


@pytest.mark.parametrize("more", [{"state": "finished"}, {"boot_id": "another"}])
def test_a_job_that_is_over_is_not_waited_for(
    watch: SshWatch, tmp_path: Path, runner: subprocess.Popen[bytes], more: dict[str, str]
) -> None:
    """*more*: it has ended, or ran on an earlier boot whose process ids mean nothing now."""
    write_state(tmp_path, "j3", runner.pid, **more)
    assert not watch.await_job(7, "j3", PLACE, "j3")
    assert watch.state(7, "j3") is Watched.NOT
    assert watch.come() == []


def test_what_ends_while_it_is_asked_for_has_come(watch: SshWatch, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    write_state(tmp_path, "j4", gone.pid)
    assert watch.await_job(7, "j4", PLACE, "j4")
    assert eventually(lambda: watch.state(7, "j4") is Watched.COME)


@pytest.mark.parametrize(
    "script",
    [
        "exit 255",  # nobody answers, or another's key
        "echo hello there",
        "printf waiting",
        "head -c 10000000 /dev/zero",
        "exec sleep 1000",
    ],
)
def test_where_the_host_does_not_say_that_it_waits_somebody_else_must(
    watch: SshWatch, say: Callable[[str], None], script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_watch, "READY_S", 2.0)
    say(script)
    assert not watch.await_job(7, "j5", PLACE, "j5")
    assert watch.come() == []


def test_a_host_that_talks_on_wakes_its_run_and_fills_no_memory(
    watch: SshWatch, say: Callable[[str], None]
) -> None:
    say("echo waiting\nexec yes")
    assert watch.await_job(7, "j6", PLACE, "j6")
    assert eventually(lambda: watch.state(7, "j6") is Watched.COME)


def test_without_ssh_nothing_is_watched(watch: SshWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert not watch.await_job(7, "j7", PLACE, "j7")


def test_what_is_dropped_leaves_no_process_on_the_host(
    watch: SshWatch, tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    write_state(tmp_path, "j8", runner.pid)
    assert watch.await_job(7, "j8", PLACE, "j8")
    assert running("j8")
    watch.drop(7)
    assert watch.state(7, "j8") is Watched.NOT
    assert eventually(lambda: not running("j8"))
    assert runner.poll() is None


def test_a_worker_that_is_killed_leaves_no_process_on_the_host(
    tmp_path: Path, say: Callable[[str], None], runner: subprocess.Popen[bytes]
) -> None:
    write_state(tmp_path, "j9", runner.pid)
    pid = os.fork()
    if not pid:
        SshWatch(lambda *_: host(tmp_path)).await_job(7, "j9", PLACE, "j9")
        time.sleep(300)
        os._exit(0)
    assert eventually(lambda: running("j9"))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert eventually(lambda: not running("j9"))


def test_who_stops_says_which_runs_waited(
    tmp_path: Path, say: Callable[[str], None], runner: subprocess.Popen[bytes]
) -> None:
    write_state(tmp_path, "j10", runner.pid)
    watch = SshWatch(lambda *_: host(tmp_path))
    assert watch.await_job(7, "j10", PLACE, "j10")
    assert watch.close() == [7]
    assert not running("j10")


def test_many_waits_cost_one_thread(
    watch: SshWatch, tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    write_state(tmp_path, "j11", runner.pid)
    before = threading.active_count()
    assert all(watch.await_job(n, "j11", PLACE, "j11") for n in range(20))
    assert watch.watched() == 20
    assert threading.active_count() == before
    end(runner)
    assert eventually(lambda: len(watch.come()) == 20)


@pytest.fixture
def door() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def knocked(door: socket.socket, answer: bytes) -> None:
    connection, _ = door.accept()
    with connection:
        connection.sendall(answer)


def test_a_host_is_up_once_ssh_greets(
    tmp_path: Path, door: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What accepts and says nothing forwards a port of a host that is not there yet."""
    monkeypatch.setattr(ssh_watch, "KNOCK_EVERY_S", 0.05)
    monkeypatch.setattr(ssh_watch, "ANSWERS_WITHIN_S", 0.3)
    watch = SshWatch(lambda *_: host(tmp_path, ansible_port=door.getsockname()[1]))
    try:
        assert watch.await_greeting(7, "boot 1", PLACE, 0.2)
        knocked(door, b"")
        knocked(door, b"220 mail")
        assert watch.state(7, "boot 1") is Watched.WAITS
        knocked(door, b"SSH-2.0-OpenSSH_10\r\n")
        assert eventually(lambda: watch.come() == [(7, "fleet")])
        assert watch.state(7, "boot 1") is Watched.COME
    finally:
        watch.close()


def test_an_emulated_host_is_not_knocked_at_before_its_console_says_that_it_is_up(
    tmp_path: Path,
) -> None:
    power = {"driver": "qemu", "qmp": "/q", "serial_log": "/s", "greeting": "login:"}
    watch = SshWatch(lambda *_: host(tmp_path, mitigauge_power=power))
    try:
        assert not watch.await_greeting(7, "boot 1", PLACE, 0.0)
    finally:
        watch.close()


@pytest.mark.parametrize(
    "given",
    [
        {"ansible_ssh_common_args": "-o UserKnownHostsFile={{ inventory_dir }}/known"},
        {"ansible_user": "{{ me }}"},
        {"ansible_password": "secret"},
        {"ansible_become": True, "ansible_become_method": "su"},
        {"ansible_become": True, "ansible_become_user": "other"},
        {"ansible_connection": "local"},
        {"ansible_ssh_executable": "/usr/local/bin/ssh"},
    ],
)
def test_what_only_ansible_can_reach_is_left_to_it(tmp_path: Path, given: dict[str, Any]) -> None:
    assert ssh_command(host(tmp_path, **given), ["true"]) is None


def test_nothing_of_an_inventory_comes_before_what_keeps_a_connection_safe(tmp_path: Path) -> None:
    made = ssh_command(
        host(
            tmp_path,
            ansible_port=2222,
            ansible_user="mitigauge",
            ansible_become=True,
            ansible_ssh_private_key_file="/etc/my keys/id",
            ansible_ssh_common_args="-o StrictHostKeyChecking=no -o 'ProxyJump=gate'",
        ),
        ["cat", "a file", "; reboot"],
    )
    assert made is not None
    assert made.index("StrictHostKeyChecking=yes") < made.index("StrictHostKeyChecking=no")
    assert {"Port=2222", 'User="mitigauge"', 'IdentityFile="/etc/my keys/id"'} <= set(made)
    assert made[-3:] == ["--", "127.0.0.1", "sudo -n -- cat 'a file' '; reboot'"]


def test_ssh_itself_takes_the_call_as_it_is_meant(tmp_path: Path) -> None:
    """And finds the connection that Ansible's tasks share: by the same name."""
    made = ssh_command(host(tmp_path, ansible_port=2222, ansible_user="a user"), ["true"])
    assert made is not None
    shown = subprocess.run(
        [made[0], "-G", *made[1:]], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {"user a user", "port 2222", "stricthostkeychecking true", "batchmode yes"} <= set(shown)
    assert "controlmaster auto" in shown
    assert any(line.startswith("controlpath /") and "%" not in line for line in shown)


def test_what_is_sent_needs_no_newer_python_than_hosts_have() -> None:
    assert len(PROGRAM.read_bytes()) < 4096
    compile(PROGRAM.read_text(), str(PROGRAM), "exec", dont_inherit=True)
