"""Power by programs of the operator's."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.errors import InvalidInput
from pipelines.adapters.power import PowerControl, PowerError, open_power
from tests.unit.power.conftest import require_gone

PDU = """#!/bin/sh
echo "$*" >>{0}/calls
case $1 in
  status) cat {0}/power ;;
  on|off) echo $1 >{0}/power ;;
esac
"""


def program(directory: Path, name: str, script: str) -> str:
    path = directory / name
    path.write_text(script)
    path.chmod(0o755)
    return str(path)


def control(on: list[str], **more: Any) -> PowerControl:
    values = {"driver": "command", "on": on, "off": ["/bin/true"], "off_s": 0.1, **more}
    return open_power({"mitigauge_power": values})


@pytest.fixture
def pdu(tmp_path: Path) -> str:
    """A distribution unit's program, with the outlet on."""
    (tmp_path / "power").write_text("On\n")
    return program(tmp_path, "pdu", PDU.format(tmp_path))


def test_programs_switch_and_tell(pdu: str, tmp_path: Path) -> None:
    power = control([pdu, "on", "$(touch no-shell)"], off=[pdu, "off"], status=[pdu, "status"])
    assert power.is_on()
    power.off()
    assert not power.is_on()
    power.cycle()
    assert power.is_on()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call for call in calls if call != "status"] == ["off", "off", "on $(touch no-shell)"]


def test_a_cycle_of_their_own_is_used(pdu: str, tmp_path: Path) -> None:
    control([pdu, "on"], cycle=[pdu, "reboot", "7"], nmi=[pdu, "nmi"]).cycle()
    assert (tmp_path / "calls").read_text() == "reboot 7\n"


def test_a_cycle_alone_is_enough(pdu: str, tmp_path: Path) -> None:
    values = {"driver": "command", "cycle": [pdu, "reboot", "7"]}
    power = open_power({"mitigauge_power": values})
    power.cycle()
    assert (tmp_path / "calls").read_text() == "reboot 7\n"
    for act, name in ((power.on, "on"), (power.off, "off")):
        with pytest.raises(PowerError, match=f"has no {name} program"):
            act()


@pytest.mark.parametrize("given", [["on"], ["off"], ["status"], []])
def test_without_a_cycle_it_needs_both_ways(given: list[str]) -> None:
    values: dict[str, Any] = {"driver": "command", **{key: ["/bin/true"] for key in given}}
    with pytest.raises(InvalidInput, match='needs cycle, or "on" and "off"'):
        open_power({"mitigauge_power": values})


@pytest.mark.parametrize("key", ["true", "False"])
def test_on_without_quotes_is_told(key: str) -> None:
    values = {"driver": "command", key: ["/bin/true"], "cycle": ["/bin/true"]}
    with pytest.raises(InvalidInput, match=r'without quotes.*write "on"'):
        open_power({"mitigauge_power": values})


def test_one_that_fails_is_told_by_its_last_line(tmp_path: Path) -> None:
    failing = program(tmp_path, "pdu", "#!/bin/sh\necho one >&2; echo 'no outlet 9' >&2; exit 3\n")
    with pytest.raises(PowerError, match=r"/pdu for on failed with exit status 3: no outlet 9"):
        control([failing]).on()


def test_one_whose_outlet_does_not_follow_is_caught(pdu: str) -> None:
    power = control([pdu, "on"], off=["/bin/true"], status=[pdu, "status"])
    with pytest.raises(PowerError, match="says it is on after it was told to cut the power"):
        power.off()


@pytest.mark.parametrize("said", ["maybe", "on\nno, off", ""])
def test_a_status_is_on_or_off(said: str, tmp_path: Path) -> None:
    status = program(tmp_path, "status", f"#!/bin/sh\nprintf '{said}'\n")
    with pytest.raises(PowerError, match="as power status"):
        control(["/bin/true"], status=[status]).is_on()


@pytest.mark.parametrize("times", [2, 9999])
def test_a_cycle_is_made_once_whatever_the_status_fails(times: int, tmp_path: Path) -> None:
    script = (
        f"#!/bin/sh\ncd {tmp_path}\necho $1 >>calls\n"
        f"[ $1 != status ] || [ $(grep -c status calls) -gt {times} ] || exit 1\necho on\n"
    )
    pdu = program(tmp_path, "pdu", script)
    values = {"driver": "command", "cycle": [pdu, "cycle"], "status": [pdu, "status"]}
    open_power({"mitigauge_power": values}).cycle()
    assert (tmp_path / "calls").read_text().count("cycle") == 1


def test_without_a_status_nobody_knows(pdu: str) -> None:
    with pytest.raises(PowerError, match="no status program"):
        control([pdu]).is_on()
    with pytest.raises(PowerError, match="no nmi program"):
        control([pdu]).nmi()


def test_one_that_is_not_there_is_told() -> None:
    with pytest.raises(PowerError, match="/no/such cannot be started: No such file") as told:
        control(["/no/such"]).on()
    assert "whole path" in told.value.hint


def test_one_that_hangs_is_killed(tmp_path: Path) -> None:
    hanging = program(tmp_path, "pdu", f"#!/bin/sh\nsleep 345 & echo $! >{tmp_path}/child; wait\n")
    with pytest.raises(PowerError, match=r"/pdu did not end within 0\.5 s and was stopped"):
        control([hanging], timeout_s=0.5).on()
    require_gone(int((tmp_path / "child").read_text()))


def test_one_that_leaves_something_running_has_ended(tmp_path: Path) -> None:
    child = tmp_path / "child"
    daemon = program(tmp_path, "pdu", f"#!/bin/sh\nsleep 345 &\necho $! >{child}\n")
    begun = time.monotonic()
    control([daemon]).on()
    assert time.monotonic() - begun < 200
    os.kill(int(child.read_text()), signal.SIGKILL)


def test_of_one_that_talks_without_end_the_last_is_kept(tmp_path: Path) -> None:
    talking = program(
        tmp_path, "pdu", "#!/bin/sh\nhead -c 30000000 /dev/zero | tr '\\0' x >&2\nexit 1\n"
    )
    with pytest.raises(PowerError, match=r"exit status 1: x{300}\n") as told:
        control([talking]).on()
    assert len(told.value.message) < 1000
