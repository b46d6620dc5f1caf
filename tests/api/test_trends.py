"""Accepting a trend's change, and saying something of it, over HTTP."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.tracking.trends.update import update
from tests.api.conftest import KEY
from tests.clients import HERE, bearer, token_of
from tests.postgres import filled
from tests.trends_made import weeks

STEP = [1.0] * 10 + [1.05] * 8
WHY = {"text": "the new allocator"}


@pytest.fixture
def change(engine: Engine, client: TestClient) -> dict[str, int]:
    """One open change: ``id`` and ``trend_id``."""
    filled(engine, make_change)
    trend = client.get("/api/trends", params={"changed": True}).json()["trends"][0]["id"]
    [found] = client.get(f"/api/trends/{trend}").json()["changes"]
    return {"id": int(found["id"]), "trend_id": int(trend)}


def make_change(engine: Engine) -> None:
    weeks(engine, STEP)
    update(engine)


def accept_url(change: dict[str, int]) -> str:
    return f"/api/trends/changes/{change['id']}/accept"


def test_accepting_and_annotating_from_the_first_to_the_next_version(
    client: TestClient, engine: Engine, change: dict[str, int]
) -> None:
    tokens = {role: bearer(token_of(engine, role)) for role in ("viewer", "submitter", "approver")}
    url, trend = accept_url(change), f"/api/trends/{change['trend_id']}"
    say = f"{trend}/annotations"

    for role in ("viewer", "submitter"):
        assert client.post(url, json=WHY, headers=tokens[role]).status_code == 403
    assert client.post(say, json=WHY, headers=tokens["viewer"]).status_code == 403
    assert client.get(trend).json()["changes"][0]["state"] == "open"

    done = client.post(url, json=WHY, headers=tokens["approver"])
    assert (done.status_code, done.json()["state"]) == (200, "accepted")
    assert done.json()["said"] == WHY["text"]
    twice = client.post(url, json={"text": "again"}, headers=tokens["approver"])
    assert (twice.status_code, "accepted already" in twice.json()["message"]) == (409, True)

    said = client.post(
        say, json={"text": "the rack moved", "change_id": change["id"]}, headers=tokens["submitter"]
    )
    assert said.status_code == 200
    texts = [each["text"] for each in client.get(trend).json()["annotations"]]
    assert any("the rack moved" in text for text in texts)

    # Later values agree: the accepted one stays. Then they do not: a new version, which is open.
    before = client.get(trend).json()["changes"][0]
    weeks(engine, [1.05, 1.05], first=len(STEP))
    update(engine)
    assert client.get(trend).json()["changes"][0] == before
    weeks(engine, [1.0] * 12, first=len(STEP) + 2)
    update(engine)
    shown = client.get(trend).json()
    assert [(each["version"], each["state"]) for each in shown["changes"]] == [(2, "open")]
    assert shown["changes"][0]["reason"]
    assert [(each["version"], each["state"]) for each in shown["earlier"]] == [(1, "accepted")]
    # What is accepted now is the version that is shown; the superseded one keeps its words.
    again = client.post(url, json={"text": "reverted"}, headers=tokens["approver"])
    assert (again.status_code, again.json()["version"]) == (200, 2)
    shown = client.get(trend).json()
    assert [each["said"] for each in shown["earlier"]] == [WHY["text"]]


def test_what_is_no_acceptance_or_annotation_is_refused_and_changes_nothing(
    client: TestClient, stranger: TestClient, change: dict[str, int]
) -> None:
    url, trend = accept_url(change), f"/api/trends/{change['trend_id']}"
    bodies: list[object] = [
        {}, {"text": ""}, {"text": "x" * 5000}, {"text": 7}, [], "text",
        {"text": "x", "by": "another one"}, {"text": "x", "expected": "maybe"},
    ]  # fmt: skip
    for body in bodies:
        assert client.post(url, json=body).status_code == 422, body
    bodies = [{}, {"text": ""}, {"text": "x", "change_id": 0}, {"text": "x", "change_id": 2**70}]
    for body in bodies:
        assert client.post(f"{trend}/annotations", json=body).status_code == 422, body
    assert client.post(url, json={"text": " \t "}).status_code == 422
    assert client.post("/api/trends/changes/999999/accept", json=WHY).status_code == 404
    assert client.post("/api/trends/999999/annotations", json=WHY).status_code == 404
    elsewhere = client.post(f"{trend}/annotations", json={"text": "x", "change_id": 999999})
    assert elsewhere.status_code == 404

    assert stranger.post(url, json=WHY).status_code == 401
    # A browser's session: from no page but ours, and with no type that a form can send.
    ours = {"Origin": HERE}
    assert stranger.post("/api/session", json={"key": KEY}, headers=ours).status_code == 201
    for origin in ("https://evil.example", "null", "http://localhost:8601"):
        for path in (url, f"{trend}/annotations"):
            refused = stranger.post(path, json=WHY, headers={"Origin": origin})
            assert refused.status_code == 403, (origin, path)
    form = stranger.post(
        url, content=b'{"text": "x"}', headers=ours | {"Content-Type": "text/plain"}
    )
    assert form.status_code in {403, 415}
    shown = client.get(trend).json()
    assert (shown["changes"][0]["state"], shown["annotations"]) == ("open", [])
    assert stranger.post(url, json=WHY, headers=ours).status_code == 200
