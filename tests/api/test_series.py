"""Series over HTTP: listed, shown, approved by who may, and their line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastapi.testclient import TestClient
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.core.settings import get_settings
from mitigauge.kernels.mails.files import read_mails
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.tables import SeriesRevision
from tests.api.conftest import planned
from tests.clients import bearer, token_of

OURS = Path(__file__).parents[1] / "series" / "vmscape-bhb"


def stored(engine: Engine) -> None:
    found = revisions(read_mails([OURS]))
    with Session(engine) as session:
        service.add(
            session, found, blob_store(get_settings()), wanted=SeriesOptions("bhb", "vmscape")
        )
        session.commit()


def test_no_series_is_an_empty_list(client: TestClient) -> None:
    assert client.get("/api/series").json() == []
    answer = client.get("/api/series/bhb")
    assert answer.status_code == 404
    assert "no series 'bhb'" in answer.text


def test_a_series_is_listed_and_shown_with_what_each_revision_changed(
    client: TestClient, engine: Engine
) -> None:
    stored(engine)
    [head] = client.get("/api/series").json()
    assert (head["name"], head["revisions"], head["newest"]) == ("bhb", 4, "v4")
    view = client.get("/api/series/bhb").json()
    labels = [revision["label"] for revision in view["revisions"]]
    assert labels == ["v1", "v2", "v3", "v4"]
    third = view["revisions"][2]
    assert third["renamed"][0]["after"] == "vmscape_flush_history"
    assert third["changes"][1]["change"] == "changed"
    assert client.get("/api/series/bhb/line").json() == {
        "revisions": [], "rows": [], "left_out": 0,
    }  # fmt: skip


def test_each_patch_of_a_revision_is_read_as_it_is_applied(
    client: TestClient, engine: Engine
) -> None:
    stored(engine)
    patches = client.get("/api/series/bhb").json()["revisions"][2]["patches"]
    assert len(patches) > 1
    for position, patch in enumerate(patches, start=1):
        answer = client.get(f"/api/series/bhb/v3/patches/{position}")
        assert answer.headers["content-type"].startswith("text/plain")
        assert hashlib.sha256(answer.content).hexdigest() == patch["sha256"]
        assert f"b/{patch['files'][0]}" in answer.text
    for asked in ("v3/patches/99", "v9/patches/1"):
        answer = client.get(f"/api/series/bhb/{asked}")
        assert answer.status_code == 404
        assert answer.json()["hint"]


def test_an_approver_approves_once_and_stands_there_by_name(
    client: TestClient, engine: Engine
) -> None:
    stored(engine)
    headers = bearer(token_of(engine, "approver", "ann"))
    url = "/api/series/bhb/v2/approve"
    seen = {"digest": client.get("/api/series/bhb").json()["revisions"][1]["digest"]}
    assert client.post(url, headers=headers).status_code == 422
    other = client.post(url, headers=headers, json={"digest": "0" * 16})
    assert other.status_code == 422
    assert "is not what you looked at" in other.text
    answer = client.post(url, headers=headers, json=seen)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["approved_by"]) == ("approved", "ann")
    assert client.post(url, headers=headers, json=seen).status_code == 422


def judged(engine: Engine, experiment: int, effect: float, verdict: str) -> None:
    """Store one verdict for every arm, case and metric of an experiment."""
    with engine.begin() as connection:
        connection.execute(
            text("""
                insert into verdict (run_id, case_id, metric, arm_id, version, state, n, blocks,
                    mean, effect_percent, ci_low_percent, ci_high_percent, verdict, note, boots,
                    disturbed, unsteady, rules, reason, given_at)
                select run.id, c.id, m.key, arm.id, 1, 'measured', 4, 4, 1,
                    cast(:effect as float), cast(:effect as float) - 0.1,
                    cast(:effect as float) + 0.1, :verdict, '', '{}', 0, 0, 1, '', now()
                from run join arm on arm.comparison_id = run.comparison_id
                join benchmark_case c on c.comparison_id = run.comparison_id
                cross join lateral jsonb_object_keys(c.metrics) m(key)
                where run.experiment_id = :experiment
                """),
            {"experiment": experiment, "effect": effect, "verdict": verdict},
        )


def test_of_three_thousand_cases_two_hundred_are_shown_and_the_rest_is_counted(
    client: TestClient, engine: Engine
) -> None:
    stored(engine)
    experiment = planned(engine)
    with engine.begin() as connection:
        connection.execute(
            text("""
                insert into benchmark_case (comparison_id, position, workload, title, parameters,
                    iterations, warmup, timeout_s, expected_s, metrics)
                select comparison_id, 1000 + n, workload, title || ' ' || n, parameters,
                    iterations, warmup, timeout_s, expected_s, metrics
                from (select distinct on (comparison_id) * from benchmark_case) c,
                    generate_series(1, 3000) n
                """)
        )
    judged(engine, experiment, 8.0, "worse")
    with Session(engine) as session:
        revision = service.find_revision(session, "bhb", "v1")
        session.get_one(SeriesRevision, revision.id).experiment_id = experiment
        session.commit()
    said = client.get("/api/series/bhb/line").json()
    assert len(said["rows"]) == 200
    assert said["left_out"] >= 2800


def test_the_line_says_of_each_revision_what_was_said_of_it(
    client: TestClient, engine: Engine
) -> None:
    stored(engine)
    first, second = planned(engine), planned(engine)
    with Session(engine) as session:
        for label, experiment in {"v1": first, "v2": second}.items():
            revision = service.find_revision(session, "bhb", label)
            session.get_one(SeriesRevision, revision.id).experiment_id = experiment
        session.commit()
    for experiment, effect, verdict in ((first, 1.0, "same"), (second, 8.0, "worse")):
        judged(engine, experiment, effect, verdict)
    said = client.get("/api/series/bhb/line").json()
    assert said["revisions"] == ["v1", "v2"]
    assert said["rows"]
    for row in said["rows"]:
        assert [point["effect_percent"] for point in row["points"]] == [1.0, 8.0]
        assert row["first_worse"] == "v2"
