"""Bisections through the API: listed, shown whole, cancelled by whom it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from api.app import create_app
from mitigauge.core.settings import get_settings
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect.tables import Bisection
from tests.bisections import begun, patches
from tests.clients import bearer, client_of, token_of

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def bisection(engine: Engine, home: Path) -> int:
    return begun(engine, blob_store(get_settings()), patches("one", HOSTILE, "three"))


@pytest.fixture
def client(engine: Engine, home: Path) -> TestClient:
    return client_of(create_app(engine, web_root=home / "nothing"))


def test_it_is_listed_and_shown_whole(client: TestClient, engine: Engine, bisection: int) -> None:
    headers = bearer(token_of(engine, "viewer", "viewer"))
    with client:
        [head] = client.get("/api/bisections", headers=headers).json()
        whole = client.get(f"/api/bisections/{bisection}", headers=headers).json()
    assert (head["id"], head["candidates"], head["state"]) == (bisection, 3, "running")
    assert [change["position"] for change in whole["changes"]] == [1, 2, 3]
    assert whole["case"] == "syscall basic"
    assert whole["found"] is None


def test_its_owner_cancels_it_and_nobody_else_but_who_may_cancel_any(
    client: TestClient, engine: Engine, bisection: int
) -> None:
    with Session(engine) as session:
        session.get_one(Bisection, bisection).submitted_by = "ann"
        session.commit()
    tokens = {name: bearer(token_of(engine, role, name))
              for name, role in (("bob", "submitter"), ("ann", "submitter"))}  # fmt: skip
    url = f"/api/bisections/{bisection}/cancel"
    with client:
        refused = client.post(url, headers=tokens["bob"])
        done = client.post(url, headers=tokens["ann"])
        again = client.post(url, headers=tokens["ann"])
    assert (refused.status_code, "started by ann" in refused.text) == (403, True)
    assert (done.status_code, done.json()["state"]) == (200, "cancelled")
    assert again.status_code == 409


def test_a_candidates_patch_is_read_as_it_is_applied(
    client: TestClient, engine: Engine, bisection: int
) -> None:
    headers = bearer(token_of(engine, "viewer", "viewer"))
    with client:
        found = [
            client.get(f"/api/bisections/{bisection}/patches/{position}", headers=headers)
            for position in (1, 2, 3, 4)
        ]
    assert [each.status_code for each in found] == [200, 200, 200, 404]
    assert found[1].headers["content-type"].startswith("text/plain")
    assert HOSTILE in found[1].text
    assert HOSTILE not in found[0].text
    assert "It has 3." in found[3].json()["hint"]
