"""What IPMI controllers of real servers ask for: Kg keys, sessions, privileges, patience.

What no simulator does, a program in the place of ipmitool does, in ipmitool's own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.adapters.console.stream import StreamConsole
from pipelines.adapters.power import PowerError, ipmi
from tests.lab import controllers
from tests.unit.power.stub import console_values, opened, stub

KG = "rack-7-key"


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A controller's values, without its Kg key."""
    directory = tmp_path_factory.mktemp("ipmi")
    chassis = controllers.state_chassis(directory / "chassis-state")
    with controllers.ipmi(directory, chassis, kg=KG) as values:
        yield values


class TestKg:
    """A controller with a Kg key of its own."""

    @pytest.mark.parametrize("text", [KG, f"0x{KG.encode().hex()}", f"0x{KG.encode().hex()}0000"])
    def test_it_is_used(self, text: str, rig: dict[str, Any], secret: Path) -> None:
        secret.write_text(f"{text}\n")
        power = opened(rig, kg_file=str(secret))
        power.off()
        assert not power.is_on()

    def test_none_and_another_are_told(self, rig: dict[str, Any], secret: Path) -> None:
        for more in ({}, {"kg_file": str(secret)}):
            with pytest.raises(PowerError, match="has another Kg key") as told:
                opened(rig, **more).is_on()
            assert "kg_file" in told.value.hint
            assert "sesame" not in str(told.value)

    @pytest.mark.parametrize(
        "text", ["x" * 21, "0x123", "0xzz", "0x", "0x610062", "0x" + "61" * 21]
    )
    def test_what_is_no_key_is_told_and_not_shown(
        self, text: str, rig: dict[str, Any], secret: Path
    ) -> None:
        secret.write_text(f"{text}\n")
        with pytest.raises(PowerError, match="holds no Kg key") as told:
            opened(rig, kg_file=str(secret)).is_on()
        assert text not in told.value.message.replace(str(secret), "")

    def test_it_stands_in_no_argument(
        self, tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values = stub(
            tmp_path,
            monkeypatch,
            'echo "$*" >seen; echo "$IPMI_KGKEY" >key; echo Chassis Power is on',
        )
        secret.write_text("open barley\n")
        assert opened(values, kg_file=str(secret)).is_on()
        assert " -K " in (tmp_path / "seen").read_text()
        assert "barley" not in (tmp_path / "seen").read_text()
        assert (tmp_path / "key").read_text() == "open barley\n"

    def test_a_console_with_a_bad_one_is_told_before_it_is_read(self, secret: Path) -> None:
        secret.write_text("x" * 21)
        console = StreamConsole("rack/h1", console_values(secret.parent, kg_file=str(secret)))
        with pytest.raises(PowerError, match="holds no Kg key"):
            console.listen()


@pytest.mark.parametrize(
    ("said", "reason", "hint"),
    [
        (
            "RAKP 2 message indicates an error : insufficient resources for session",
            "has no session left",
            "end by themselves",
        ),
        ("Activate Session error:\tNo session slot available", "has no session left", "Sessions"),
        (
            "RAKP 2 message indicates an error : unauthorized role requested",
            "does not give the user this privilege",
            "privilege: operator",
        ),
        (
            "Set Session Privilege Level to ADMINISTRATOR failed: Unknown (0x81)",
            "does not give the user this privilege",
            "privilege: operator",
        ),
        (
            "Set Chassis Power Control to Down/Off failed: Insufficient privilege level",
            "gives the user no right",
            "privilege of an operator",
        ),
    ],
)
def test_a_refusal_says_the_way_out(
    said: str, reason: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = stub(tmp_path, monkeypatch, f"printf '{said}\\n' >&2; exit 1")
    with pytest.raises(PowerError, match=f"controller bmc1 {reason}") as told:
        opened(values).is_on()
    assert hint in told.value.hint


BUSY = """\
echo "$*" >>calls
case "$*" in
*{what}) [ $(grep -c -- {what} calls) -gt {times} ] ||
    {{ echo 'Set Chassis Power Control to {what} failed: {words}' >&2; exit 1; }};;
esac
echo Chassis Power is on"""


class TestPatience:
    """A controller that is busy has done nothing, and is asked again; one that may have is not."""

    @pytest.fixture(autouse=True)
    def impatient_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ipmi, "BUSY_WAIT_S", 0.05)

    @pytest.mark.parametrize("words", ["Node busy", "BMC initialization in progress"])
    @pytest.mark.parametrize("what", ["cycle", "status"])
    def test_one_that_is_busy_is_asked_again(
        self, what: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values = stub(tmp_path, monkeypatch, BUSY.format(what=what, times=2, words=words))
        opened(values).cycle()
        calls = (tmp_path / "calls").read_text()
        assert calls.count("power cycle") == (3 if what == "cycle" else 1)

    def test_one_that_stays_busy_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ipmi, "BUSY_LIMIT_S", 0.2)
        script = BUSY.format(what="status", times=9999, words="Node busy")
        values = stub(tmp_path, monkeypatch, script)
        with pytest.raises(PowerError, match="controller bmc1 is busy"):
            opened(values).is_on()

    @pytest.mark.parametrize("times", [3, 9999])
    def test_a_reset_is_sent_once_whatever_is_told_then(
        self, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values = stub(
            tmp_path,
            monkeypatch,
            f"""echo "$*" >>calls
case "$*" in
*cycle) echo 'Unable to set Chassis Power Control to Cycle' >&2; exit 1;;
*status) [ $(grep -c status calls) -gt {times} ] ||
    {{ echo 'Unable to get Chassis Power Status' >&2; exit 1; }};;
esac
echo Chassis Power is on""",
        )
        opened(values).cycle()
        assert (tmp_path / "calls").read_text().count("power cycle") == 1

    def test_a_switch_whose_power_is_never_told_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        values = stub(
            tmp_path,
            monkeypatch,
            """echo "$*" >>calls
case "$*" in
*status) [ $(grep -c status calls) -eq 1 ] ||
    { echo 'Unable to get Chassis Power Status' >&2; exit 1; };;
esac
echo Chassis Power is on""",
        )
        with pytest.raises(PowerError, match="Unable to get Chassis Power Status"):
            opened(values).off()
