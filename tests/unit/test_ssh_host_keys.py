"""A host whose SSH key is not the known one is never talked to: plays against a real SSH server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.fleet.power_values import SshConsoleValues
from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters import ansible
from pipelines.adapters.ansible import PlayUnreachable, PlayUntrusted, run_playbook
from pipelines.adapters.console.log import ConsoleError
from pipelines.adapters.console.probe import opened_for_a_moment
from pipelines.adapters.ssh_command import ssh_command
from pipelines.adapters.ssh_watch import SshWatch
from tests.loading import load

load("workloads/iperf/run")
disks = sys.modules["_kit.guest_disk"]
SERVER, KEYS = shutil.which("dropbear") or "/usr/sbin/dropbear", shutil.which("dropbearkey")
pytestmark = pytest.mark.skipif(
    not (KEYS and Path(SERVER).exists()), reason="needs dropbear-bin (make setup)"
)
ADDRESS = "127.0.0.1"


def made_key(file: Path) -> str:
    """Make a host key; its line for known_hosts, without the address."""
    assert KEYS
    subprocess.run([KEYS, "-t", "ed25519", "-f", file], check=True, capture_output=True)
    said = subprocess.run([KEYS, "-y", "-f", file], check=True, capture_output=True, text=True)
    return " ".join(next(x for x in said.stdout.splitlines() if x.startswith("ssh-")).split()[:2])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The port and the public key of a server that runs."""
    public = made_key(tmp_path / "host")
    with socket.create_server((ADDRESS, 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [SERVER, "-F", "-E", "-r", tmp_path / "host", "-p", f"{ADDRESS}:{port}", "-P",
         tmp_path / "pid"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(100):
            with socket.socket() as client:
                if client.connect_ex((ADDRESS, port)) == 0:
                    break
            time.sleep(0.05)
        yield port, public
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def look(
    server: tuple[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> Callable[[str], PlayUnreachable]:
    """What a play says of the host whose known keys are so; nobody gets in, whatever they are."""
    port, _ = server

    def looked(known: str) -> PlayUnreachable:
        (tmp_path / "known_hosts").write_text(known)
        inventory = tmp_path / "hosts.yml"
        inventory.write_text(
            f"""
all:
  hosts:
    alpha:
      ansible_host: {ADDRESS}
      ansible_port: {port}
      ansible_user: root
      ansible_ssh_common_args: >-
        -F /dev/null -o UserKnownHostsFile={tmp_path}/known_hosts -o GlobalKnownHostsFile=/dev/null
        -o IdentitiesOnly=yes -o IdentityFile=/nonexistent -o StrictHostKeyChecking=accept-new
"""
        )
        monkeypatch.setattr(ansible, "inventory_sources", lambda _: [inventory])
        with pytest.raises(PlayUnreachable) as refused:
            run_playbook(
                "ping.yml", environment="lab", host="alpha", variables={"boot_mode_reads": []}
            )
        return refused.value

    return looked


def test_the_known_key_lets_a_play_get_as_far_as_its_own_key(
    server: tuple[int, str], look: Callable[[str], PlayUnreachable]
) -> None:
    port, public = server
    refused = look(f"[{ADDRESS}]:{port} {public}\n")
    assert not isinstance(refused, PlayUntrusted)
    assert "Permission denied" in refused.message


def test_another_key_than_the_known_one_is_refused_by_name(
    server: tuple[int, str], look: Callable[[str], PlayUnreachable], tmp_path: Path
) -> None:
    """Also where the host was installed anew: nobody but a person can tell that from an attack."""
    port, _ = server
    refused = look(f"[{ADDRESS}]:{port} {made_key(tmp_path / 'other')}\n")
    assert isinstance(refused, PlayUntrusted)
    assert refused.message.startswith("ping.yml on alpha: the host's SSH key is not the known one")
    assert "ssh-keyscan" in refused.hint


def test_a_key_that_is_not_known_is_not_taken_whatever_an_inventory_says(
    look: Callable[[str], PlayUnreachable], tmp_path: Path
) -> None:
    refused = look("")
    assert isinstance(refused, PlayUntrusted)
    assert "no SSH key of the host is known" in refused.message
    assert (tmp_path / "known_hosts").read_text() == ""


def test_a_revoked_key_is_refused(
    server: tuple[int, str], look: Callable[[str], PlayUnreachable]
) -> None:
    port, public = server
    refused = look(f"@revoked [{ADDRESS}]:{port} {public}\n")
    assert isinstance(refused, PlayUntrusted)
    assert "revoked" in refused.message


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("own", "Permission denied"),
        ("other", "IDENTIFICATION HAS CHANGED"),
        ("none", "Host key verification failed"),
    ],
)
def test_who_waits_for_a_host_takes_no_other_key_either(
    server: tuple[int, str], tmp_path: Path, known: str, said: str
) -> None:
    port, public = server
    keys = {"own": public, "other": made_key(tmp_path / "other"), "none": ""}
    line = f"[{ADDRESS}]:{port} {keys[known]}\n" if keys[known] else ""
    (tmp_path / "known_hosts").write_text(line)
    arguments = (
        f"-F /dev/null -o UserKnownHostsFile={tmp_path}/known_hosts"
        " -o GlobalKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o IdentityFile=/nonexistent"
        " -o StrictHostKeyChecking=accept-new"
    )
    given = {
        "ansible_host": ADDRESS, "ansible_port": port, "ansible_ssh_common_args": arguments
    }  # fmt: skip
    host = host_vars("alpha", "fleet", given, boot_timeout_s=60)
    command = ssh_command(host, ["true"])
    assert command is not None
    command.remove("-q")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 255
    assert said in done.stderr
    watch = SshWatch(lambda *_: host)
    assert not watch.await_job(1, "job", ("fleet", "alpha"), "job")
    watch.close()
    assert (tmp_path / "known_hosts").read_text() == line


def test_host_check_says_it_as_a_command(
    server: tuple[int, str], tmp_path: Path, home: Path
) -> None:
    port, _ = server
    environment = REPOSITORY / "ansible" / "envs" / f"test-{os.getpid()}"
    environment.mkdir()
    (tmp_path / "known_hosts").write_text(f"[{ADDRESS}]:{port} {made_key(tmp_path / 'other')}\n")
    (environment / "hosts.yml").write_text(
        f"""
all:
  hosts:
    alpha:
      ansible_host: {ADDRESS}
      ansible_port: {port}
      ansible_user: root
      ansible_ssh_common_args: "-F /dev/null -o UserKnownHostsFile={tmp_path}/known_hosts"
      mitigauge_class: test
      mitigauge_emulated: false
"""
    )
    try:
        done = subprocess.run(
            [Path(sys.executable).parent / "mitigauge", "host", "check", "alpha",
             "--environment", environment.name],
            capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"},
            timeout=120,
        )  # fmt: skip
    finally:
        shutil.rmtree(environment)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    assert "the host's SSH key is not the known one" in said
    assert "ok root" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("known", "said"),
    [("ours", "Permission denied"), ("other", "has changed"), ("", "No ED25519 host key is known")],
)
def test_a_console_server_whose_key_is_not_the_known_one_is_left(
    server: tuple[int, str], tmp_path: Path, known: str, said: str
) -> None:
    """Its console is a host's: what it says is kept, and may be a prompt for a password."""
    port, public = server
    keys = {"ours": public, "other": made_key(tmp_path / "other"), "": ""}
    line = f"[{ADDRESS}]:{port} {keys[known]}\n" if known else ""
    (tmp_path / "known_hosts").write_text(line)
    values = SshConsoleValues(
        kind="ssh", address=ADDRESS, port=port, user="root", key_file="/nonexistent",
        known_hosts_file=str(tmp_path / "known_hosts"), command="console",
    )  # fmt: skip
    with pytest.raises(ConsoleError) as refused:
        opened_for_a_moment(values)
    told = refused.value.message
    assert ("Host key verification failed" in told) == (known != "ours"), told
    assert said in told
    assert (tmp_path / "known_hosts").read_text() == line


def test_a_guest_whose_key_changes_within_a_boot_is_left(
    server: tuple[int, str], tmp_path: Path
) -> None:
    """The first one is taken: nobody but the guest's own host reaches that port."""
    port, public = server
    image = {"image": "/image", "user": "root", "key_file": "/nonexistent"}
    session = disks.Session(image, "", "10.0.2.15", port, tmp_path / "said")
    known = session.folder / "known_hosts"

    def told() -> str:
        done = subprocess.run(
            session._command(), input="", capture_output=True, text=True, check=False, timeout=60
        )
        return done.stderr

    try:
        assert "Permission denied" in told()
        assert public in known.read_text()
        known.write_text(f"[{ADDRESS}]:{port} {made_key(tmp_path / 'other')}\n")
        assert "Host key verification failed" in told()
    finally:
        session.stop()
