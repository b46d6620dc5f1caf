"""Tokens and browser sessions: how one gets in, and how that ends."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from cli.token import app as command
from mitigauge.access import secret, service
from mitigauge.access.roles import Role
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.storage.database.engine import transaction
from tests.api.conftest import KEY, planned
from tests.audit_entries import entries
from tests.clients import bearer, client_of, token_of
from tests.postgres import Databases

OURS = {"Origin": "http://localhost:8600", "Content-Type": "application/json"}
COOKIE = "mitigauge_session_8600"


@pytest.fixture
def database_url(databases: Databases, home: Path) -> Iterator[str]:
    """URL of a database without any token."""
    with databases.copied() as url:
        yield url


@pytest.fixture
def client(service: FastAPI, engine: Engine) -> Iterator[TestClient]:
    """An admin's client."""
    with client_of(service, bearer(token_of(engine, "admin"))) as client:
        yield client


def log_in(client: TestClient, **body: str) -> dict[str, object]:
    answer = client.post("/api/session", headers=OURS, content=json.dumps(body))
    assert answer.status_code == 201, answer.text
    shown: dict[str, object] = answer.json()
    return shown


def test_a_token_begins_a_session_and_logging_out_ends_it(
    stranger: TestClient, engine: Engine
) -> None:
    shown = log_in(stranger, token=token_of(engine, "submitter", "alice"))
    assert (shown["subject"], shown["role"], shown["means"]) == ("alice", "submitter", "session")
    assert stranger.get("/api/experiments").status_code == 200
    kept = stranger.cookies[COOKIE]
    assert stranger.delete("/api/session", headers=OURS).status_code == 204
    stranger.cookies.clear()
    assert stranger.get("/api/experiments").status_code == 401
    # The cookie that somebody copied is worth nothing either.
    stranger.cookies[COOKIE] = kept
    assert stranger.get("/api/experiments").status_code == 401


def test_a_sessions_cookie_is_for_this_services_pages_alone(
    stranger: TestClient, engine: Engine
) -> None:
    body = json.dumps({"token": token_of(engine, "viewer")})
    answer = stranger.post("/api/session", headers=OURS, content=body)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert answer.headers["cache-control"] == "no-store"
    encrypted = OURS | {"Origin": "https://localhost:8600"}
    answer = stranger.post("/api/session", headers=encrypted, content=body)
    assert "Secure" in answer.headers["set-cookie"]


def test_the_links_key_lets_the_operator_in(stranger: TestClient) -> None:
    shown = log_in(stranger, key=KEY)
    assert (shown["subject"], shown["role"]) == ("operator", "admin")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"key": KEY + "x"}, 401),
        ({"key": ""}, 401),
        ({"token": ""}, 401),
        ({"token": "mgt_" + 43 * "a"}, 401),
        ({"token": "mgt_\u00e9"}, 401),
        ({}, 422),
        ({"key": KEY, "token": "mgt_"}, 422),
        ({"role": "admin"}, 422),
        ([], 422),
        ({"key": 5}, 422),
    ],
)
def test_a_wrong_login_is_refused_and_never_echoed(
    stranger: TestClient, body: object, status: int
) -> None:
    answer = stranger.post("/api/session", headers=OURS, content=json.dumps(body))
    assert answer.status_code == status
    assert KEY not in answer.text
    assert "set-cookie" not in answer.headers


def test_without_a_link_no_key_lets_in(engine: Engine, home: Path) -> None:
    from api.app import create_app

    with client_of(create_app(engine)) as client:
        for key in ("", KEY):
            answer = client.post("/api/session", headers=OURS, content=json.dumps({"key": key}))
            assert answer.status_code == 401
            assert "mitigauge token create" in answer.json()["hint"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:8601"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://localhost:8600", "Sec-Fetch-Site": "cross-site"},
        {},
    ],
)
def test_another_sites_page_changes_nothing_with_our_cookie(
    stranger: TestClient, engine: Engine, headers: dict[str, str]
) -> None:
    log_in(stranger, key=KEY)
    json_type = {"Content-Type": "application/json"}
    experiment_id = planned(engine)
    for method, path in (
        ("POST", f"/api/experiments/{experiment_id}/cancel"),
        ("POST", "/api/experiments"),
        ("DELETE", "/api/session"),
        ("POST", "/api/session"),
    ):
        answer = stranger.request(method, path, headers=headers | json_type)
        assert answer.status_code == 403, path
    shown = stranger.get(f"/api/experiments/{experiment_id}").json()
    assert shown["state"] == "queued"


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
def test_what_a_web_form_can_send_changes_nothing(
    client: TestClient, experiment_id: int, content_type: str | None
) -> None:
    del client.headers["Content-Type"]
    headers = {"Content-Type": content_type} if content_type else {}
    for path in (f"/api/experiments/{experiment_id}/cancel", "/api/experiments", "/api/session"):
        answer = client.post(path, headers=headers, content=b"")
        assert answer.status_code == 415, path
        assert "application/yaml" in answer.json()["hint"]
    assert client.get(f"/api/experiments/{experiment_id}").json()["state"] == "queued"


