"""What a worker asks at every step: Ansible's answer, as long as no file changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mitigauge.errors import InvalidInput
from mitigauge.fleet import inventory


@pytest.fixture
def hosts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inventory of an environment called rack."""
    monkeypatch.setattr(inventory, "ENVIRONMENTS", tmp_path)
    (tmp_path / "rack").mkdir()
    path = tmp_path / "rack" / "hosts.yml"
    path.write_text("all: {hosts: {one: {mitigauge_class: A}}}\n")
    return path


def test_ansible_is_asked_once_while_nothing_changes(
    hosts_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = inventory.load_hosts("rack")
    monkeypatch.setattr(inventory.subprocess, "run", lambda *_, **__: pytest.fail("asked again"))
    assert inventory.load_hosts("rack") == first


def test_a_changed_inventory_is_read_anew(hosts_file: Path) -> None:
    assert list(inventory.load_hosts("rack")) == ["one"]
    hosts_file.write_text("all: {hosts: {one: {}, two: {}}}\n")
    assert list(inventory.load_hosts("rack")) == ["one", "two"]


def test_so_is_one_whose_variables_changed_beside_it(hosts_file: Path) -> None:
    variables = hosts_file.parent / "group_vars" / "all.yml"
    variables.parent.mkdir()
    variables.write_text("mitigauge_class: B\n")
    hosts_file.write_text("all: {hosts: {one: {}}}\n")
    assert inventory.load_hosts("rack")["one"].variables["mitigauge_class"] == "B"
    variables.write_text("mitigauge_class: C\n")
    os.utime(variables, ns=(1, 1))
    assert inventory.load_hosts("rack")["one"].variables["mitigauge_class"] == "C"


def test_a_fault_in_it_is_told_every_time(hosts_file: Path) -> None:
    hosts_file.write_text("all: {hosts: [\n")
    for _ in range(2):
        with pytest.raises(InvalidInput, match="cannot be read"):
            inventory.load_hosts("rack")
