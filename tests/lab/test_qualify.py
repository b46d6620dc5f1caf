"""How often verdicts are right on a host: baselines doubled and slowed, on an emulated one."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-amd"
SPEC = """
name: calls
question: What does a system call cost?
environment: lab
seed: 3
blocks: 4
comparisons:
  - name: calls
    hosts: [lab-amd]
    baseline: off
    arms: [{name: off, mode: vmscape/off}, {name: ibpb, mode: vmscape/ibpb}]
    workloads:
      - {workload: syscall, cases: {test: [basic, getpgid], loops: 100000}, iterations: 3}
"""


def test_a_host_tells_a_known_slow_down_from_nothing(service: Service, tmp_path: Path) -> None:
    spec = tmp_path / "calls.yml"
    spec.write_text(SPEC)
    submitted = orjson.loads(
        service.command("experiment", "qualify", str(spec), "--host", HOST, "--json")
    )
    number = str(submitted["id"])
    service.command("experiment", "wait", number)
    shown = orjson.loads(service.command("experiment", "show", number, "--json"))
    assert [boot["state"] for boot in shown["boots"]] == ["effective"] * 12
    said(service.command("experiment", "report", number))
    host = " ".join(service.command("host", "show", HOST).split())
    said(host)
    assert "qualify-calls-" in host
    assert "nothing changed was called changed in 0 of 2" in host
    assert "a slow-down of 2 % was found in 2 of 2" in host
