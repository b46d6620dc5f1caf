"""Power control is found by its driver, and says what is wrong when it cannot work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from pipelines.adapters.power import PowerError, open_power
from pipelines.adapters.power.password import read_password


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="ilo") as refused:
        open_power({"mitigauge_power": {"driver": "ilo"}})
    assert "redfish" in refused.value.hint


def test_a_host_without_power_is_refused() -> None:
    with pytest.raises(InvalidInput, match="mitigauge_power"):
        open_power({"ansible_host": "127.0.0.1"})


def test_a_driver_without_its_socket_is_refused() -> None:
    with pytest.raises(InvalidInput, match="qmp is missing; serial_log is missing"):
        open_power({"mitigauge_power": {"driver": "qemu"}})


def test_a_machine_that_does_not_answer_is_an_error_with_its_socket(tmp_path: Path) -> None:
    power = {"driver": "qemu", "qmp": str(tmp_path / "qmp.sock"), "serial_log": "/none"}
    with pytest.raises(PowerError, match=r"qmp\.sock"):
        open_power({"mitigauge_power": power}).is_on()


def test_without_a_controller_a_person_is_needed_and_told_what_to_do() -> None:
    power = open_power({"mitigauge_power": {"driver": "none"}})
    for act in (power.on, power.off, power.cycle, power.nmi, power.is_on):
        with pytest.raises(PowerError, match=r"a person must .*`mitigauge host resume HOST`"):
            act()
    assert power.progress() == ""


class TestPasswordFiles:
    """A password is in a file of its own, and nobody else's to read."""

    def test_its_first_line_is_the_password(self, secret: Path) -> None:
        assert read_password(str(secret)) == "open sesame"

    @pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o644])
    def test_one_that_others_may_read_is_refused(self, mode: int, secret: Path) -> None:
        secret.chmod(mode)
        with pytest.raises(PowerError, match=f"open to other users .mode {mode:04o}") as told:
            read_password(str(secret))
        assert f"chmod 600 {secret}" in told.value.hint
        assert "sesame" not in str(told.value)

    def test_a_missing_one_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(PowerError, match=r"/gone cannot be read: No such file"):
            read_password(str(tmp_path / "gone"))

    def test_what_is_no_file_is_refused_at_once(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo", 0o600)
        for name in ("fifo", "."):
            with pytest.raises(PowerError, match=r"no plain file|Is a directory"):
                read_password(str(tmp_path / name))

    @pytest.mark.parametrize("said", [b"", b"\n", b"x" * 2000, b"\xff\xfe\n"])
    def test_one_without_a_password_is_refused(self, said: bytes, secret: Path) -> None:
        secret.write_bytes(said)
        with pytest.raises(PowerError, match=r"empty or longer|no UTF-8"):
            read_password(str(secret))
