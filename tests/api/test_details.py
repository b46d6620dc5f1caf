"""What the API answers of a case's details, and that the command says the same."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from click.testing import Result
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from cli.experiment import app
from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.tables.detail_table import DETAIL_COLUMNS
from mitigauge.storage.database.engine import transaction
from tests.desktop_world import BLOCKS, DesktopWorld, make_desktops
from tests.postgres import filled


@pytest.fixture
def world(engine: Engine) -> DesktopWorld:
    return filled(engine, make_desktops)


def url(world: DesktopWorld, more: str = "") -> str:
    return f"/api/experiments/{world.experiment}/cases/{world.case}/details{more}"


def cell(shown: dict[str, Any], threshold: float, arm: int) -> dict[str, Any]:
    [row] = [row for row in shown["curve"]["thresholds"] if row["threshold"] == threshold]
    found: dict[str, Any] = row["cells"][arm]
    return found


def test_curve_densities_and_breakdowns_come_by_arm(
    client: TestClient, world: DesktopWorld
) -> None:
    answer = client.get(url(world))
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert shown["declared"] is True
    assert [arm["name"] for arm in shown["arms"]] == ["off", "ibpb"]
    assert [len(line["points"]) for line in shown["curve"]["lines"]] == [3, 3]
    assert cell(shown, 100, 1)["change_low"] > 0
    assert cell(shown, 400, 1) | {"boots": 0, "of": BLOCKS, "value": None} == cell(shown, 400, 1)
    assert {one["name"] for one in shown["breakdowns"]} == {"phases", "actions", "applications"}
    # What a browser has already is not sent again.
    again = client.get(url(world), headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_the_page_is_not_kept_when_a_boot_no_longer_counts(
    client: TestClient, engine: Engine, world: DesktopWorld
) -> None:
    assert client.get(url(world)).json()["arms"][0]["boots"] == BLOCKS
    with engine.begin() as connection:
        connection.execute(text("update boot set state = 'invalid' where block = 1"))
    assert client.get(url(world)).json()["arms"][0]["boots"] == BLOCKS - 1


def test_the_report_comes_as_text_markdown_and_csv(client: TestClient, world: DesktopWorld) -> None:
    report = url(world, "/report?format=")
    assert "Density by threshold: ibpb against off" in client.get(report + "text").text
    assert client.get(report + "markdown").text.startswith("# desktops")
    answer = client.get(report + "csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert tuple(rows[0]) == DETAIL_COLUMNS
    never = [row for row in rows if row["part"] == "reached" and row["at"] == "400.0"]
    assert [row["value"] == "" for row in never] == [False, True]


@pytest.mark.parametrize("more", ["?host=nowhere", "/report?host=nowhere"])
def test_a_host_that_has_not_the_case_is_named(
    client: TestClient, world: DesktopWorld, more: str
) -> None:
    answer = client.get(url(world, more))
    assert answer.status_code == 404
    assert "nowhere" in answer.text


def test_a_case_of_another_experiment_is_not_found(client: TestClient, world: DesktopWorld) -> None:
    answer = client.get(f"/api/experiments/{world.experiment + 1}/cases/{world.case}/details")
    assert answer.status_code == 404


def test_the_command_says_the_same(
    client: TestClient, engine: Engine, world: DesktopWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.require_head", lambda _: None)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )

    def ran(*more: str) -> Result:
        return CliRunner().invoke(app, ["table", str(world.experiment), "details", *more])

    assert json.loads(ran("--json").stdout)["table"] == "details"
    assert "Actions, 95th percentile: ibpb against off" in ran("--figure", "p95_s").stdout
    assert ran("--format", "csv").stdout.startswith("case,host,emulated,part")
    assert ran("--case", str(world.case), "--host", "desktops-1").exit_code == 0
    refused = ran("--figure", "p99_s").exception
    assert isinstance(refused, InvalidInput)
    assert "p95_s" in refused.hint
