"""The order in which a host is put back, and what is said of one that does not play along."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from mitigauge.measurement.runs.boot_evidence import BootProof
from pipelines import next_boot
from pipelines.host_control import LabFault, Unanswered
from pipelines.host_restore import PutBack, put_back

OWN = {"boot_id": "b2", "nonce": None, "kernel_release": "6.12.1"}
ARM = {"boot_id": "b1", "nonce": "n1", "kernel_release": "7.2.0"}


@dataclass
class Scripted:
    """A host that answers as it is told, and keeps what it was asked."""

    proofs: list[Any]
    asked: list[str] = field(default_factory=list)

    def restore(self) -> dict[str, Any]:
        self.asked.append("restore")
        return {"restored": {"boot_entry": True, "knobs": {"proc/x": "1"}}}

    def look(self) -> BootProof:
        self.asked.append("look")
        proof = self.proofs.pop(0)
        if isinstance(proof, Exception):
            raise proof
        return BootProof(**proof)

    def reboot(self) -> None:
        self.asked.append("reboot")

    def answers(self) -> bool:
        return True

    def put_back(self) -> dict[str, Any]:
        self.asked.append("put_back")
        return {"put_back": [{"name": "/opt/mitigauge\x1b", "what": "removed", "left": False}]}


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_boot, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(next_boot, "GOING_DOWN_S", 0.0)


def items(host: Scripted, timeout_s: float = 60) -> list[PutBack]:
    return list(put_back(host, lambda _: None, boot_timeout_s=timeout_s))


def test_a_host_that_runs_its_own_kernel_is_not_rebooted() -> None:
    host = Scripted([OWN])
    said = items(host)
    assert host.asked == ["restore", "look", "put_back"]
    assert said[0] == PutBack("boot entry", "removed")
    assert said[-1].name == "/opt/mitigauge\N{REPLACEMENT CHARACTER}"


def test_a_boot_of_ours_is_left_before_its_kernel_may_be_removed() -> None:
    host = Scripted([ARM, ARM, Unanswered("on its way down"), OWN])
    said = items(host)
    assert host.asked == ["restore", "look", "reboot", "look", "look", "look", "put_back"]
    assert PutBack("running kernel", "its own default, 6.12.1") in said


def test_a_host_that_comes_up_with_our_boot_again_loses_nothing() -> None:
    host = Scripted([ARM, {**ARM, "boot_id": "b3"}])
    with pytest.raises(LabFault, match="a boot of an experiment again"):
        items(host)
    assert "put_back" not in host.asked


def test_a_host_that_does_not_come_back_is_said_to() -> None:
    with pytest.raises(LabFault, match="did not come back within 0 s"):
        items(Scripted([ARM]), timeout_s=0)
