"""A host's entry is written whole or not at all, and nothing of others is lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.host_entry import ask, power_and_console
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.fleet.inventory_entry import with_host, write_host

THEIRS = """---
# Ours since 2019.
all:
  children:
    racks:
      hosts:
        r1: {ansible_host: 192.0.2.1}  # the noisy one
"""
POWER = {"driver": "ipmi", "address": "192.0.2.9", "user": "ops", "password_file": "/etc/p"}


def write(environments: Path, *args: Any, **options: Any) -> Path:
    return write_host(environments, *args, example=environments / "example", **options)


@pytest.fixture
def environments(tmp_path: Path) -> Path:
    shutil.copytree(REPOSITORY / "ansible/envs/example", tmp_path / "example")
    return tmp_path


def test_an_environment_that_is_not_there_is_made_with_its_first_host(environments: Path) -> None:
    file = write(environments, "fleet", "h1", {"ansible_host": "192.0.2.7"})
    tree = parse_yaml(file.read_text(), "hosts.yml").data
    assert tree == {"all": {"hosts": {"h1": {"ansible_host": "192.0.2.7"}}}}
    assert "Passwords stand in files" in file.read_text()
    made = environments / "fleet/group_vars"
    assert [path.name for path in made.iterdir()] == ["all.yml"]
    write(environments, "fleet", "h2", {"ansible_host": "192.0.2.8", "mitigauge_power": POWER})
    tree = parse_yaml(file.read_text(), "hosts.yml").data
    assert tree["all"]["hosts"]["h2"]["mitigauge_power"] == POWER


def test_what_others_wrote_stays_with_their_comments() -> None:
    text = with_host(THEIRS, "h1", {"ansible_host": "192.0.2.7"}, where="hosts.yml")
    assert "# Ours since 2019." in text
    assert "r1: {ansible_host: 192.0.2.1}  # the noisy one" in text
    assert parse_yaml(text, "x").data["all"]["hosts"] == {"h1": {"ansible_host": "192.0.2.7"}}


WORDS = ["on", "off", "no", "Yes", "y", "null", "~", "7", "1_000", "0x1f", "12:30:45", "2026-11-30"]


def test_words_that_ansible_reads_otherwise_are_quoted() -> None:
    """Ansible's YAML is 1.1, where on is true, as a key too."""
    power = {"driver": "command", "on": ["/pdu", *WORDS], "off": ["/pdu", "off: not", "# x", ""]}
    text = with_host(THEIRS, "h1", {"mitigauge_power": power}, where="hosts.yml")
    read = parse_1_1(text)["all"]["hosts"]["h1"]["mitigauge_power"]
    assert read == power
    assert "driver: command" in text


def test_quotes_of_others_stay() -> None:
    theirs = 'all:\n  hosts:\n    r1: {mitigauge_power: {"on": [/pdu, "on"], \'off\': [/pdu]}}\n'
    text = with_host(theirs, "h1", {"ansible_host": "192.0.2.7"}, where="hosts.yml")
    read = parse_1_1(text)["all"]["hosts"]["r1"]["mitigauge_power"]
    assert read == {"on": ["/pdu", "on"], "off": ["/pdu"]}


def parse_1_1(text: str) -> Any:
    """As Ansible reads it."""
    return yaml.safe_load(text)


