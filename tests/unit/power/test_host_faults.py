"""A controller that fails is the lab's fault, by its name; a console that fails costs no boot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters import ansible_host
from pipelines.adapters.ansible import PlayResult
from pipelines.adapters.ansible_host import AnsibleHost
from pipelines.adapters.console.stream import holder_of
from pipelines.host_control import POWER_CYCLE, LabFault, LeaseGone
from tests.unit.power.bmc import Bmc, served, values


class Log:
    """A run's log, and its lease."""

    def __init__(self, holds: bool = True) -> None:
        self.lines: list[str] = []
        self._holds = holds

    def line(self, kind: str, text: str) -> None:
        self.lines.append(f"{kind}: {text}")

    def alive(self) -> bool:
        return self._holds

    def holds(self) -> bool:
        return self._holds


def host(variables: dict[str, Any], log: Log | None = None) -> AnsibleHost:
    return AnsibleHost(host_vars("one", "rack", variables, boot_timeout_s=60), log or Log())


def test_a_wrong_password_is_a_fault_of_the_lab_by_its_name(secret: Path) -> None:
    secret.write_text("wrong\n")
    with served(Bmc()) as url:
        found = host(values(url, secret))
        for act in (found.power_cycle, found.is_on):
            with pytest.raises(LabFault, match=r"The Redfish controller .* refuses the user 'ops'"):
                act()


def test_without_a_controller_the_fault_says_who_is_needed() -> None:
    for variables in ({"mitigauge_power": {"driver": "none"}}, {}):
        with pytest.raises(LabFault, match=r"a person must switch|has no mitigauge_power"):
            host(variables).power_cycle()


def test_how_far_a_boot_came_is_told_before_the_power_cycle(secret: Path) -> None:
    log, bmc = Log(), Bmc(progress="MemoryInitializationStarted")
    with served(bmc) as url:
        host(values(url, secret), log).power_cycle()
    assert log.lines == [
        "power: boot progress before the power cycle: MemoryInitializationStarted",
        f"power: {POWER_CYCLE}",
    ]
    assert bmc.told == ["ForceRestart"]


def test_a_console_that_cannot_be_read_is_told_and_stops_nothing(home: Path) -> None:
    gone = {"kind": "file", "path": "/no/such/log"}
    sol = {"kind": "ipmi-sol", "address": "b", "user": "u", "password_file": "/no/such/secret"}
    for console in (gone, sol):
        log = Log()
        found = host({"mitigauge_console": console}, log)
        assert found.serial_offset() is None
        assert found.serial_tail(None) == ""
        assert log.lines[0].startswith("console: ")
        assert "cannot be read" in log.lines[0]


def test_a_console_is_listened_to_while_the_host_is_booted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ansible_host, "run_playbook", lambda *_, **__: PlayResult({}, 0, 0, 0.1))
    lock = home / "consoles" / "rack" / "one.lock"
    tcp = {"mitigauge_console": {"kind": "tcp", "address": "127.0.0.1", "port": 9}}
    with pytest.raises(LeaseGone):
        host(tcp, Log(holds=False)).serial_offset()
    assert holder_of(lock) is None
    found = host(tcp)
    assert found.serial_offset() is not None
    assert holder_of(lock) is not None
    assert "console lost" in found.serial_tail(0) or found.serial_tail(0) == ""
    found.restore()
    assert holder_of(lock) is None


def test_a_power_cycle_stands_in_the_log_before_it_is_made(secret: Path) -> None:
    log = Log()
    with pytest.raises(LabFault):
        host({"mitigauge_power": {"driver": "none"}}, log).power_cycle()
    assert log.lines == [f"power: {POWER_CYCLE}"]
