"""Lists of bisections, series, jobs and hosts are narrowed by words and by state."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.settings import get_settings
from mitigauge.storage.files.blobs import blob_store
from tests.api.conftest import planned
from tests.api.test_series import stored
from tests.bisections import begun, patches

HOSTILE = "50%_\\"


def ids(client: TestClient, path: str, name: str = "id", **asked: Any) -> list[Any]:
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return [each[name] for each in answer.json()]


def execute(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


def test_bisections_and_their_jobs(client: TestClient, engine: Engine) -> None:
    blobs = blob_store(get_settings())
    one, two = (begun(engine, blobs, patches("one", says)) for says in ("two", "three"))
    execute(engine, f"UPDATE bisection SET state = 'cancelled', title = 'Toys {HOSTILE}' "
                    f"WHERE id = {one}")  # fmt: skip
    path = "/api/bisections"
    assert ids(client, path) == [two, one]
    assert ids(client, path, state="running") == [two]
    assert ids(client, path, state=["running", "cancelled"]) == [two, one]
    assert ids(client, path, find="toys syscall") == [one]
    assert ids(client, path, find=HOSTILE) == [one]
    assert ids(client, path, find="% _") == [one]
    assert ids(client, path, find="nothing") == []
    jobs = ids(client, "/api/jobs", "subject", find="patches")
    assert sorted(jobs) == sorted([str(one), str(two)])
    assert ids(client, "/api/jobs", state="failed") == []


def test_series(client: TestClient, engine: Engine) -> None:
    stored(engine)
    assert ids(client, "/api/series", "name", find="BHB") == ["bhb"]
    assert ids(client, "/api/series", "name", find="bhb other") == []
    [state] = ids(client, "/api/series", "state")
    assert ids(client, "/api/series", "name", state=state) == ["bhb"]
    assert ids(client, "/api/series", "name", state="failed") == []


def test_hosts(client: TestClient, engine: Engine) -> None:
    planned(engine)
    assert ids(client, "/api/hosts", "name", find="alpha LAB") == ["alpha"]
    assert ids(client, "/api/hosts", "name", state="free") == ["alpha"]
    assert ids(client, "/api/hosts", "name", state="set-aside") == []
    execute(engine, "UPDATE host SET set_aside_at = now(), set_aside_reason = 'its fan', "
                    "reserved_until = now() + interval '1 h', reserved_by = 'ann'")  # fmt: skip
    assert ids(client, "/api/hosts", "name", state="set-aside") == ["alpha"]
    assert ids(client, "/api/hosts", "name", state=["free", "reserved", "in-use"]) == []


@pytest.mark.parametrize("path", ["/api/bisections", "/api/series", "/api/jobs", "/api/hosts"])
def test_a_state_that_there_is_not_is_refused(client: TestClient, path: str) -> None:
    assert client.get(path, params={"state": "nothing"}).status_code == 422
    assert client.get(path, params={"find": "x" * 10_000}).status_code == 422
    assert client.get(path, params={"find": "   "}).status_code == 200
