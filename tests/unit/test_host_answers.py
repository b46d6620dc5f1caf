"""What a host may answer: a lying one is a fault of the lab, and steers nothing of ours."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.hostile_text import clean
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.service import host_vars
from mitigauge.measurement.runs.boot_evidence import WrittenEntry
from pipelines.adapters import ansible, ansible_host
from pipelines.adapters.ansible import PlayFailure, PlayResult, run_playbook
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.adapters.host_answers import CheckAnswer, ProofAnswer, typed
from pipelines.answers import parse_answer
from pipelines.host_control import LabFault
from tests.loading import load

PROOF = {
    "boot_id": "b",
    "nonce": "n",
    "kernel_release": "6.12.9-amd64",
    "kernel_version": "#1 SMP",
    "build_id": None,
    "cmdline": "root=/dev/vda",
    "vulnerabilities": {"vmscape": "Vulnerable"},
    "tainted": 4,
    "taint_flags": ["S"],
    "microcode": "0x1",
    "watchdog": {"identity": None, "state": "active", "timeout_s": 120},
    "uptime_s": 3,
}
BOOT = {
    "entry_id": "mitigauge-arm",
    "already_up": False,
    "default_entry": "gnulinux-simple",
    "kernel_release": "6.12.9-amd64",
    "kernel_version": "#1 SMP",
    "previous_boot_id": "a",
    "cmdline": "root=/dev/vda",
    "watchdog": None,
}
FINGERPRINT = {"cpu": "x", "smt": None, "packages": {"libc6": "2.36"}, "threads": 8}
Answer = Callable[[dict[str, Any]], AnsibleHost]


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answer:
    """A host whose every play returns what is passed."""

    def host(returned: dict[str, Any]) -> AnsibleHost:
        monkeypatch.setattr(
            ansible_host, "run_playbook", lambda *_, **__: PlayResult(clean(returned), 1, 0, 0.1)
        )
        return AnsibleHost(host_vars("alpha", "lab", {}, boot_timeout_s=60), SilentLog())

    return host


def test_what_our_modules_say_is_taken_as_they_say_it(answering: Answer) -> None:
    host = answering({"proof": PROOF, "boot": BOOT, "fingerprint": FINGERPRINT, "tuning": {}})
    assert host.look().model_dump(exclude_unset=True) == PROOF
    assert host.verify() == {"proof": PROOF, "fingerprint": FINGERPRINT}
    assert host.arm(nonce="n", cmdline="", kernel="", method=BootMethod.RESET) == BOOT


def test_a_host_cannot_say_which_file_of_ours_holds_its_archive(
    answering: Answer, tmp_path: Path
) -> None:
    host = answering({"job": {"state": "finished", "archive": "/etc/shadow"}})
    for said in (host.start("j", [], tmp_path), host.poll("j", tmp_path)):
        assert said["archive"] == str(tmp_path / "j.tar.gz")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"kernel_release": None}, "kernel_release"),
        ({"kernel_release": "x" * 10_000}, "kernel_release"),
        ({"boot_id": ["b"]}, "boot_id"),
        ({"tainted": "4"}, "tainted"),
        ({"tainted": -1}, "tainted"),
        ({"tainted": True}, "tainted"),
        ({"vulnerabilities": ["vmscape"]}, "vulnerabilities"),
        ({"vulnerabilities": {"vmscape": 1}}, "vulnerabilities.vmscape"),
        ({"vulnerabilities": {str(i): "" for i in range(1000)}}, "vulnerabilities"),
        ({"watchdog": "none"}, "watchdog"),
        ({"uptime_s": "3"}, "uptime_s"),
    ],
)
def test_a_malformed_proof_is_a_fault_of_the_lab(
    answering: Answer, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(LabFault, match=f"the proof is malformed at {place}") as fault:
        answering({"proof": {**PROOF, **changes}}).verify()
    assert len(fault.value.message) < 500


@pytest.mark.parametrize("said", ["text", 1, None, [], [PROOF], {}])
def test_an_answer_that_is_none_is_a_fault_of_the_lab(
    answering: Answer, said: Any, tmp_path: Path
) -> None:
    host = answering({"proof": said, "boot": said, "job": said})
    for ask in (
        host.look,
        host.verify,
        lambda: host.arm(nonce="n", cmdline="", kernel="", method=BootMethod.RESET),
        lambda: host.poll("j", tmp_path),
    ):
        with pytest.raises(LabFault, match="malformed"):
            ask()
    with pytest.raises(LabFault, match="returned no 'proof'"):
        answering({}).verify()


@pytest.mark.parametrize("seconds", [1e300, -1, "5", [5]])
def test_a_jobs_time_is_a_time(answering: Answer, tmp_path: Path, seconds: Any) -> None:
    host = answering({"job": {"state": "finished", "seconds": seconds}})
    with pytest.raises(LabFault, match="the job is malformed at seconds"):
        host.poll("j", tmp_path)


def test_numbers_that_no_database_holds_are_nothing() -> None:
    said = {"a": [float("nan"), float("inf"), 10**5000, -(2**64), 2**63 - 1, 1e300, True]}
    assert clean(said) == {"a": [None, None, None, None, 2**63 - 1, 1e300, True]}


@pytest.mark.parametrize("said", ["text", ["a"], 5, True])
def test_a_module_that_answers_no_facts_by_name_fails_its_play(
    said: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "liar.py").write_text(
        "#!/usr/bin/python3\n# WANT_JSON\nprint(" + repr(json.dumps({"mitigauge": said})) + ")\n"
    )
    (tmp_path / "play.yml").write_text(
        "- {name: A play, hosts: all, gather_facts: false, tasks: [{name: Ask, liar: {}}]}\n"
    )
    (tmp_path / "hosts.yml").write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    monkeypatch.setattr(ansible, "inventory_sources", lambda _: [tmp_path / "hosts.yml"])
    with pytest.raises(PlayFailure, match="where facts by name belong"):
        run_playbook(str(tmp_path / "play.yml"), environment="lab", host="here", variables={})


def test_a_host_that_boots_by_its_serial_line_is_not_knocked_at(tmp_path: Path) -> None:
    """Each knock would reach it later, as a server process in what is measured."""
    log = tmp_path / "serial.log"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(2)
        power = {"driver": "qemu", "qmp": "/none", "serial_log": str(log)}
        variables = {"ansible_host": "127.0.0.1", "ansible_port": listener.getsockname()[1]}

        def host(**more: str) -> AnsibleHost:
            values = {**variables, "mitigauge_power": power | more}
            return AnsibleHost(host_vars("a", "lab", values, boot_timeout_s=60), SilentLog())

        def knocked() -> bool:
            with suppress(TimeoutError):
                listener.accept()[0].close()
                return True
            return False

        log.write_text("[    0.000000] Linux version 7.2\n")
        assert not host(greeting="login:").answers()
        assert not knocked()
        log.write_text("[    0.000000] Linux version 7.2\na login: ")
        for greets in (host(greeting="login:"), host()):
            server = threading.Thread(target=greet, args=(listener,))
            server.start()
            assert greets.answers()
            server.join()


def greet(listener: socket.socket) -> None:
    """Answer one connection as an SSH server does."""
    connection, _ = listener.accept()
    with connection:
        connection.sendall(b"SSH-2.0-x\r\n")


def test_a_host_cannot_say_which_boot_another_arm_shares(answering: Answer) -> None:
    """Nonce and boot id of a shared boot are our own rows', whatever an answer holds."""
    forged = {**BOOT, "nonce": "theirs", "boot_id": "theirs"}
    said = answering({"boot": forged}).arm(
        nonce="n", cmdline="", kernel="", method=BootMethod.RESET
    )
    assert said == BOOT
    # What a step takes of any host, whoever implements it.
    assert parse_answer(WrittenEntry, forged, "it").model_dump(exclude_unset=True) == BOOT


def test_what_the_modules_really_say_here_is_taken() -> None:
    """Whatever a module says more, its type must be one that is taken: of JSON, not of Python."""
    proof = load("ansible/roles/boot_mode/library/boot_proof.py").proof([])
    proof |= {"kernel_log": ["[1.0] Oops: 0000"], "boot_next": "0005", "tainted": 128}
    assert typed(ProofAnswer, json.loads(json.dumps(proof)), "the proof")
    looked = load("ansible/roles/host_check/library/host_check.py").check(Path("/"), ["sh"], [])
    looked |= {"dkms": ["zfs"], "unsteady": ["tuned.service"], "consoles": ["ttyS1"]}
    assert typed(CheckAnswer, json.loads(json.dumps(looked)), "the check")
