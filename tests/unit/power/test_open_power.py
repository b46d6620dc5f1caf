"""Power control is found by its driver, and says what is wrong when it cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.errors import InvalidInput
from pipelines.adapters.power import PowerError, open_power


def qemu(directory: Path) -> dict[str, object]:
    power = {
        "driver": "qemu",
        "qmp": str(directory / "qmp.sock"),
        "serial_log": str(directory / "serial.log"),
    }
    return {"mitigauge_power": power}


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="ipmi") as refused:
        open_power({"mitigauge_power": {"driver": "ipmi"}})
    assert "qemu" in refused.value.hint


def test_a_host_without_power_is_refused() -> None:
    with pytest.raises(InvalidInput, match="mitigauge_power"):
        open_power({"ansible_host": "127.0.0.1"})


def test_a_driver_without_its_socket_is_refused() -> None:
    with pytest.raises(InvalidInput, match="qmp, serial_log"):
        open_power({"mitigauge_power": {"driver": "qemu"}})


def test_a_machine_that_does_not_answer_is_an_error_with_its_socket(tmp_path: Path) -> None:
    with pytest.raises(PowerError, match=r"qmp\.sock"):
        open_power(qemu(tmp_path)).is_on()


def test_the_serial_tail_is_the_end_of_the_log_as_plain_text(tmp_path: Path) -> None:
    power = open_power(qemu(tmp_path))
    with pytest.raises(PowerError, match=r"serial\.log"):
        power.serial_tail()
    (tmp_path / "serial.log").write_bytes(b"x" * 100 + b"\x1b[0;32mOK\x1b[0m\r\n")

    assert power.serial_offset() == 115
    assert power.serial_tail(15) == "OK\n"
