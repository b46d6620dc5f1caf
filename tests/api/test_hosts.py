"""Hosts over HTTP: set aside, and brought back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.analysis.verdicts.noise import note_noise
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.storage.database.engine import transaction
from tests import recording
from tests.postgres import filled

RESUME = "/api/hosts/lab/alpha/resume"


def test_a_host_that_was_set_aside_says_so_and_is_brought_back(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    with transaction(engine) as session:
        host = session.scalars(text("select id from host")).one()
        absences.set_aside(session, host, "it does not answer")
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


def test_a_host_is_reserved_shown_and_released(client: TestClient, experiment_id: int) -> None:
    wanted = {"until": "2099-01-01T00:00:00Z", "reason": "a new BIOS"}
    assert client.post("/api/hosts/lab/alpha/reserve", json=wanted).status_code == 422
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    reserved = client.post(
        "/api/hosts/lab/alpha/reserve", json={"until": tomorrow, "reason": "a new BIOS"}
    )
    assert (reserved.status_code, reserved.json()["reserved_reason"]) == (200, "a new BIOS")
    [line] = client.get("/api/hosts").json()
    assert line["reserved_by"] == reserved.json()["reserved_by"] != ""
    [queue] = client.get("/api/queue").json()
    assert queue["kept"].startswith("alpha is reserved by ")
    assert len(queue["waiting"]) == 1
    [run] = client.get(f"/api/experiments/{experiment_id}/progress").json()["runs"]
    assert run["detail"].startswith("waiting: alpha is reserved by")
    released = client.post("/api/hosts/lab/alpha/release", json={})
    assert (released.status_code, released.json()["reserved_until"]) == (200, None)
    assert released.json()["absences"][0]["kind"] == "reserved"
    assert client.post("/api/hosts/lab/alpha/release", json={}).status_code == 409


def test_a_time_without_a_zone_and_an_empty_reason_are_refused(
    client: TestClient, experiment_id: int
) -> None:
    for body in (
        {"until": "2026-12-01T00:00:00", "reason": "x"},
        {"until": "2026-12-01T00:00:00Z", "reason": ""},
        {"until": "2026-12-01T00:00:00Z", "reason": "x", "by": "somebody else"},
    ):
        assert client.post("/api/hosts/lab/alpha/reserve", json=body).status_code == 422


def test_a_host_is_set_aside_by_hand_and_resumed(client: TestClient, experiment_id: int) -> None:
    aside = client.post("/api/hosts/lab/alpha/set-aside", json={"reason": "a fan is loud"})
    assert aside.status_code == 200
    assert aside.json()["set_aside_by"] != ""
    assert aside.json()["probe_at"] is None
    assert client.post(RESUME, json={}).json()["set_aside_by"] == ""


def test_the_recorded_hosts_page_has_noise_time_and_no_queue(
    client: TestClient, engine: Engine
) -> None:
    filled(engine, recording.load)
    note_noise(engine)
    shown = client.get("/api/hosts/lab-intel").json()
    assert shown["noise"][0]["boot_percent"] > 0
    assert shown["hours"]["held_s"] > shown["hours"]["measuring_s"] > 0
    assert (shown["queue"], shown["absences"]) == (None, [])


def test_a_fingerprint_of_many_boots_shows_no_fact_of_one_of_them(
    client: TestClient, engine: Engine
) -> None:
    filled(engine, recording.load)
    kept = [str(row["facts"]) for row in recording.rows_of("fingerprint")]
    # What an arm sets: the command line of its boot, and what the kernel says then.
    assert all("cmdline" in facts for facts in kept)
    host = client.get("/api/hosts/lab-intel").json()
    boot = client.get("/api/boots/1").json()
    for facts in (host["fingerprints"][0]["facts"], boot["fingerprint"]):
        assert "governor" in facts
        assert not {"cmdline", "vulnerabilities", "kernel_release"} & set(facts)
