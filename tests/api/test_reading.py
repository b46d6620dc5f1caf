"""What the API shows, and how it says no."""

from __future__ import annotations

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from tests.specs import SPEC


def test_an_empty_service_lists_nothing(client: TestClient) -> None:
    assert client.get("/api/experiments").json() == {
        "experiments": [],
        "total": 0,
        "offset": 0,
        "next": None,
        "next_offset": None,
    }
    assert client.get("/api/hosts").json() == []


def test_a_planned_experiment_shows_its_whole_plan(client: TestClient, experiment_id: int) -> None:
    shown = client.get(f"/api/experiments/{experiment_id}").json()
    assert (shown["state"], shown["boots_total"], shown["boots_done"]) == ("queued", 4, 0)
    assert shown["emulated"] is True
    assert [a["name"] for a in shown["comparisons"][0]["arms"]] == ["off", "on"]
    assert shown["runs"][0]["seconds_left"] is None
    matrix = client.get(f"/api/experiments/{experiment_id}/matrix").json()
    [rows] = matrix["rows"].values()
    assert rows[0]["cells"][1]["state"] == "no_data"
    assert rows[0]["cells"][1]["note"] == "not measured yet"


def test_what_is_not_there_is_a_404_with_a_way_out(client: TestClient) -> None:
    for path in (
        "experiments/7",
        "experiments/7/matrix",
        "experiments/7/matrix.csv",
        "experiments/7/matrix.json",
        "experiments/7/iterations.csv",
        "experiments/7/iterations.jsonl",
        "experiments/7/progress",
        "experiments/7/report",
        "boots/7",
        "hosts/nobody",
        "blobs/" + "0" * 64,
        "blobs/..%2f..%2fetc%2fpasswd",
        "nothing",
    ):
        answer = client.get(f"/api/{path}")
        assert answer.status_code == 404, path
        assert answer.json()["message"]


def test_a_number_that_is_none_is_refused(client: TestClient) -> None:
    answer = client.get("/api/experiments/one")
    assert answer.status_code == 422
    assert "experiment_id" in answer.json()["message"]


def test_a_bad_spec_is_refused_with_its_line_and_nothing_stored(
    client: TestClient, engine: Engine
) -> None:
    answer = client.post("/api/experiments?name=bad.yml", content=SPEC.replace("lab", "lob"))
    assert answer.status_code == 422
    assert "bad.yml:3: unknown environment 'lob'" in answer.json()["message"]
    with engine.connect() as connection:
        assert connection.execute(text("select count(*) from experiment")).scalar_one() == 0


def test_the_service_is_not_ready_while_the_schema_is_old(
    client: TestClient, engine: Engine
) -> None:
    assert client.get("/api/health/ready").status_code == 200
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '0001'"))
    answer = client.get("/api/health/ready")
    assert answer.status_code == 503
    assert "mitigauge db upgrade" in answer.json()["hint"]
    assert client.get("/api/health/live").status_code == 200


def test_every_answer_forbids_foreign_scripts(client: TestClient) -> None:
    for path in ("/api/experiments", "/", "/api/none"):
        assert "default-src 'self'" in client.get(path).headers["content-security-policy"]


def test_progress_that_goes_on_is_sent_once_and_then_only_where_it_changed(
    client: TestClient, experiment_id: int, engine: Engine
) -> None:
    path = f"/api/experiments/{experiment_id}/progress"
    first = client.get(path)
    assert first.json()["is_over"] is False
    has = {"If-None-Match": first.headers["etag"]}
    again = client.get(path, headers=has)
    assert (again.status_code, again.content) == (304, b"")
    with engine.begin() as connection:
        connection.execute(text("update experiment set state = 'cancelled'"))
    changed = client.get(path, headers=has)
    assert (changed.status_code, changed.json()["state"]) == (200, "cancelled")
    assert changed.headers["etag"] != first.headers["etag"]


def test_a_report_says_that_it_is_emulated(client: TestClient, experiment_id: int) -> None:
    for form in ("text", "markdown"):
        answer = client.get(f"/api/experiments/{experiment_id}/report?format={form}")
        assert answer.status_code == 200
        assert "emulated" in answer.text.lower()
