"""Guests that run the kernel under test, and those that keep theirs: each says which one it has."""

from __future__ import annotations

import orjson
import pytest
from sqlalchemy import text

from mitigauge.core.settings import REPOSITORY
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-guests"
SPEC = REPOSITORY / "experiments" / "lab-guest-kernel.yml"
# What the guest of each arm said of its kernel, where its boot counts.
TOLD = """
    select a.name, r.tools->>'guest_kernel'
    from result r join boot b on b.id = r.boot_id join arm a on a.id = b.arm_id
    where b.state = 'effective' and r.state = 'measured'
"""


def test_a_guest_runs_the_kernel_of_its_arm_and_another_arms_guest_keeps_its_own(
    service: Service,
) -> None:
    service.command("kernel", "build", "--label", "guest-kernel")
    release = service.first("select release from kernel where label = 'guest-kernel'")
    said(f"built {release}")
    submitted = orjson.loads(service.command("experiment", "submit", str(SPEC), "--json"))
    service.command("experiment", "wait", str(submitted["id"]))
    with service.engine.connect() as connection:
        told: dict[str, str] = {row[0]: row[1] for row in connection.execute(text(TOLD))}
    said(f"guests run {told}")
    assert told["guests-too"] == release
    assert told["host-alone"] != release
