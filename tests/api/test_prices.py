"""Prices and checks of them over the API."""

from __future__ import annotations

from fastapi.testclient import TestClient
from sqlalchemy import Engine

from mitigauge.analysis.prices.levels import Checked
from mitigauge.analysis.prices.repository import put
from mitigauge.analysis.prices.schemas import CheckedOn
from mitigauge.core.clock import Clock
from mitigauge.storage.database.engine import transaction

HOSTILE = "<script>alert(1)</script>"


def stored_check(engine: Engine, experiment: int) -> int:
    """Two arms, of which one prediction holds and one lacks a price."""
    rows = [
        Checked("basic", "on", (10.0, 9.0, 11.0), (10.5, 10.0, 11.0), []),
        Checked(HOSTILE, "ibpb", (900.0, 890.0, 910.0), (1.0, 0.5, 1.5), ["ibpb"]),
    ]
    of = CheckedOn("xeon-8280", experiment, experiment, "spr-01", False, Clock.REAL)
    with transaction(engine) as session:
        return put(session, of, rows)


def test_prices_come_with_their_sources_and_no_check_is_none(client: TestClient) -> None:
    answer = client.get("/api/prices").json()
    assert (answer["checks"], answer["more"]) == ([], 0)
    xeon = next(each for each in answer["processors"] if each["processor"] == "xeon-8280")
    assert [price["event"] for price in xeon["prices"]] == ["instruction", "rdtsc", "cpuid"]
    assert xeon["prices"][0]["title"] == "any other instruction"
    for price in xeon["prices"]:
        assert price["low"] <= price["ns"] <= price["high"]
        assert price["source"].startswith("InstLatX64")
        assert price["url"].startswith("https://")


def test_a_check_is_listed_with_its_counts_and_read_with_its_rows(
    client: TestClient, engine: Engine, experiment_id: int
) -> None:
    number = stored_check(engine, experiment_id)
    [check] = client.get("/api/prices").json()["checks"]
    assert check["id"] == number
    assert check["title"].startswith("Intel Xeon Platinum 8280")
    assert check["measured"]["id"] == check["counted"]["id"] == experiment_id
    assert check["measured"]["name"]
    counts = ("held", "checked", "whole_held", "whole", "signs_right", "signs")
    assert [check[name] for name in counts] == [1, 2, 1, 1, 2, 2]
    assert "rows" not in check
    shown = client.get(f"/api/prices/checks/{number}").json()
    assert shown["check"] == check
    first, second = shown["rows"]
    assert first["measured"] == {"ns": 10.0, "low": 9.0, "high": 11.0}
    assert (first["holds"], first["missing"]) == (True, [])
    assert (second["case"], second["holds"], second["missing"]) == (HOSTILE, False, ["ibpb"])


def test_no_such_check(client: TestClient) -> None:
    answer = client.get("/api/prices/checks/9999")
    assert answer.status_code == 404
    assert "GET /api/prices" in answer.json()["hint"]
