"""Who tries many tokens is slowed, by address, without the database; a right token never is."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event

from api.app import create_app
from api.problems import TooOften
from api.wrong_keys import FREE, MOST_ADDRESSES, WINDOW_S, WrongKeys, group_of
from mitigauge.access import service as access
from mitigauge.storage.database.engine import transaction
from tests.api.conftest import KEY
from tests.api.test_access import PROXY, PROXY_SECRET, settings
from tests.clients import bearer, client_of, token_of

OURS = {"Origin": "http://localhost:8600", "Content-Type": "application/json"}


def wrong(number: int) -> str:
    """A token that nobody has."""
    return f"mgt_{number:043}"


def try_many(client: TestClient, times: int = FREE, **headers: str) -> None:
    for number in range(times):
        answer = client.get("/api/experiments", headers=bearer(wrong(number)) | headers)
        assert answer.status_code == 401


@pytest.fixture
def statements(engine: Engine) -> Iterator[list[str]]:
    """What the database is asked."""
    asked: list[str] = []

    def note(_1: object, _2: object, statement: str, *_3: object) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield asked
    event.remove(engine, "before_cursor_execute", note)


def test_after_so_many_wrong_tokens_the_database_is_not_asked_any_more(
    stranger: TestClient, statements: list[str]
) -> None:
    try_many(stranger)
    stranger.get("/api/experiments", headers=bearer(wrong(98)))
    statements.clear()
    for number in range(40):
        answer = stranger.get("/api/experiments", headers=bearer(wrong(1000 + number)))
        assert (answer.status_code, answer.json()["error"]) == (429, "TooOften")
        assert 1 <= int(answer.headers["retry-after"]) <= WINDOW_S
    # Which tokens are right is read once a second at the most, whatever comes.
    assert len([said for said in statements if "access_token" in said]) <= 5
    assert stranger.get("/api/health/live").status_code == 200
    # Nothing was shown, so nothing is slowed.
    assert stranger.get("/api/experiments").status_code == 401


def test_a_right_token_is_never_slowed(stranger: TestClient, engine: Engine) -> None:
    token = token_of(engine, "viewer")
    try_many(stranger)
    assert stranger.get("/api/experiments", headers=bearer(wrong(99))).status_code == 429
    for _ in range(3 * FREE):
        assert stranger.get("/api/experiments", headers=bearer(token)).status_code == 200
    body = json.dumps({"token": token})
    assert stranger.post("/api/session", headers=OURS, content=body).status_code == 201
    assert stranger.get("/api/experiments").status_code == 200


def test_a_token_that_is_revoked_is_a_wrong_one(
    stranger: TestClient, engine: Engine, service: FastAPI
) -> None:
    token = token_of(engine, "viewer", "alice")
    with transaction(engine) as session:
        access.revoke_token(session, "alice")
    for _ in range(FREE):
        assert stranger.get("/api/experiments", headers=bearer(token)).status_code == 401
    assert stranger.get("/api/experiments", headers=bearer(token)).status_code == 429


@pytest.mark.parametrize("kind", ["token", "key"])
def test_the_login_is_slowed_too_and_a_right_key_gets_in(
    stranger: TestClient, statements: list[str], kind: str
) -> None:
    def log_in(**body: str) -> int:
        answer = stranger.post("/api/session", headers=OURS, content=json.dumps(body))
        assert KEY not in answer.text
        return answer.status_code

    assert {log_in(**{kind: wrong(number)}) for number in range(FREE)} == {401}
    assert log_in(**{kind: wrong(99)}) == 429
    # Both ways in are counted together.
    assert stranger.get("/api/experiments", headers=bearer(wrong(98))).status_code == 429
    assert log_in(key=KEY) == 201


def test_what_is_no_token_at_all_is_counted_too(stranger: TestClient) -> None:
    for _ in range(FREE):
        assert stranger.get("/api/experiments", headers=bearer("x")).status_code == 401
    assert stranger.get("/api/experiments", headers=bearer("x")).status_code == 429


@pytest.fixture
def behind_proxy(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    with (
        settings(monkeypatch, PROXY_SECRET_FILE=str(file)),
        client_of(create_app(engine)) as client,
    ):
        yield client


def forwarded(address: str) -> dict[str, str]:
    return {"X-Mitigauge-Proxy-Secret": PROXY_SECRET, "X-Forwarded-For": address}


def test_behind_a_proxy_each_of_its_clients_is_counted_alone(behind_proxy: TestClient) -> None:
    try_many(behind_proxy, **forwarded("192.0.2.1"))
    for address, status in (
        ("192.0.2.1", 429),
        # What a client claims stands before what the proxy saw.
        ("198.51.100.7, 192.0.2.1", 429),
        ("192.0.2.1, 198.51.100.7", 401),
        ("192.0.2.2", 401),
        ("rubbish", 401),
    ):
        headers = bearer(wrong(99)) | forwarded(address)
        assert behind_proxy.get("/api/experiments", headers=headers).status_code == status, address
    assert behind_proxy.get("/api/session", headers=PROXY).status_code == 200


def test_without_the_proxys_secret_a_forwarded_address_is_nothing(
    behind_proxy: TestClient, stranger: TestClient
) -> None:
    for client in (behind_proxy, stranger):
        for number in range(FREE):
            headers = bearer(wrong(number)) | {"X-Forwarded-For": f"192.0.2.{number}"}
            assert client.get("/api/experiments", headers=headers).status_code == 401
        headers = bearer(wrong(99)) | {"X-Forwarded-For": "192.0.2.99"}
        assert client.get("/api/experiments", headers=headers).status_code == 429


def test_a_wrong_secret_of_a_proxy_is_counted_and_the_right_one_is_not_slowed(
    behind_proxy: TestClient,
) -> None:
    bad = PROXY | {"X-Mitigauge-Proxy-Secret": "s" * 39 + "t"}
    for _ in range(FREE):
        assert behind_proxy.get("/api/session", headers=bad).status_code == 401
    assert behind_proxy.get("/api/session", headers=bad).status_code == 429
    assert behind_proxy.get("/api/session", headers=PROXY).status_code == 200


def test_thresholds_are_lines_in_the_log_without_any_token(
    stranger: TestClient, service: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        try_many(stranger)
        for number in range(95):
            stranger.get("/api/experiments", headers=bearer(wrong(number)))
    lines = [record.getMessage() for record in caplog.records if record.name == "api.wrong_keys"]
    assert lines == [
        f"testclient sent {FREE} wrong tokens or keys within 60 s: it is slowed",
        "100 wrong tokens or keys since the start, the last from testclient",
    ]
    keys: WrongKeys = service.state.wrong_keys
    assert (keys.total, keys.refused, keys.addresses) == (FREE + 95, 95, 1)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_window_ends() -> None:
    clock = Clock()
    keys = WrongKeys(now=clock)
    for _ in range(FREE):
        assert not keys.is_slowed("a")
        keys.note("a")
    assert keys.is_slowed("a")
    assert not keys.is_slowed("b")
    with pytest.raises(TooOften) as refused:
        keys.refuse("a")
    assert refused.value.retry_after_s == WINDOW_S
    # Trying on makes it no longer.
    clock.now += WINDOW_S - 0.5
    with pytest.raises(TooOften) as refused:
        keys.refuse("a")
    assert refused.value.retry_after_s == 1
    clock.now += 1
    assert not keys.is_slowed("a")
    keys.note("a")
    assert not keys.is_slowed("a")


def test_addresses_without_end_take_no_memory_without_end() -> None:
    keys = WrongKeys(now=Clock())
    for _ in range(FREE):
        keys.note("first")
    for number in range(3 * MOST_ADDRESSES):
        keys.note(f"2001:db8:{number:x}::")
        # Who goes on is not forgotten for those who came once.
        if number % 1000 == 0:
            assert keys.is_slowed("first")
            keys.note("first")
    assert keys.addresses == MOST_ADDRESSES
    assert sys.getsizeof(keys._windows) < 1 << 20


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        # A network of its own is what every client has.
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("testclient", "testclient"),
        ("x" * 500, "x" * 64),
        ("a\nb\x1b[2J", "'a\\nb\\x1b[2J'"),
        ("", "unknown"),
    ],
)
def test_an_address_is_counted_by_what_one_client_has(address: str, group: str) -> None:
    assert group_of(address) == group
