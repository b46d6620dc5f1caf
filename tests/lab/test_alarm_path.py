"""An alarm from its trend to the culprit's letter, and nobody touches it.

A series comes week by week; its fourth revision has a patch that costs. Its kernels are measured a
few times each, as a schedule would have it. All else is the worker's: values over time show a
change, fresh boots of both kernels confirm it, its patches are searched, the letter names one.
Some sixty boots and eight kernels: an hour and a half where nothing else runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from sqlalchemy import Engine

from mitigauge.measurement.runs.submission import submit_text
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.series.spec import filled
from mitigauge.tracking.series.spec_files import spec_text
from tests.lab import weekly_series
from tests.lab.conftest import LabOf
from tests.lab.following import wait_for_end
from tests.lab.service_process import Service, said, served

pytestmark = pytest.mark.lab

SPEC, HOST, NAME = "syscall-trend", "lab-intel", "weekly"
# How often a kernel is measured, its revision's own experiment among them: a level needs values.
MEASURED = {1: 3, 2: 3, 3: 2, 4: 5}
PLACE = 2


@pytest.fixture
def service(lab_of: LabOf, module_engine: tuple[Engine, str], tmp_path: Path) -> Iterator[Service]:
    lab_of(HOST)
    policy = {"MITIGAUGE_BISECT_CONFIRMED_BOOTS": "150"}
    with served(module_engine, tmp_path / "worker.log", policy) as own:
        yield own


def measure(service: Service, week: int, mails: Path) -> None:
    """Have a revision measured as often as the schedule says."""
    label = f"v{week}"
    service.command("series", "add", str(mails), "--name", NAME, "--spec", SPEC,
                    "--base", "linux-source-7.2", "--profile", "lab")  # fmt: skip
    shown = orjson.loads(service.command("series", "show", NAME, label, "--json"))
    service.command("series", "approve", NAME, label, shown["digest"])
    # It ends with 3 where something is worse.
    service.command("series", "start", NAME, label, "--all-cases", "--wait", ends=(0, 3))
    releases = {
        place: str(service.first(
            "select arm.kernel from arm join comparison c on c.id = arm.comparison_id"
            f" where arm.name = '{place}' order by arm.id desc limit 1"
        ))
        for place in ("base", "this")
    }  # fmt: skip
    said(f"{label}: {releases}")
    again = filled(spec_text(SPEC), SPEC, releases, label=label).replace("blocks: 2", "blocks: 1")
    for number in range(1, MEASURED[week]):
        with transaction(service.engine) as session:
            experiment = submit_text(session, again, name=f"{label}-{number}")
        wait_for_end(service.engine, experiment, service.log)
    said(f"{label} measured")


def test_a_patch_that_costs_is_named_by_itself(service: Service, tmp_path: Path) -> None:
    began = time.monotonic()
    for week in range(1, weekly_series.WEEKS + 1):
        measure(service, week, weekly_series.revision(tmp_path, week, PLACE))

    regression = service.wait("suspected", lambda: service.first("select id from regression"))
    service.wait(
        "confirmed",
        lambda: service.first("select why from confirmation where state = 'confirmed'"),
    )
    bisection = service.wait("bisection", lambda: service.first("select id from bisection"))
    service.wait(
        "answered",
        lambda: service.first("select state from bisection where state not in ('running')"),
    )
    shown = orjson.loads(service.command("bisect", "show", str(bisection), "--json"))
    said(f"{shown['boots']} boots; whole path {time.monotonic() - began:.0f} s")
    assert shown["found"]["kind"] == "found", shown["found"]
    assert shown["found"]["candidates"] == [PLACE]
    letter = service.command("bisect", "report", str(bisection))
    print(letter)
    assert "syscall.basic.time_per_call" in letter
    assert weekly_series.SLOW_TITLE in letter
    view = orjson.loads(service.command("regression", "show", str(regression), "--json"))
    assert view["state"] == "confirmed"
    assert view["bisection_id"] == bisection
