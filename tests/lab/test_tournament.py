"""A tournament of modes on a host that counts: those that clear the branch history drop out."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest

from mitigauge.core.settings import REPOSITORY
from tests.lab.service_process import Service, said

pytestmark = pytest.mark.lab

HOST = "lab-intel"
SPEC = REPOSITORY / "experiments" / "lab-bhb-variants.yml"
# Instructions are what costs there, and a loop of branches has hundreds of them.
CLEARS = {"loop", "loop-statistics"}


def test_modes_that_clear_drop_out_and_the_run_ends_before_its_budget(service: Service) -> None:
    submitted = orjson.loads(service.command("experiment", "submit", str(SPEC), "--json"))
    number = str(submitted["id"])
    service.command("experiment", "wait", number)
    said(service.command("experiment", "table", number, "ranking"))
    [table] = orjson.loads(service.command("experiment", "table", number, "ranking", "--json"))[
        "sections"
    ]
    places = {cells[0]["text"]: cells[1]["text"] for cells in table["tables"][0]["rows"]}
    assert {arm for arm, place in places.items() if place == "worse"} == CLEARS
    assert set(places) == {*CLEARS, "off", "off-statistics"}
    shown = orjson.loads(service.command("experiment", "show", number, "--json"))
    made = Counter(boot["arm"] for boot in shown["boots"] if boot["state"] == "effective")
    assert all(made[arm] == 4 for arm in CLEARS)
    assert sum(made.values()) < shown["boots_total"] == 32
