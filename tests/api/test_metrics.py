"""`/metrics`: by its own key, also while the database is away; rules and board fit to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, create_engine, text

from api.app import create_app
from mitigauge.core.settings import REPOSITORY, get_settings
from tests import recording
from tests.api.conftest import client_of
from tests.postgres import filled
from tests.workers import announce

KEY = "k" * 20
MONITORING = REPOSITORY / "deploy" / "monitoring"
PROMTOOL = shutil.which("promtool", path=f"{REPOSITORY}/.mitigauge/tools/bin:{os.environ['PATH']}")
SERIES = re.compile(r"^(mitigauge_\w+)(\{.*\})?", re.MULTILINE)
LABEL = re.compile(r'(\w+)="')
NAME = re.compile(r"\bmitigauge_\w+")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[dict[str, str]]:
    monkeypatch.setenv("MITIGAUGE_METRICS_KEY", KEY)
    get_settings.cache_clear()
    yield {"Authorization": f"Bearer {KEY}"}
    get_settings.cache_clear()


def figures(client: TestClient, key: dict[str, str]) -> dict[str, dict[str, float]]:
    """Name → labels' values → figure."""
    answer = client.get("/metrics", headers=key)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[" ".join(sample.labels.values())] = sample.value
    return found


def test_it_says_what_the_database_holds(engine: Engine, key: dict[str, str]) -> None:
    filled(engine, recording.load)
    announce(engine, "w1", hosts={"lab": ["lab-intel"]})
    with client_of(create_app(engine)) as client:
        client.get("/api/health/live")
        found = figures(client, key)
    assert found["mitigauge_database_up"] == {"": 1.0}
    assert found["mitigauge_runs"]["finished"] > 0
    assert found["mitigauge_runs"]["queued"] == 0
    assert found["mitigauge_boots"]["effective"] > 0
    assert found["mitigauge_database_bytes"][""] > 1e6
    assert found["mitigauge_disk_free_bytes"][""] > 0
    assert found["mitigauge_worker_unseen_seconds"]["w1"] < 60
    assert found["mitigauge_http_requests_total"]["GET /api/health/live 200"] == 1


def test_without_the_key_it_says_nothing_and_no_html(engine: Engine, key: dict[str, str]) -> None:
    with client_of(create_app(engine)) as client:
        for headers in ({}, {"Authorization": "Bearer " + "x" * 20}, {"Authorization": KEY + "x"}):
            answer = client.get("/metrics", headers=headers)
            assert answer.status_code == 403
            assert "mitigauge_" not in answer.text
            assert answer.headers["content-type"] == "application/json"


def test_where_no_key_is_set_it_is_not_there(engine: Engine, home: Path) -> None:
    with client_of(create_app(engine)) as client:
        answer = client.get("/metrics", headers={"Authorization": "Bearer "})
    assert (answer.status_code, "METRICS_KEY_FILE" in answer.text) == (404, True)


def test_a_scrape_during_an_outage_says_so(key: dict[str, str]) -> None:
    nobody = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with client_of(create_app(nobody)) as client:
        found = figures(client, key)
    assert found["mitigauge_database_up"] == {"": 0.0}
    assert "mitigauge_runs" not in found
    assert found["mitigauge_disk_free_bytes"][""] > 0


def test_addresses_are_counted_by_route_whatever_they_hold(
    engine: Engine, key: dict[str, str]
) -> None:
    with client_of(create_app(engine)) as client:
        for number in range(30):
            client.get(f"/api/experiments/{number}")
            client.request(f"ODD{number}", "/api/experiments")
        found = figures(client, key)
    routes = {" ".join(each.split()[:2]) for each in found["mitigauge_http_requests_total"]}
    assert len(routes) < 6
    assert any("{experiment_id}" in route for route in routes)


def alerts() -> list[dict[str, Any]]:
    """The rules of alerts.yml."""
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def cases_of_alerts() -> list[dict[str, Any]]:
    """The cases in which promtool tries them."""
    found = yaml.safe_load((MONITORING / "alerts_test.yml").read_text())
    cases: list[dict[str, Any]] = found["tests"]
    return cases


def test_rules_and_board_name_figures_that_there_are(engine: Engine, key: dict[str, str]) -> None:
    filled(engine, recording.load)
    announce(engine, "w1")
    with client_of(create_app(engine)) as client:
        client.get("/api/health/live")
        answer = client.get("/metrics", headers=key).text
    known = set(re.findall(r"^# TYPE (\w+) ", answer, re.MULTILINE))
    known |= set(re.findall(r"^(\w+)[{ ]", answer, re.MULTILINE))
    rules = alerts()
    board = json.loads((MONITORING / "grafana.json").read_text())
    asked = [rule["expr"] for rule in rules]
    asked += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    named = {name for expression in asked for name in NAME.findall(expression)}
    assert named - known == set()
    assert len(named) > 10


def test_every_alert_has_its_line_in_the_runbook() -> None:
    rules = alerts()
    runbook = (REPOSITORY / "docs" / "operating.md").read_text()
    assert [rule["alert"] for rule in rules if f"| `{rule['alert']}` |" not in runbook] == []


def test_every_alert_fires_and_is_silent_in_a_case() -> None:
    """The cases themselves are run by the next test, where promtool is."""
    rules = alerts()
    cases = cases_of_alerts()
    tests = [each for case in cases for each in case["alert_rule_test"]]
    fired = {each["alertname"] for each in tests if each.get("exp_alerts")}
    assert fired == {rule["alert"] for rule in rules}


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is absent")
def test_alerts_fire_on_what_they_are_for() -> None:
    done = subprocess.run(
        [str(PROMTOOL), "test", "rules", "alerts_test.yml"],
        cwd=MONITORING, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_cases_of_alerts_have_names_and_labels_as_the_service_gives_them(
    engine: Engine, key: dict[str, str]
) -> None:
    filled(engine, recording.load)
    announce(engine, "w1")
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into step_attempt (run_id, epoch, step, outcome, finished_at)"
                " select id, 99, 'boot.arm', 'done', clock_timestamp() from run limit 1"
            )
        )
    with client_of(create_app(engine)) as client:
        client.get("/api/health/live")
        answer = client.get("/metrics", headers=key).text
    given = {name: LABEL.findall(labels) for name, labels in SERIES.findall(answer)}
    cases = cases_of_alerts()
    for series in (each["series"] for case in cases for each in case["input_series"]):
        [(name, labels)] = SERIES.findall(series)
        # Nothing fails here, and no backup is there to be old.
        if name not in ("mitigauge_jobs_failing", "mitigauge_backup_age_seconds"):
            assert sorted(LABEL.findall(labels)) == sorted(given[name]), name
