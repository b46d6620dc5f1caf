"""Hosts over HTTP: set aside, and brought back."""

from __future__ import annotations

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.database import transaction
from mitigauge.fleet import repository as fleet

RESUME = "/api/hosts/lab/alpha/resume"


def test_a_host_that_was_set_aside_says_so_and_is_brought_back(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    with transaction(engine) as session:
        host = session.scalars(text("select id from host")).one()
        fleet.set_aside(session, host, "it does not answer")
    shown = client.get("/api/hosts/alpha").json()
    assert shown["set_aside_reason"] == "it does not answer"
    assert shown["probe_at"] > shown["set_aside_at"]
    [run] = client.get(f"/api/experiments/{experiment_id}/progress").json()["runs"]
    assert run["detail"].endswith("UTC: it does not answer")
    back = client.post(RESUME, json={})
    assert (back.status_code, back.json()["set_aside_at"]) == (200, None)
    again = client.post(RESUME, json={})
    assert again.status_code == 409
    assert again.json()["message"] == "host lab/alpha is not set aside"


def test_a_host_that_nobody_knows_is_not_brought_back(client: TestClient) -> None:
    answer = client.post("/api/hosts/lab/nobody/resume", json={})
    assert answer.status_code == 404
    assert "there is no host lab/nobody" in answer.json()["message"]


def test_a_refusal_of_the_database_is_no_outage(client: TestClient, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("alter table host rename to hosts_elsewhere"))
    answer = client.get("/api/hosts")
    assert answer.status_code == 500
    assert "hosts_elsewhere" not in answer.text