def test_our_own_page_may_cancel(stranger: TestClient, experiment_id: int) -> None:
    log_in(stranger, key=KEY)
    answer = stranger.post(f"/api/experiments/{experiment_id}/cancel", headers=OURS)
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")


def test_a_revoked_token_and_its_sessions_end_at_once(stranger: TestClient, engine: Engine) -> None:
    token = token_of(engine, "viewer", "alice")
    log_in(stranger, token=token)
    with transaction(engine) as session:
        service.revoke_token(session, "alice")
    assert stranger.get("/api/experiments").status_code == 401
    stranger.cookies.clear()
    answer = stranger.get("/api/experiments", headers=bearer(token))
    assert (answer.status_code, answer.json()["message"]) == (401, "the token 'alice' is revoked")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_an_expired_token_and_its_sessions_end(stranger: TestClient, engine: Engine) -> None:
    token = token_of(engine, "viewer", "alice")
    log_in(stranger, token=token)
    run(engine, "update access_token set expires_at = now() - interval '1 second'")
    answer = stranger.get("/api/experiments", headers=bearer(token))
    assert (answer.status_code, answer.json()["message"]) == (401, "the token 'alice' is expired")
    assert stranger.get("/api/experiments").status_code == 401


def test_a_session_ends_by_itself(stranger: TestClient, engine: Engine) -> None:
    log_in(stranger, key=KEY)
    run(engine, "update browser_session set expires_at = now()")
    assert stranger.get("/api/experiments").status_code == 401


def test_logging_in_without_end_fills_no_table(stranger: TestClient, engine: Engine) -> None:
    token = token_of(engine, "viewer")
    for _ in range(service.MOST_SESSIONS + 5):
        log_in(stranger, token=token)
    with engine.connect() as connection:
        count = connection.scalar(text("select count(*) from browser_session"))
    assert count == service.MOST_SESSIONS
    assert stranger.get("/api/session").status_code == 200


def test_logging_in_and_out_without_end_fills_no_audit_log(
    stranger: TestClient, engine: Engine
) -> None:
    token = token_of(engine, "viewer", "vic")
    for _ in range(service.MOST_LOG_INS):
        log_in(stranger, token=token)
        assert stranger.delete("/api/session", headers=OURS).status_code == 204
    answer = stranger.post("/api/session", headers=OURS, content=json.dumps({"token": token}))
    assert answer.status_code == 409
    assert "vic logged in 60 times within an hour" in answer.json()["message"]
    assert len(entries(engine, "session.begin")) == service.MOST_LOG_INS
    # Others log in, and the token itself is good all the while.
    log_in(stranger, token=token_of(engine, "viewer", "walt"))
    assert stranger.get("/api/experiments", headers=bearer(token)).status_code == 200


def test_last_use_is_written_at_most_once_a_minute(stranger: TestClient, engine: Engine) -> None:
    headers = bearer(token_of(engine, "viewer"))

    def last_use() -> object:
        with engine.connect() as connection:
            return connection.scalar(text("select last_used_at from access_token"))

    assert last_use() is None
    stranger.get("/api/experiments", headers=headers)
    first = last_use()
    assert first is not None
    stranger.get("/api/experiments", headers=headers)
    assert last_use() == first
    run(engine, "update access_token set last_used_at = last_used_at - interval '61 seconds'")
    earlier = last_use()
    stranger.get("/api/experiments", headers=headers)
    assert last_use() != earlier


def test_neither_tokens_nor_sessions_are_in_the_database(
    stranger: TestClient, engine: Engine, home: Path
) -> None:
    token = token_of(engine, "viewer", "alice")
    log_in(stranger, token=token)
    with engine.connect() as connection:
        hashes = connection.execute(
            text("select hash from access_token union select hash from browser_session")
        )
        stored = " ".join(row.hash for row in hashes)
    assert token not in stored
    assert stranger.cookies[COOKIE] not in stored
    key = home / "access-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == secret.KEY_BYTES


