"""How often we are wrong, for everybody where the operator wants it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args
from xml.dom import minidom

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from api import error_rates as route
from api.app import create_app
from api.gate import RATES
from mitigauge.core.settings import get_settings
from mitigauge.reporting.pages.error_rates import KINDS, ErrorRate
from tests.api.test_access import TABLE
from tests.clients import bearer, client_of, token_of

URL, BADGE = "/api/error-rates", "/api/error-rates/badge.svg"


@pytest.fixture
def everybody(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:  # fmt: skip
    """Somebody without a token, of a service that lets everybody read its rates."""
    monkeypatch.setenv("MITIGAUGE_PUBLIC_ERROR_RATES", "true")
    get_settings.cache_clear()
    with client_of(create_app(engine)) as client:
        yield client
    get_settings.cache_clear()


def test_by_default_nobody_without_a_token_reads_them(stranger: TestClient) -> None:
    for url in (URL, BADGE):
        assert stranger.get(url).status_code == 401


def test_with_a_token_they_are_read_and_kept_by_no_cache(client: TestClient) -> None:
    answer = client.get(BADGE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_where_the_operator_wants_it_everybody_reads_them(everybody: TestClient) -> None:
    assert {each["name"] for each in everybody.get(URL).json()} == {each.name for each in KINDS}
    answer = everybody.get(BADGE)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    title = minidom.parseString(answer.text).getElementsByTagName("title")[0].firstChild
    assert getattr(title, "data", "") == "confirmed false: none yet"
    again = everybody.get(BADGE, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "set-cookie" not in answer.headers


def test_nothing_else_is_read_by_everybody_for_that(everybody: TestClient) -> None:
    for name, row in TABLE.items():
        method, path = name.split()
        if row.own["nobody"] == 401 and path not in RATES:
            made = path.replace("{", "").replace("}", "")
            assert everybody.request(method, made, headers={"Content-Type": "application/json"}
                                     ).status_code in (401, 422), name  # fmt: skip
    for url in (f"{URL}/", f"{URL}/../experiments", f"{BADGE}/x", "/api//error-rates"):
        assert everybody.get(url).status_code in (401, 404, 307), url
    assert everybody.post(URL, json={}).status_code == 405


def test_a_wrong_token_is_refused_all_the_same(everybody: TestClient) -> None:
    assert everybody.get(URL, headers=bearer("mgt_" + 43 * "x")).status_code == 401


def test_each_rate_has_a_badge_and_what_is_none_is_refused_and_not_repeated(
    everybody: TestClient,
) -> None:
    assert set(get_args(route.RateName)) == {each.name for each in KINDS}
    for kind in KINDS:
        answer = everybody.get(BADGE, params={"kind": kind.name, "emulated": True})
        assert f"{kind.badge}, emulated: none yet" in answer.text
    hostile = everybody.get(BADGE, params={"kind": "<svg onload=alert(1)>"})
    assert hostile.status_code == 422
    assert hostile.headers["content-type"] == "application/json"


def test_who_asks_without_a_token_gets_what_was_read_a_moment_ago(
    everybody: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = route.error_rates

    def counted(session: Session) -> list[ErrorRate]:
        reads.append(session)
        return read(session)

    monkeypatch.setattr(route, "error_rates", counted)
    for _ in range(5):
        assert everybody.get(URL).status_code == everybody.get(BADGE).status_code == 200
    assert len(reads) == 1
    assert everybody.get(URL, headers=bearer(token_of(engine, "viewer"))).status_code == 200
    assert len(reads) == 2
