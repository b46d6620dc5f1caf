"""IPMI as a real controller in software speaks it, and what goes wrong with one."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.adapters.power import PowerError, ipmi
from tests.lab import controllers
from tests.unit.power.conftest import require_gone
from tests.unit.power.stub import opened, stub


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], Path]]:
    """A controller's values, and the folder of its chassis."""
    directory = tmp_path_factory.mktemp("ipmi")
    chassis = controllers.state_chassis(directory / "chassis-state")
    with controllers.ipmi(directory, chassis) as values:
        yield values, directory / "chassis-state"


def test_it_tells_and_switches_the_chassis(rig: tuple[dict[str, Any], Path]) -> None:
    values, chassis = rig
    power = opened(values)
    power.off()
    assert not power.is_on()
    power.off()
    power.on()
    power.on()
    assert power.is_on()
    (chassis / "calls").unlink()
    power.cycle()
    calls = (chassis / "calls").read_text().splitlines()
    assert calls.index("set power 0") < calls.index("set power 1")
    assert power.is_on()
    assert power.progress() == ""


def test_a_controller_that_says_it_is_on_after_it_was_told_off_is_caught(
    rig: tuple[dict[str, Any], Path],
) -> None:
    values, chassis = rig
    state = chassis / "power"
    (chassis / "honest").write_text(program := (chassis / "state-chassis").read_text())
    (chassis / "state-chassis").write_text(program.replace('echo "$3" >power', "true"))
    state.write_text("1\n")
    try:
        with pytest.raises(PowerError, match=r"says it is on after it was told to cut the power"):
            opened(values).off()
    finally:
        (chassis / "state-chassis").write_text(program)


def test_each_fault_is_told_by_its_name(rig: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    values, _ = rig
    wrong = controllers.password_file(tmp_path, "wrong")
    faults = [
        ({"password_file": str(wrong)}, "controller 127.0.0.1 refused the password"),
        ({"user": "nobody"}, "knows no such user"),
        ({"cipher_suite": 17}, "does not take this cipher suite"),
    ]
    for change, expected in faults:
        with pytest.raises(PowerError, match=expected) as told:
            opened(values, **change).is_on()
        assert told.value.hint
        assert controllers.PASSWORD not in str(told.value)


def test_a_controller_that_cannot_interrupt_says_so(rig: tuple[dict[str, Any], Path]) -> None:
    with pytest.raises(PowerError, match=r"chassis power diag.*Invalid data field"):
        opened(rig[0]).nmi()


@pytest.mark.long("the real time-outs of ipmitool")
def test_silence_is_a_controller_that_does_not_answer(rig: tuple[dict[str, Any], Path]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(PowerError, match=r"127\.0\.0\.1 does not answer"):
            opened(rig[0], port=silent.getsockname()[1]).is_on()


def test_a_chassis_that_is_off_is_powered_on_where_it_cannot_be_cycled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = stub(
        tmp_path,
        monkeypatch,
        'echo "$*" >>calls\n'
        'case "$*" in\n'
        "*cycle) echo 'Set Chassis Power Control to Cycle failed: "
        "Command not supported in present state' >&2; exit 1;;\n"
        "*status) echo Chassis Power is on;;\nesac",
    )
    opened(values).cycle()
    assert "chassis power on" in (tmp_path / "calls").read_text()


def test_the_password_is_in_no_argument_and_the_services_secrets_in_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_DATABASE_URL", "postgresql://u:hidden@h/d")
    values = stub(tmp_path, monkeypatch, 'echo "$*" >seen; env >>seen; echo Chassis Power is on')
    assert opened(values).is_on()
    seen = (tmp_path / "seen").read_text()
    assert "-I lanplus -H bmc1" in seen
    assert controllers.PASSWORD not in seen.replace(values["password_file"], "")
    assert "hidden" not in seen


def test_an_ipmitool_that_hangs_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ipmi, "LIMIT_S", 0.5)
    values = stub(tmp_path, monkeypatch, "sleep 345 & echo $! >child; wait")
    with pytest.raises(PowerError, match="ipmitool did not end within"):
        opened(values).is_on()
    child = (tmp_path / "child").read_text().strip()
    require_gone(int(child))


def test_one_that_is_not_installed_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = stub(tmp_path, monkeypatch, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PowerError, match="ipmitool cannot be started") as told:
        opened(values).is_on()
    assert "apt-get install ipmitool" in told.value.hint


def test_a_password_that_ipmi_cannot_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = stub(tmp_path, monkeypatch, "")
    long = controllers.password_file(tmp_path, "x" * 21)
    with pytest.raises(PowerError, match="more than 20 bytes"):
        opened(values, password_file=str(long)).is_on()