def test_a_hash_under_another_installations_key_is_another(
    home: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mitigauge.core.settings import get_settings

    here = secret.stored_form("token", "x")
    assert here == secret.stored_form("token", "x")
    assert here != secret.stored_form("session", "x")
    monkeypatch.setenv("MITIGAUGE_HOME", str(tmp_path_factory.mktemp("other")))
    get_settings.cache_clear()
    assert here != secret.stored_form("token", "x")


@pytest.mark.parametrize(
    "authorization",
    ["Basic YTpi", "Bearer", "Bearer ", "Bearer mgt_short", "mgt_" + 43 * "a", "Bearer mgt_\xe9"],
)
def test_an_odd_authorization_is_a_401(stranger: TestClient, authorization: str) -> None:
    headers = {"Authorization": authorization.encode("latin-1")}
    answer = stranger.get("/api/experiments", headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 401


def test_a_token_decides_alone_whatever_session_comes_with_it(
    stranger: TestClient, engine: Engine, experiment_id: int
) -> None:
    log_in(stranger, key=KEY)
    viewer = bearer(token_of(engine, "viewer"))
    cancel = f"/api/experiments/{experiment_id}/cancel"
    assert stranger.post(cancel, headers=viewer | OURS).status_code == 403
    two = [*viewer.items(), ("Authorization", "Bearer x")]
    assert stranger.get("/api/session", headers=two).status_code == 401  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "operator", "a b", "x" * 65, "proxy:bob", "a\n", "-a"])
def test_a_name_that_would_pass_for_another_is_refused(
    engine: Engine, home: Path, name: str
) -> None:
    with transaction(engine) as session, pytest.raises(InvalidInput):
        service.create_token(session, name, Role.VIEWER, days=1)


def test_one_name_is_one_token_until_it_is_revoked_or_expired(engine: Engine, home: Path) -> None:
    token_of(engine, "viewer", "alice")
    with pytest.raises(Conflict, match="a token 'alice' already"):
        token_of(engine, "admin", "alice")
    run(engine, "update access_token set expires_at = now() - interval '1 second'")
    token_of(engine, "submitter", "alice")
    with transaction(engine) as session:
        assert [t.state for t in service.list_tokens(session)] == ["valid", "revoked"]
        service.revoke_token(session, "alice")
        with pytest.raises(NotFound):
            service.revoke_token(session, "alice")


@pytest.fixture
def _own_database(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    monkeypatch.setattr(
        "mitigauge.storage.database.engine.transaction", lambda: transaction(engine)
    )


@pytest.mark.usefixtures("_own_database")
def test_the_command_makes_lists_and_revokes_tokens(stranger: TestClient) -> None:
    made = said("create", "alice", "--role", "submitter")
    token = made.splitlines()[0]
    assert "submitter" in made
    assert stranger.get("/api/session", headers=bearer(token)).json()["subject"] == "alice"
    said("create", "ci", "--role", "runner", "--never")
    of_bob = json.loads(said("create", "bob", "--role", "viewer", "--days", "3", "--json"))
    assert of_bob["token"].startswith("mgt_")
    listed = json.loads(said("list", "--json"))
    assert [t["name"] for t in listed] == ["bob", "ci", "alice"]
    assert "token" not in listed[0]
    assert listed[1]["expires_at"] is None
    assert listed[2]["last_used_at"] is not None
    assert "alice" in said("list")
    said("revoke", "alice")
    assert stranger.get("/api/session", headers=bearer(token)).status_code == 401


@pytest.mark.usefixtures("_own_database")
def test_a_token_lasts_90_days_unless_said_otherwise(engine: Engine) -> None:
    said("create", "alice", "--role", "viewer")
    with transaction(engine) as session:
        [view] = service.list_tokens(session)
    assert view.expires_at is not None
    assert view.expires_at - view.created_at == timedelta(days=90)


@pytest.mark.usefixtures("_own_database")
@pytest.mark.parametrize(
    "options", [["--days", "0"], ["--days", "99999999"], ["--never", "--days", "1"]]
)
def test_an_expiry_that_cannot_be_is_refused(options: list[str]) -> None:
    with pytest.raises(InvalidInput):
        said("create", "alice", "--role", "viewer", *options)


def said(*arguments: str) -> str:
    done = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def run(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))
