"""A host that lacks so much that nothing can be asked of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mitigauge.kernels import host_config
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.check import Item, State
from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters import ansible_host
from pipelines.adapters.ansible import PlayFailure
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.host_check import checked
from tests.loading import load

module = load("ansible/roles/host_check/library/host_check.py")


@pytest.fixture
def port() -> Iterator[int]:
    """An SSH server's greeting, and nothing behind it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-x\r\n")

        threading.Thread(target=greet, daemon=True).start()
        yield int(server.getsockname()[1])


@pytest.mark.parametrize(
    ("said", "found", "mend"),
    [
        (
            "The module interpreter '/usr/bin/python3' was not found.",
            "no Python on the host", "apt-get install python3",
        ),
        ("sudo: a password is required", "a password is required", "See its events."),
    ],
)  # fmt: skip
def test_what_keeps_ansible_out_is_named_with_its_mend(
    monkeypatch: pytest.MonkeyPatch, port: int, said: str, found: str, mend: str
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PlayFailure(f"check.yml on alpha: task 'Look' failed: {said}", hint="See its events.")

    monkeypatch.setattr(ansible_host, "run_playbook", refuse)
    variables = {"ansible_host": "127.0.0.1", "ansible_port": port}
    host = AnsibleHost(host_vars("alpha", "lab", variables, boot_timeout_s=60), SilentLog())
    items: dict[str, Item] = {i.name: i for i in checked(host, Catalog(), lambda _: None)}
    assert items["ssh"].state is State.OK
    assert items["ansible"].state is State.MISSING
    assert found in items["ansible"].found
    assert mend in items["ansible"].mend


def test_programs_that_tell_no_power_are_a_note_and_no_fault(
    monkeypatch: pytest.MonkeyPatch, port: int
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PlayFailure("check.yml on alpha: not now", hint="")

    monkeypatch.setattr(ansible_host, "run_playbook", refuse)
    power = {"driver": "command", "cycle": ["/bin/true"]}
    variables = {"ansible_host": "127.0.0.1", "ansible_port": port, "mitigauge_power": power}
    host = AnsibleHost(host_vars("alpha", "lab", variables, boot_timeout_s=60), SilentLog())
    items: dict[str, Item] = {i.name: i for i in checked(host, Catalog(), lambda _: None)}
    assert items["power"].state is State.NOTE
    assert "no program tells" in items["power"].found


@pytest.mark.parametrize(
    ("emulated", "told"), [(True, "kept (SHA-256 "), (False, "kernels for it are built by it")]
)
def test_of_a_kept_configuration_it_says_who_is_built_by_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int, emulated: bool, told: str
) -> None:
    facts = {**module.check(tmp_path, [], []), "config": "CONFIG_SATA_AHCI=m\n"}
    monkeypatch.setattr(AnsibleHost, "check", lambda *_: facts)
    monkeypatch.setattr(host_config, "folder", lambda: tmp_path)
    variables = {
        "ansible_host": "127.0.0.1", "ansible_port": port, "mitigauge_emulated": emulated,
    }  # fmt: skip
    host = AnsibleHost(host_vars("alpha", "lab", variables, boot_timeout_s=60), SilentLog())
    items: dict[str, Item] = {i.name: i for i in checked(host, Catalog(), lambda _: None)}
    assert told in items["kernel's configuration"].found
    assert ("built by it" in items["kernel's configuration"].found) is not emulated
