"""Audit as a mode: the kernel says that it is in force, and each entry pays for it."""

from __future__ import annotations

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-amd"
SPEC = REPOSITORY / "experiments" / "lab-audit.yml"


def test_audit_is_proven_and_costs_each_entry_and_nothing_else(service: Service) -> None:
    submitted = orjson.loads(service.command("experiment", "submit", str(SPEC), "--json"))
    number = str(submitted["id"])
    service.command("experiment", "wait", number)
    said(service.command("experiment", "report", number))
    shown = orjson.loads(service.command("experiment", "show", number, "--json"))
    assert [boot["state"] for boot in shown["boots"]] == ["effective"] * 4
    [comparison] = shown["comparisons"]
    [on] = [arm["id"] for arm in comparison["arms"] if arm["name"] == "on"]
    costs = {
        row["case"]: cell["effect_percent"]
        for row in comparison["rows"]
        for cell in row["cells"]
        if cell["arm_id"] == on
    }
    said(f"percent: {costs}")
    assert costs["entry syscall"] > 5
    assert costs["entry int80"] > 5
    assert abs(costs["entry vdso"]) < 1
