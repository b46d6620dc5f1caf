"""A trial boot and the way back: each way in which a host does not play along is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from typer.testing import CliRunner

from cli import host as host_command
from mitigauge.core.errors import NotReady
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.fleet.check import Item, State
from mitigauge.measurement.runs.boot_evidence import BootProof
from pipelines import host_check, next_boot
from pipelines.host_control import LabFault, Unanswered
from pipelines.host_trial import tried

RELEASE = "6.12.1"


@dataclass
class Scripted:
    """A host with a boot entry, GRUB's memory and a switch, each of which may fail."""

    entry_is_read: bool = True
    grub_forgets: bool = True
    comes_up: bool = True
    changed: bool = False
    greets_early: bool = False
    asked: list[str] = field(default_factory=list)
    nonce: str | None = None
    armed: str | None = None
    boots: int = 1
    build_id: str | None = "b1" * 20

    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Any:
        assert (cmdline, kernel, method) == ("", "", BootMethod.RESET)
        self.asked.append("arm")
        self.armed = nonce
        before = self.boot_id
        self._boot(self.armed if self.entry_is_read else None)
        return {"kernel_release": RELEASE, "previous_boot_id": before}

    @property
    def boot_id(self) -> str:
        return f"b{self.boots}"

    def _boot(self, nonce: str | None) -> None:
        self.boots += 1
        self.nonce = nonce

    def answers(self) -> bool:
        return self.comes_up

    def look(self) -> BootProof:
        if self.greets_early:
            self.greets_early = False
            raise Unanswered("on its way down")
        return BootProof(
            boot_id=self.boot_id,
            nonce=self.nonce,
            kernel_release=RELEASE,
            build_id=self.build_id,
            loader_type=0x72,
            tainted=0,
        )

    def power_cycle(self) -> None:
        self.asked.append("power cycle")
        self._boot(None if self.grub_forgets else self.armed)

    def reboot(self) -> None:
        self.asked.append("reboot")
        self._boot(None if self.grub_forgets else self.armed)

    def check(self, reads: Sequence[str]) -> Any:
        assert not reads
        return {"changed": self.changed}

    def restore(self) -> Any:
        self.asked.append("restore")
        return {}

    def put_back(self) -> Any:
        self.asked.append("put back")
        return {"put_back": []}


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_boot, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(next_boot, "GOING_DOWN_S", 0.0)


def items(host: Scripted, *, has_power: bool = True) -> dict[str, Item]:
    found = tried(host, lambda _: None, boot_timeout_s=0.05, has_power=has_power)
    return {item.name: item for item in found}


@pytest.mark.parametrize(("has_power", "way"), [(True, "power cycle"), (False, "reboot")])
def test_a_good_host_boots_once_and_comes_back(has_power: bool, way: str) -> None:
    host = Scripted(greets_early=True)
    found = items(host, has_power=has_power)
    assert [item.state for item in found.values()] == [State.OK, State.OK]
    assert RELEASE in found["proven boot"].found
    assert f"after a {way}" in found["fallback"].found
    assert host.asked == ["arm", way, "restore", "put back"]


def test_a_host_with_a_record_of_changes_keeps_it() -> None:
    host = Scripted(changed=True)
    assert [item.state for item in items(host).values()] == [State.OK, State.OK]
    assert host.asked == ["arm", "power cycle", "restore"]


def test_a_host_that_cannot_be_looked_at_is_not_touched() -> None:
    class Silent(Scripted):
        def check(self, reads: Sequence[str]) -> Any:
            raise Unanswered("unreachable", hint="Is it up?")

    host = Silent()
    [item] = items(host).values()
    assert (item.state, item.found, item.mend) == (State.MISSING, "unreachable", "Is it up?")
    assert host.asked == []


def test_an_entry_that_grub_does_not_read_is_told() -> None:
    item = items(Scripted(entry_is_read=False))["proven boot"]
    assert item.state is State.MISSING
    assert "the nonce is not on its command line" in item.found


def test_a_one_shot_entry_that_stays_is_told() -> None:
    item = items(Scripted(grub_forgets=False))["fallback"]
    assert item.state is State.MISSING
    assert "came up again after a power cycle" in item.found


def test_a_host_that_does_not_come_up_is_left_with_a_way_out() -> None:
    host = Scripted(comes_up=False)
    found = items(host, has_power=False)
    assert "no answer within" in found["proven boot"].found
    assert "by hand" in found["fallback"].mend
    assert host.asked == ["arm", "restore", "put back"]


def test_a_fault_ends_the_trial_by_its_name_and_removes_the_entry() -> None:
    class Refusing(Scripted):
        def arm(self, **_: Any) -> Any:
            raise LabFault("grubenv lies on btrfs", hint="Put /boot on ext4.")

        def restore(self) -> Any:
            raise LabFault("unreachable")

    found = items(Refusing())
    assert (found["trial"].found, found["trial"].mend) == (
        "grubenv lies on btrfs",
        "Put /boot on ext4.",
    )
    assert found["restore"].state is State.MISSING


def test_a_trial_that_cannot_keep_runs_off_is_refused_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unready() -> Any:
        raise NotReady("the database schema is at nothing", hint="Run `mitigauge db upgrade`.")

    def asked(*_: Any) -> Any:
        pytest.fail("the host was looked at")

    monkeypatch.setattr(host_command, "host_of", lambda *_: None)
    monkeypatch.setattr(host_command, "stored", unready)
    monkeypatch.setattr(host_check, "checked", asked)
    said = CliRunner().invoke(host_command.app, ["check", "alpha", "--try"])
    assert isinstance(said.exception, NotReady)
