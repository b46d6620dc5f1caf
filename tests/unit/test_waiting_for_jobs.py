"""What a host over Ansible answers when nobody waits for its job any more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters import ansible_host
from pipelines.adapters.ansible import PlayCancelled, PlayResult
from pipelines.adapters.ansible_host import AnsibleHost
from pipelines.host_control import LabFault


class Log:
    """A run's log whose lease may be lost."""

    def __init__(self, *, alive: bool = True) -> None:
        self.is_alive = alive

    def line(self, kind: str, text: str) -> None:
        pass

    def alive(self) -> bool:
        return self.is_alive

    def holds(self) -> bool:
        return True


Plays = list[tuple[str, float]]


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """(playbook, its time-out) of what was played; a play of a running job, that waits if told."""
    played: Plays = []

    def play(
        playbook: str,
        *,
        variables: dict[str, Any],
        timeout_s: float,
        check_alive: Callable[[], bool],
        **_: Any,
    ) -> PlayResult:
        played.append((playbook, timeout_s))
        if variables["workload_wait_s"] and not check_alive():
            raise PlayCancelled("stopped", hint="")
        return PlayResult({"job": {"state": "running"}}, 1, 0, 0.1)

    monkeypatch.setattr(ansible_host, "run_playbook", play)
    return played


def host(log: Log) -> AnsibleHost:
    return AnsibleHost(host_vars("alpha", "lab", {}, boot_timeout_s=60), log)


def test_a_poll_that_is_not_wanted_any_more_says_that_the_job_runs(
    plays: Plays, tmp_path: Path
) -> None:
    said = host(Log()).poll("j", tmp_path, wait_s=90, wanted=lambda: False)
    assert said["state"] == "running"
    assert plays == [("poll.yml", ansible_host.PLAY_TIMEOUT_S + 90)]


def test_a_start_that_is_not_waited_for_any_more_has_started_the_job_all_the_same(
    plays: Plays, tmp_path: Path
) -> None:
    said = host(Log()).start("j", [], tmp_path, wait_s=90, wanted=lambda: False)
    assert said == {"state": "running"}
    assert plays == [
        ("measure.yml", ansible_host.PLAY_TIMEOUT_S + 90),
        ("measure.yml", ansible_host.PLAY_TIMEOUT_S),
    ]


def test_a_lost_lease_is_a_fault_whatever_is_wanted(plays: Plays, tmp_path: Path) -> None:
    with pytest.raises(LabFault, match="stopped"):
        host(Log(alive=False)).poll("j", tmp_path, wait_s=90, wanted=lambda: True)
