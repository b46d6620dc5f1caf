"""What a worker asks at every step: Ansible's answer, as long as no file changes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from lab.execution import Execution
from lab.hosts import LabPaths
from lab.inventory import host_vars as lab_vars
from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.measurement.fleet import inventory
from mitigauge.measurement.fleet.inventory_values import InventoryValues
from mitigauge.measurement.fleet.power_values import POWER_DRIVERS
from mitigauge.measurement.fleet.service import HostVars, host_vars
from pipelines.adapters.console import open_console
from pipelines.adapters.power import DRIVERS, open_power
from tests.specs import markers


@pytest.fixture
def hosts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inventory of an environment called rack."""
    monkeypatch.setattr(inventory, "SHIPPED", tmp_path)
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


def read(variables: dict[str, Any], name: str = "one") -> HostVars:
    return host_vars(name, "rack", variables, boot_timeout_s=60)


QEMU = {
    "driver": "qemu",
    "qmp": "/run/a b/qmp.sock",
    "serial_log": "/var/log/serial",
    "greeting": "login:",
}

IPMI = {"driver": "ipmi", "address": "bmc1", "user": "ops", "password_file": "/etc/secret"}
REDFISH = {
    "driver": "redfish",
    "url": "https://bmc1/redfish/v1/Systems/1",
    "user": "ops",
    "password_file": "/etc/secret",
}
TCP = {"kind": "tcp", "address": "cs1", "port": 7001}
GUEST: dict[str, Any] = {
    "mitigauge_guest_image": "/srv/a b,c.qcow2",
    "mitigauge_guest_ssh": {"user": "ops", "key_file": "/etc/key"},
}
LOGIN = GUEST["mitigauge_guest_ssh"]
PROGRAMS = {"driver": "command", "on": ["/usr/bin/pdu", "on"], "off": ["/usr/bin/pdu", "off"]}


def test_values_of_ours_are_read_with_their_types() -> None:
    host = read(
        {
            "mitigauge_emulated": True,
            "mitigauge_class": "Xeon (R) 6248, 1 socket, microcode 0x5003707",
            "mitigauge_machine": "rack/1",
            "mitigauge_capabilities": ["kvm"],
            "mitigauge_boot_timeout_s": 600,
            "mitigauge_power": QEMU,
            "mitigauge_clock": "counted",
            "mitigauge_cpus": 3,
            "mitigauge_nmi_source": "10.0.2.100:7",
            "mitigauge_exact_source": "10.0.2.100:8",
            **GUEST,
            "ansible_host": "::1",
            "ansible_port": 2222,
            "ansible_user": "{{ anything }}",
        }
    )
    assert (host.emulated, host.machine, host.boot_timeout_s) == (True, "rack/1", 600)
    assert host.clock is Clock.COUNTED
    assert (host.address, host.port, host.power) == ("::1", 2222, QEMU)
    assert host.for_plays == {
        "mitigauge_emulated": True,
        "mitigauge_clock": "counted",
        "mitigauge_cpus": "3",
        "mitigauge_nmi_source": "10.0.2.100:7",
        "mitigauge_exact_source": "10.0.2.100:8",
        **GUEST,
    }
    assert host.guest_image == GUEST["mitigauge_guest_image"]


