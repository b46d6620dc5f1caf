"""A guest of an operator's image: what QEMU gets, and its session beside programs named ssh."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

iperf = load("workloads/iperf/run")
guests, disks = sys.modules["_kit.guest"], sys.modules["_kit.guest_disk"]
END = guests.Endpoint(["-netdev", "tap"], "192.168.213.2/24", "192.168.213.2", 5201)


@pytest.fixture
def image(tmp_path: Path) -> dict[str, Any]:
    """What disk.json says of an image that is there."""
    path = tmp_path / "a,b.qcow2"
    path.write_bytes(b"image")
    found = path.stat()
    return {
        "image": str(path),
        "bytes": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "user": "root",
        "key_file": "/etc/key",
        "session": "echo MITIGAUGE-GUEST-READY 1; sleep 60",
    }


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disks, "RETRY_S", 0.05)


def ssh_is(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program of the name ssh before all others."""
    program = folder / "bin/ssh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def guest_of(image: dict[str, Any], folder: Path) -> Any:
    """A guest whose QEMU is another program."""
    manifest = {
        "command": ["sh", "-c", "exec sleep 60"],
        "ready_marker": "MITIGAUGE-GUEST-READY",
        "failed_marker": "MITIGAUGE-GUEST-FAILED",
        "ready_timeout_s": 10,
        "disk": image,
    }
    return guests.Guest(manifest, END, 2, folder, 1)


def test_the_image_is_never_written_to_and_ssh_stays_on_the_host(image: dict[str, Any]) -> None:
    command = " ".join(disks.qemu_arguments(image, 4711))
    assert "a,,b.qcow2,format=qcow2,snapshot=on" in command
    assert "restrict=on,hostfwd=tcp:127.0.0.1:4711-:22" in command


def test_the_measured_network_is_known_by_its_address(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_is(tmp_path, monkeypatch, "cat > script; exec sleep 60")
    monkeypatch.chdir(tmp_path)
    with guests.booted(guest_of(image, tmp_path)) as guest:
        assert guest.command[-1].endswith(f"netdev=n0,romfile=,mac={disks.MAC}")
        assert "-append" not in guest.command
        guest.check()
        wait_until(lambda: "echo" in read(tmp_path / "script"))
    assert read(tmp_path / "script").startswith(f"set -- {END.guest_address} {disks.MAC}\n")


def test_a_session_says_what_the_serial_port_of_our_guest_says(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_is(tmp_path, monkeypatch, "exec sh -s")
    with guests.booted(guest_of(image, tmp_path)) as guest:
        guest.serial.write_text("MITIGAUGE-GUEST-READY 2\n")
        guest.wait_ready(1)
        folder = guest.session.folder
        assert folder.is_dir()
    assert not folder.exists()
    assert guest.session.process.poll() is not None


def test_ssh_is_tried_until_the_guest_answers(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = tmp_path / "tries"
    refused = "echo 'ssh: connect to host 127.0.0.1: Connection refused' >&2; exit 255"
    ssh_is(tmp_path, monkeypatch, f"echo >> {tries}; [ $(wc -l < {tries}) = 3 ] || {{ {refused}; }}"
           "; exec sh -s")  # fmt: skip
    with guests.booted(guest_of(image, tmp_path)) as guest:
        guest.wait_ready(1)
    assert read(tries) == "\n" * 3


def test_a_host_key_is_taken_once_in_a_boot(image: dict[str, Any], tmp_path: Path) -> None:
    session = disks.Session(image, "", END.guest_address, 4711, tmp_path / "said")
    other = disks.Session({**image, "user": "ops"}, "", "a", 1, tmp_path / "said")
    try:
        command = session._command()
        assert f"-oUserKnownHostsFile={session.folder}/known_hosts" in command
        assert "-oStrictHostKeyChecking=accept-new" in command
        assert command[-1] == "exec sh -s"
        assert other._command()[-1] == "exec sudo -n sh -s"
    finally:
        session.stop()
        other.stop()


@pytest.mark.parametrize(
    "words",
    ["root@127.0.0.1: Permission denied (publickey).", "sudo: a password is required",
     "Host key verification failed."],
)  # fmt: skip
def test_a_guest_that_lets_nobody_in_is_no_accident(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    ssh_is(tmp_path, monkeypatch, f"echo '{words}' >&2; exit 255")
    with (
        guests.booted(guest_of(image, tmp_path)) as guest,
        pytest.raises(iperf.contract.CaseError, match=r"b\.qcow2 does not let root in with /etc"),
    ):
        guest.wait_ready(1)


def test_what_an_image_lacks_is_said_by_name(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_is(tmp_path, monkeypatch, "exec sh -s")
    image["session"] = "echo MITIGAUGE-GUEST-LACKS iperf3; exit 1"
    with (
        guests.booted(guest_of(image, tmp_path)) as guest,
        pytest.raises(iperf.contract.CaseError, match=r"b\.qcow2 lacks iperf3: install it"),
    ):
        guest.wait_ready(1)


def test_a_session_that_ends_is_a_fault_of_the_lab(
    image: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_is(tmp_path, monkeypatch, "exec sh -s")
    image["session"] = "echo begun; echo cut off >&2; exit 3"
    with guests.booted(guest_of(image, tmp_path)) as guest:
        with pytest.raises(iperf.LabFault, match="ended with status 3: cut off") as fault:
            guest.wait_ready(1)
        assert fault.value.kind == "guest-session"


def test_an_image_that_was_changed_since_is_not_booted(image: dict[str, Any]) -> None:
    disks.require_unchanged(image)
    Path(image["image"]).write_bytes(b"another")
    with pytest.raises(iperf.contract.CaseError, match="was changed since the host was prepared"):
        disks.require_unchanged(image)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def wait_until(done: Any) -> None:
    deadline = time.monotonic() + 10
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)