@pytest.mark.parametrize("name", ["r1", "racks", "all"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    with pytest.raises(Conflict, match=f"named '{name}' already"):
        with_host(THEIRS, name, {}, where="hosts.yml")


def test_an_entry_can_be_completed() -> None:
    text = with_host(THEIRS, "h1", {"ansible_host": "192.0.2.7"}, where="f")
    text = with_host(text, "h1", {"mitigauge_class": "big"}, where="f", replace=True)
    assert parse_yaml(text, "x").data["all"]["hosts"]["h1"] == {
        "ansible_host": "192.0.2.7",
        "mitigauge_class": "big",
    }


@pytest.mark.parametrize(
    "text", ["[1, 2]\n", "all: [1]\n", "all: {hosts: [1]}\n", "all: {hosts: {a: b: c}}\n"]
)
def test_a_file_that_is_no_inventory_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"fleet/hosts\.yml"):
        with_host(text, "h1", {}, where="fleet/hosts.yml")


def fail() -> None:
    raise InvalidInput("Ansible cannot read it")


def test_a_file_that_cannot_be_read_afterwards_is_as_it_was(environments: Path) -> None:
    with pytest.raises(InvalidInput, match="Ansible cannot read it"):
        write(environments, "fleet", "h1", {"ansible_host": "a"}, check=fail)
    assert not (environments / "fleet").exists()
    (environments / "fleet").mkdir()
    (environments / "fleet/hosts.yml").write_text(THEIRS)
    with pytest.raises(InvalidInput, match="Ansible cannot read it"):
        write(environments, "fleet", "h1", {"ansible_host": "a"}, check=fail)
    assert (environments / "fleet/hosts.yml").read_text() == THEIRS
    assert [path.name for path in (environments / "fleet").iterdir()] == ["hosts.yml"]


@pytest.mark.parametrize(
    ("environment", "name", "variables", "reason"),
    [
        ("lab", "h1", {}, "'lab' is not for hosts of yours"),
        ("../x", "h1", {}, "cannot be the name of a folder"),
        ("fleet", "all", {}, "pattern"),
        ("fleet", "h1", {"mitigauge_power": {"driver": "magic"}}, "unknown power driver 'magic'"),
        ("fleet", "h1", {"mitigauge_power": {**POWER, "password": "x"}}, "unknown value password"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    environments: Path, environment: str, name: str, variables: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        write(environments, environment, name, {"ansible_host": "a", **variables})
    assert [path.name for path in environments.iterdir()] == ["example"]


def answers(**known: str) -> Any:
    def ask(what: str, default: str) -> str:
        found = [value for word, value in known.items() if word.replace("_", " ") in what]
        return found[0] if found else default

    return ask


def test_what_a_driver_needs_is_asked_for() -> None:
    ask = answers(power="ipmi", console="none", address="192.0.2.9", user="ops", password="/etc/p")
    assert dict(power_and_console("", "", [], ask)) == {
        "mitigauge_power": POWER,
        "mitigauge_console": {"kind": "none"},
    }


def test_what_is_given_is_not_asked_for() -> None:
    def nobody(what: str, default: str) -> str:
        raise AssertionError(what)

    settings = [
        *("power.address=192.0.2.9", "power.user=ops", "power.password_file=/etc/p"),
        *("power.port=6230", "power.cipher_suite=3", "console.address=c", "console.port=7001"),
    ]
    found = dict(power_and_console("ipmi", "tcp", settings, nobody))
    assert found["mitigauge_power"] == {**POWER, "port": 6230, "cipher_suite": 3}
    assert found["mitigauge_console"] == {"kind": "tcp", "address": "c", "port": 7001}


def test_a_program_is_given_with_its_arguments() -> None:
    settings = ["power.on=/usr/bin/pdu on 'outlet 3'", "power.off=/usr/bin/pdu off 3"]
    found = dict(power_and_console("command", "none", settings, answers()))
    assert found["mitigauge_power"]["on"] == ["/usr/bin/pdu", "on", "outlet 3"]


def test_a_cycle_that_is_given_needs_no_more() -> None:
    settings = ["power.cycle=/usr/bin/pdu cycle 3"]
    found = dict(power_and_console("command", "none", settings, answers()))
    assert found["mitigauge_power"] == {
        "driver": "command",
        "cycle": ["/usr/bin/pdu", "cycle", "3"],
    }


@pytest.mark.parametrize(
    ("power", "setting", "reason"),
    [
        ("magic", "", "unknown driver 'magic'"),
        ("none", "power.user=x", "driver none has no user"),
        ("none", "user=x", "is not of the form"),
        ("none", "power.user", "is not of the form"),
    ],
)
def test_settings_that_cannot_be_are_refused(power: str, setting: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        dict(power_and_console(power, "none", [setting] if setting else [], answers()))


def test_where_nobody_can_be_asked_the_option_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    with pytest.raises(InvalidInput, match="no terminal to ask at"):
        ask("address")
