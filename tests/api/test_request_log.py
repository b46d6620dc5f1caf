"""The access log: a line a request, by whom and how long, and nothing secret in it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import Engine, text

from api.app import create_app
from mitigauge.access.audit.tables import AuditEntry
from mitigauge.core.logs.setup import configure_logs
from mitigauge.core.settings import get_settings
from tests.api.conftest import planned
from tests.clients import HERE, bearer, client_of, token_of
from tests.unit.logs.test_logs import as_it_was

__all__ = ["as_it_was"]

# Each is to be found nowhere.
METRICS, PROXY, DATABASE, AWS, WRONG = (f"canary-{name}-{'7' * 32}" for name in (
    "metrics", "proxy", "database", "aws", "wrong"))  # fmt: skip
WRONG_TOKEN = "mgt_" + "canary" * 7 + "x"


@pytest.fixture
def log(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """The log, as JSON, of a service that has every secret setting."""
    (home / "proxy-secret").write_text(PROXY)
    for name, value in {
        "MITIGAUGE_METRICS_KEY": METRICS,
        "MITIGAUGE_PROXY_SECRET_FILE": str(home / "proxy-secret"),
        "MITIGAUGE_DATABASE_URL": "postgresql://mitigauge@h/n",
        "MITIGAUGE_DATABASE_PASSWORD": DATABASE,
        "AWS_SECRET_ACCESS_KEY": AWS,
        "MITIGAUGE_LOG_LEVEL": "debug",
        "MITIGAUGE_LOG_FORMAT": "json",
    }.items():
        monkeypatch.setenv(name, value)
    get_settings.cache_clear()
    stream = io.StringIO()
    configure_logs(get_settings(), stream)
    yield stream
    monkeypatch.undo()
    get_settings.cache_clear()


@pytest.fixture
def service(engine: Engine, log: io.StringIO) -> FastAPI:
    return create_app(engine, login_key="the-key-of-the-link")


def lines(log: io.StringIO, logger: str = "api.access") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in found if line["logger"] == logger]


def test_a_request_is_a_line(service: FastAPI, engine: Engine, log: io.StringIO) -> None:
    headers = bearer(token_of(engine, "viewer", "vic"))
    with client_of(service, headers) as client:
        answer = client.get("/api/experiments", params={"find": "what-i-look-for"})
    [line] = lines(log)
    assert line["message"] == "request"
    assert {name: line[name] for name in ("method", "path", "status", "actor", "client")} == {
        "method": "GET", "path": "/api/experiments", "status": 200, "actor": "vic",
        "client": "testclient",
    }  # fmt: skip
    assert line["bytes"] == len(answer.content)
    assert 0 < line["ms"] < 60_000
    assert line["request"] == answer.headers["x-request-id"]
    assert "what-i-look-for" not in log.getvalue()


def test_without_the_proxys_secret_a_forwarded_address_is_nothing(
    service: FastAPI, log: io.StringIO
) -> None:
    secret = {"X-Mitigauge-Proxy-Secret": PROXY}
    cases = {
        # What a client claims stands before what the proxy saw.
        "198.51.100.7, 192.0.2.1": "192.0.2.1",
        "192.0.2.2": "192.0.2.2",
        "rubbish": "testclient",
    }
    with client_of(service) as client:
        for told in cases:
            client.get("/api/session", headers=secret | {"X-Forwarded-For": told})
            client.get("/api/session", headers={"X-Forwarded-For": told})
    found = [line["client"] for line in lines(log)]
    assert found == [who for seen in cases.values() for who in (seen, "testclient")]


def test_what_is_refused_before_any_route_has_a_line_and_an_id_too(
    service: FastAPI, log: io.StringIO
) -> None:
    with client_of(service) as client:
        unknown = client.get("/api/experiments", headers={"Host": "evil.example"})
        control = client.get("/api/experiments/%0aINFO%20forged")
        nobody = client.post("/api/kernels", headers={"Content-Type": "application/json"})
    assert [line["status"] for line in lines(log)] == [421, 400, 401]
    assert [line["actor"] for line in lines(log)] == ["", "", ""]
    for answer in (unknown, control, nobody):
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
    ids = {line["request"] for line in lines(log)}
    assert len(ids) == 3


def test_an_error_of_ours_is_logged_under_the_requests_id(
    service: FastAPI, engine: Engine, log: io.StringIO
) -> None:
    headers = bearer(token_of(engine, "viewer", "vic"))
    with client_of(service, headers) as client:
        assert client.get("/api/hosts").status_code == 200
        with engine.begin() as connection:
            connection.execute(text("alter table host rename to hosts_elsewhere"))
        answer = client.get("/api/hosts")
    assert answer.status_code == 500
    [failed] = lines(log, "api.problems")
    assert failed["request"] == answer.json()["request_id"]
    assert "hosts_elsewhere" in failed["exception"] or "host" in failed["exception"]


def test_what_machines_ask_for_every_few_seconds_is_for_debugging(
    service: FastAPI, log: io.StringIO
) -> None:
    with client_of(service) as client:
        client.get("/api/health/live")
        client.get("/metrics")
        client.get("/api/session")
    assert [line["level"] for line in lines(log)] == ["debug", "debug", "info"]


def test_no_secret_is_in_any_line_answer_or_entry(
    service: FastAPI, engine: Engine, log: io.StringIO
) -> None:
    planned(engine)
    token = token_of(engine, "approver", "ann")
    secrets = [token, METRICS, PROXY, DATABASE, AWS, WRONG, WRONG_TOKEN, "the-key-of-the-link"]
    made_up = (WRONG, "the-key-of-the-link")
    page = {"Origin": HERE, "Content-Type": "application/json"}
    proxy = {"X-Mitigauge-User": "bob", "X-Mitigauge-Role": "approver", **page}
    answers = []
    with client_of(service) as client:
        for secret in secrets:
            for headers in (
                bearer(secret),
                {"Authorization": f"Basic {secret}"},
                {"X-Mitigauge-Proxy-Secret": secret, **proxy},
                {"Cookie": f"mitigauge_session_8600={secret}"},
                {"X-Request-Id": secret},
                # The proxy names requests as it likes; what it made up itself is no secret of ours.
                {
                    "X-Request-Id": "a" if secret in made_up else secret,
                    "X-Mitigauge-Proxy-Secret": PROXY,
                    **proxy,
                },
                {"User-Agent": secret, "Referer": f"{HERE}/?token={secret}"},
            ):
                for path in ("/metrics", "/api/session", "/api/experiments"):
                    answers.append(client.get(path, headers=headers, params={"token": secret}))
                reason = {"reason": f"my token is {token}"}
                path = "/api/hosts/lab/alpha/set-aside"
                answers.append(client.post(path, headers=headers, json=reason))
            for body in ({"token": secret}, {"key": secret}, {"tokne": secret}):
                client.cookies.clear()
                answers.append(client.post("/api/session", headers=page, json=body))
            client.cookies.clear()
    assert {200, 201, 401, 403, 422} <= {answer.status_code for answer in answers}
    with engine.connect() as connection:
        told = connection.scalars(text(f"select e::text from {AuditEntry.__tablename__} e")).all()
    assert any("set-aside" in line for line in told)
    assert len(lines(log)) == len(answers)
    everything = log.getvalue() + "\n".join(told)
    # Whoever may read hosts sees the reason as it was given; that is no log.
    assert [secret for secret in secrets if secret in everything] == []
