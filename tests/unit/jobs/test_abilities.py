"""What a worker of this machine can do, and what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import Settings
from mitigauge.jobs.states import Ability
from mitigauge.measurement.fleet.service import HostVars, host_vars
from pipelines import abilities
from pipelines.abilities import find_abilities


def host(name: str, **variables: Any) -> HostVars:
    return host_vars(name, "team", {"mitigauge_emulated": False} | variables, boot_timeout_s=60)


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> dict[str, HostVars]:
    """The one environment that there is."""
    found: dict[str, HostVars] = {}
    monkeypatch.setattr(abilities, "environment_names", lambda: ["team"])
    monkeypatch.setattr(abilities, "load_hosts", lambda _environment: found)
    return found


def lacks(settings: Settings, **more: Any) -> dict[str, str]:
    return {each.what: each.why for each in find_abilities(settings, **more).lacks}


def test_hosts_are_reached_whose_key_is_there(tmp_path: Path, hosts: dict[str, HostVars]) -> None:
    key = tmp_path / "key"
    key.touch()
    hosts["a"] = host("a", ansible_ssh_private_key_file=str(key))
    hosts["b"] = host("b", ansible_ssh_private_key_file=str(tmp_path / "none"))
    hosts["c"] = host("c")
    can = find_abilities(Settings())
    assert can.hosts == {"team": ["a", "c"]}
    assert can.reaches("team", "a")
    assert not can.reaches("team", "b")
    assert not can.reaches("other", "a")
    assert lacks(Settings())["host team/b"] == f"its key {tmp_path / 'none'} is missing"


def test_one_key_that_all_lack_is_said_once(hosts: dict[str, HostVars]) -> None:
    for name in ("a", "b"):
        hosts[name] = host(name, ansible_ssh_private_key_file="/nowhere/key")
    found = lacks(Settings(), which=lambda name: name)
    assert found == {"all hosts of team": "its key /nowhere/key is missing"}


def test_an_inventory_that_cannot_be_read_is_lacking_and_nothing_is_raised(
    hosts: dict[str, HostVars], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_environment: str) -> dict[str, HostVars]:
        raise InvalidInput("the inventory cannot be read: line 3")

    monkeypatch.setattr(abilities, "load_hosts", broken)
    assert lacks(Settings())["environment team"] == "the inventory cannot be read: line 3"
    assert find_abilities(Settings()).hosts == {}


def test_kernels_need_their_programs_and_each_missing_one_is_named(
    hosts: dict[str, HostVars],
) -> None:
    able = find_abilities(Settings(), which=lambda name: f"/usr/bin/{name}")
    assert Ability.KERNELS in able.jobs
    none = find_abilities(Settings(), which=lambda name: None if name == "bwrap" else name)
    assert Ability.KERNELS not in none.jobs
    assert [each.why for each in none.lacks] == ["no bwrap: install bubblewrap"]


def test_archives_and_mails_by_settings_alone(tmp_path: Path, hosts: dict[str, HostVars]) -> None:
    def can(**said: Any) -> list[Ability]:
        return find_abilities(Settings(**said), which=lambda name: name).jobs

    assert can() == [Ability.DIGESTS, Ability.KERNELS, Ability.LETTERS]
    assert Ability.ARCHIVES in can(watch_series=True)
    assert Ability.MAIL not in can(maildir=str(tmp_path / "none"))
    (tmp_path / "box" / "new").mkdir(parents=True)
    assert Ability.MAIL in can(maildir=str(tmp_path / "box"))
    assert "is missing" in lacks(Settings(maildir=str(tmp_path / "none")))["mail"]