def test_a_host_of_which_nothing_is_said_has_defaults() -> None:
    host = read({})
    assert (host.address, host.port, host.boot_timeout_s) == ("one", 22, 60)
    assert host.clock is Clock.REAL
    assert (host.machine, host.host_class, host.power) == ("rack/one", "unknown class", {})


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"mitigauge_clas": "A"}, "unknown value mitigauge_clas\n.*Known: .*mitigauge_class"),
        ({"mitigauge_emulated": "yes"}, "mitigauge_emulated is 'yes'"),
        ({"mitigauge_clock": "atomic"}, "mitigauge_clock is 'atomic'.*'real' or 'counted'"),
        ({"mitigauge_clock": "counted"}, "mitigauge_clock is 'counted': only the time of an emul"),
        ({"mitigauge_class": ["A"]}, "mitigauge_class is"),
        ({"mitigauge_class": "A\x1b[2J"}, "control character"),
        ({"mitigauge_class": "A" * 201}, "at most 200"),
        ({"mitigauge_machine": "../x y"}, "mitigauge_machine is"),
        ({"mitigauge_capabilities": "kvm"}, "mitigauge_capabilities is"),
        ({"mitigauge_capabilities": ["KVM; x"]}, r"mitigauge_capabilities\.0 is"),
        ({"mitigauge_guest_image": "/g.qcow2"}, "guest_image stands without mitigauge_guest_ssh"),
        ({"mitigauge_guest_ssh": LOGIN}, "guest_ssh stands without mitigauge_guest_image"),
        ({**GUEST, "mitigauge_guest_image": "g.qcow2"}, "mitigauge_guest_image is 'g.qcow2'"),
        ({**GUEST, "mitigauge_guest_image": "/{{ x }}"}, "guest_image is .*template"),
        ({**GUEST, "mitigauge_guest_ssh": {"user": "root"}}, "guest_ssh.key_file"),
        ({**GUEST, "mitigauge_guest_ssh": {**LOGIN, "user": "-x"}}, "guest_ssh.user"),
        ({**GUEST, "mitigauge_guest_ssh": {**LOGIN, "port": 22}}, "unknown .*guest_ssh.port"),
        ({"mitigauge_boot_timeout_s": "240"}, "mitigauge_boot_timeout_s is"),
        ({"mitigauge_boot_timeout_s": float("nan")}, "mitigauge_boot_timeout_s is"),
        ({"mitigauge_boot_timeout_s": 1e9}, "less than or equal"),
        ({"mitigauge_boot_timeout_s": 0}, "greater than 0"),
        ({"mitigauge_power": "qemu"}, "give it a driver: command, ipmi, none, q"),
        ({"mitigauge_power": {"driver": "ilo"}}, "unknown power driver 'ilo'; known: command, ip"),
        ({"mitigauge_power": {"driver": ["qemu"]}}, "unknown power driver"),
        ({"mitigauge_power": {"driver": "qemu", "qmp": "/q"}}, "serial_log"),
        ({"mitigauge_power": {**QEMU, "qmp": "tcp:1.2.3.4:1"}}, "qmp"),
        ({"mitigauge_power": {**QEMU, "shell": "x"}}, "shell"),
        ({"mitigauge_power": {**IPMI, "password": "hunter2"}}, "unknown value password, known: a"),
        ({"mitigauge_power": {**IPMI, "address": "-x"}}, "address is '-x'"),
        ({"mitigauge_power": {**IPMI, "user": "-U root"}}, "user is '-U root'"),
        ({"mitigauge_power": {**IPMI, "password_file": "secret"}}, "password_file is 'secret'"),
        ({"mitigauge_power": {**IPMI, "cipher_suite": 0}}, "cipher_suite is 0"),
        ({"mitigauge_power": {**REDFISH, "url": "http://10.0.0.1/redfish/v1/Systems/1"}}, "https"),
        ({"mitigauge_power": {**REDFISH, "url": "https://u:p@b/redfish/v1/Systems/1"}}, "more th"),
        ({"mitigauge_power": {**REDFISH, "url": "https://b/redfish/v1/Chassis/1"}}, "no system of"),
        ({"mitigauge_power": {**REDFISH, "url": "https://b:x/redfish/v1/Systems/1"}}, "url is"),
        ({"mitigauge_power": {**REDFISH, "url": "ftp://b/redfish/v1/Systems/1"}}, "no https addr"),
        ({"mitigauge_power": {**REDFISH, "verify": False}}, "unknown value verify"),
        ({"mitigauge_power": {**REDFISH, "login": "none"}}, "login is 'none'"),
        ({"mitigauge_power": {**PROGRAMS, "on": ["pdu", "on"]}}, "does not begin with a program"),
        ({"mitigauge_power": {**PROGRAMS, "on": []}}, "on is"),
        ({"mitigauge_power": {**PROGRAMS, "on": "/usr/bin/pdu on"}}, "on is '/usr/bin/pdu on'"),
        ({"mitigauge_power": {**PROGRAMS, "timeout_s": 1e9}}, "timeout_s is"),
        ({"mitigauge_power": {"driver": "none", "url": "x"}}, "unknown value url"),
        (
            {"mitigauge_console": {"kind": "telnet"}},
            "unknown kind of console 'telnet'; known: file",
        ),
        ({"mitigauge_console": "tcp"}, "give it a kind: file"),
        ({"mitigauge_console": {"kind": "tcp", "address": "cs1"}}, "port is missing"),
        ({"mitigauge_cpus": "0-1; reboot"}, "mitigauge_cpus is"),
        ({"mitigauge_nmi_source": "a b:1"}, "mitigauge_nmi_source is"),
        ({"ansible_host": "{{ x }}"}, "ansible_host is"),
        ({"ansible_host": "-oProxyCommand=x"}, "ansible_host is"),
        ({"ansible_port": "{{ x }}"}, "ansible_port is"),
        ({"ansible_port": 70000}, "ansible_port is"),
    ],
)
def test_a_malformed_value_is_refused_by_name(variables: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(variables)
    assert re.search(expected, str(refused.value), re.DOTALL)


def test_a_password_that_stands_in_an_inventory_is_not_repeated() -> None:
    for power in ({**IPMI, "password": "hunter2"}, {"password": "hunter2", "driver": "ipmi"}):
        with pytest.raises(InvalidInput) as refused:
            read({"mitigauge_power": power})
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_only_this_machine_is_spoken_to_unencrypted(host: str) -> None:
    url = f"http://{host}:8000/redfish/v1/Systems/1"
    assert read({"mitigauge_power": {**REDFISH, "url": url}}).power["url"] == url


def test_the_example_has_a_controller_for_each_of_its_hosts(home: Path) -> None:
    hosts = inventory.load_hosts("example")
    assert {host.power["driver"] for host in hosts.values()} == {"ipmi", "redfish"}
    for host in hosts.values():
        assert type(open_power(host.variables)).__module__.endswith(f".{host.power['driver']}")
        assert open_console(host) is not None


def test_no_value_of_ours_takes_a_template(tmp_path: Path) -> None:
    values = {name: field.alias or name for name, field in InventoryValues.model_fields.items()}
    for marker in markers(tmp_path / "evaluated")[:3]:
        for name in values.values():
            for value in (
                marker,
                [marker],
                {marker: marker},
                {**QEMU, "qmp": f"/{marker}"},
                {**TCP, "address": marker},
            ):
                with pytest.raises(InvalidInput, match=f"mitigauge_{name}"):
                    read({f"mitigauge_{name}": value})


@pytest.mark.parametrize(
    "name",
    [
        "all",
        "*",
        "!x",
        "@/etc/hosts",
        "a:b",
        "a,b",
        "~a",
        "a[0]",
        "",
        "-l",
        "a\n",
        "x" * 64,
        "{{x}}",
    ],
)
def test_a_hosts_name_is_no_pattern_of_ansibles(name: str) -> None:
    with pytest.raises(InvalidInput, match="pattern"):
        read({}, name=name)


def test_a_host_is_not_named_as_a_group(hosts_file: Path) -> None:
    for group in ("rack_one", "all"):
        hosts_file.write_text(f"all: {{children: {{rack_one: {{hosts: {{{group}: {{}}}}}}}}}}\n")
        with pytest.raises(InvalidInput, match=r"of a host and of a group|cannot be read"):
            inventory.load_hosts("rack")


def test_an_inventory_is_read_and_never_run(hosts_file: Path, tmp_path: Path) -> None:
    hosts_file.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho '{{}}'\n")
    hosts_file.chmod(0o755)
    with pytest.raises(InvalidInput, match="cannot be read"):
        inventory.load_hosts("rack")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("environment", ["example", "lab"])
def test_the_projects_own_inventories_pass(environment: str, home: Path) -> None:
    assert inventory.load_hosts(environment)


def test_what_the_lab_writes_passes(home: Path) -> None:
    paths = LabPaths.of(get_settings())
    for host in paths.hosts():
        for clock in Clock:
            found = read(lab_vars(host, Execution("tcg", clock)), host.name)
            assert found.power["driver"] == "qemu"
            assert found.clock is clock


def test_each_driver_that_may_be_named_exists() -> None:
    assert set(POWER_DRIVERS) == set(DRIVERS)


def test_a_team_s_own_environments_stand_beside_those_shipped_and_before_them(
    hosts_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    for name in ("rack", "fleet"):
        (own / name).mkdir(parents=True)
        (own / name / "hosts.yml").write_text("all: {hosts: {mine: {mitigauge_class: A}}}\n")
    monkeypatch.setenv("MITIGAUGE_ENVIRONMENTS", str(own))
    get_settings.cache_clear()
    assert {"rack", "fleet"} <= set(inventory.environment_names())
    assert list(inventory.load_hosts("rack")) == ["mine"]
    with pytest.raises(NotFound, match="no environment 'x'") as refusal:
        inventory.load_hosts("x")
    assert str(own) in refusal.value.hint
