"""Requests from elsewhere, too large, too slow or malformed: refused at once, and shortly."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import psycopg
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from api import server
from api.app import create_app
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from tests.clients import bearer, client_of, token_of
from tests.serving import heard, serving, spoken

# Far from the second that tests set; less than the limits that stand without.
SOON_S = 14.0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8600", 200),
        ("[::1]:8600", 200),
        ("evil.example", 421),
        ("evil.example:8600", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.nip.io", 421),
        ("0.0.0.0:8600", 421),
        ("", 400),
        ("a b", 400),
        ("localhost@evil.example", 400),
    ],
)
def test_only_a_known_name_is_answered(stranger: TestClient, host: str, status: int) -> None:
    for path in ("/api/health/live", "/", "/assets/x.js", "/api/nothing"):
        answer = stranger.get(path, headers={"Host": host})
        if status == 200 and path != "/api/health/live":
            assert answer.status_code not in (400, 421), path
            continue
        assert answer.status_code == status, path
        assert "content-security-policy" in answer.headers
        if status == 421:
            assert "MITIGAUGE_ALLOWED_HOSTS" in answer.json()["hint"]


def test_a_host_that_is_absent_or_there_twice_is_refused(service: FastAPI) -> None:
    with serving(service) as port:
        assert b" 400 " in spoken(port, b"GET /api/health/live HTTP/1.0\r\n\r\n")[:20]
        twice = b"Host: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        assert b" 400 " in spoken(port, b"GET /api/health/live HTTP/1.1\r\n" + twice)[:20]
        evil = b"Host: evil.example\r\nConnection: close\r\n\r\n"
        absolute = b"GET http://localhost/api/health/live HTTP/1.1\r\n" + evil
        assert b" 421 " in spoken(port, absolute)[:20]


def test_a_configured_name_is_answered(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_ALLOWED_HOSTS", "gauge.example.org")
    get_settings.cache_clear()
    with client_of(create_app(engine)) as client:
        answer = client.get("/api/health/live", headers={"Host": "gauge.example.org"})
        assert answer.status_code == 200


ODD_TARGETS = [
    ("/api/hosts/%00", 400),
    ("/%00", 400),
    ("/api/experiments/1/cases/1?host=%00", 400),
    ("/api/profiles/diff?a=%00&b=%01&tree=x", 400),
    ("/api/hosts/%0a", 400),
    ("/api/hosts/%ff%fe", 400),
    ("/api/profiles/case?experiment=1&case=1&host=%80", 400),
    ("/" + 5000 * "a", 414),
    ("/api/hosts/" + 5000 * "a", 414),
    ("/assets/" + 5000 * "a", 414),
    ("/?" + 17000 * "a", 414),
    ("/api/experiments/1/log?after=9223372036854775808", 422),
    ("/api/experiments/1/log?after=-1", 422),
    ("/api/experiments/1/log?after=" + 4000 * "9", 422),
    ("/api/experiments/1/log?limit=99999999999999999999", 422),
    ("/api/experiments/99999999999999999999", 422),
    ("/api/boots/2147483648", 422),
    ("/api/blobs/" + 100 * "a", 404),
    ("/api/blobs/..%2f..%2fetc%2fpasswd", 404),
    ("/" + 300 * "a", 200),
    ("/" + 40 * "..%2f" + "etc/passwd", 200),
    ("/api/hosts/%F0%9F%92%A9", 404),
]


@pytest.mark.parametrize(("target", "status"), ODD_TARGETS)
def test_an_odd_address_is_no_error_of_ours(
    engine: Engine, home: Path, target: str, status: int
) -> None:
    (home / "dist" / "assets").mkdir(parents=True)
    (home / "dist" / "index.html").write_text("the dashboard")
    service = create_app(engine, web_root=home / "dist")
    with client_of(service, bearer(token_of(engine, "viewer"))) as client:
        answer = client.get(target)
    assert answer.status_code == status
    assert len(answer.content) < 1000
    if status == 200:
        assert answer.text == "the dashboard"


def test_the_dashboards_files_are_served_by_their_names(engine: Engine, home: Path) -> None:
    root = home / "dist"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("the dashboard")
    (root / "theme.js").write_text("theme")
    (root / "assets" / "index.js").write_text("code")
    (home / "access-secret").write_text("secret")
    with client_of(create_app(engine, web_root=root)) as client:
        assert client.get("/theme.js").text == "theme"
        assert client.get("/assets/index.js").text == "code"
        assert client.get("/experiments/1").text == "the dashboard"
        for path in ("/..%2faccess-secret", "/assets/..%2f..%2faccess-secret", "/assets/%2e%2e"):
            assert "secret" not in client.get(path).text, path


def test_other_methods_are_405_and_say_which_are_answered(client: TestClient) -> None:
    for method, path, allowed in (
        ("PUT", "/api/experiments", "GET, POST"),
        ("GET", "/api/experiments/1/cancel", "POST"),
        ("DELETE", "/api/boots/1", "GET"),
        ("TRACE", "/api/session", "DELETE, GET, POST"),
    ):
        answer = client.request(method, path)
        assert (answer.status_code, answer.headers.get("allow")) == (405, allowed), path


def test_an_answer_that_needs_a_session_is_kept_by_nobody(client: TestClient) -> None:
    for path in ("/api/experiments", "/api/hosts", "/api/none", "/api/session"):
        assert client.get(path).headers["cache-control"] == "no-store"


def test_a_refusal_is_short_however_long_its_reason(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InvalidInput("spec:1: " + 5_200_000 * "x\x1b", hint="h" * 1_000_000)

    monkeypatch.setattr("mitigauge.measurement.runs.submission.submit_text", refuse)
    answer = client.post("/api/experiments", content="name: x")
    assert answer.status_code == 422
    assert len(answer.content) < 16_000
    problem = answer.json()
    assert problem["message"].startswith("spec:1: x")
    assert "10400008 characters in all" in problem["message"]
    assert "\x1b" not in problem["message"]


def test_an_error_of_ours_shows_nothing_of_our_inside(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("password=hunter2")

    monkeypatch.setattr("mitigauge.reporting.pages.experiments.list_experiments", fail)
    answer = client.get("/api/experiments")
    assert (answer.status_code, answer.json()["error"]) == (500, "Internal")
    assert "hunter2" not in answer.text
    assert "content-security-policy" in answer.headers
    assert "hunter2" in caplog.text


def test_a_database_that_says_nothing_is_a_503(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("select", None, psycopg.OperationalError(""))

    monkeypatch.setattr("mitigauge.reporting.pages.experiments.list_experiments", fail)
    answer = client.get("/api/experiments")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_a_body_over_the_limit_is_refused_before_it_is_read(
    service: FastAPI, engine: Engine
) -> None:
    token = token_of(engine, "submitter")
    with serving(service) as port:
        said = spoken(port, post(token, b"Content-Length: 1073741824\r\n", b""), wait_s=3)
        assert b" 413 " in said[:20]
        chunk = b"10000\r\n" + 0x10000 * b"a" + b"\r\n"
        said = spoken(port, post(token, b"Transfer-Encoding: chunked\r\n", 17 * chunk), wait_s=3)
        assert b" 413 " in said[:20]


def test_a_body_that_comes_too_slowly_is_cut_off(
    service: FastAPI, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_BODY_TIMEOUT_S", "1")
    get_settings.cache_clear()
    token = token_of(engine, "submitter")
    with serving(service) as port, connected(port) as connection:
        begun = time.monotonic()
        connection.sendall(post(token, b"Content-Length: 1000\r\n", b""))
        for _ in range(3):
            time.sleep(0.2)
            connection.sendall(b"a")
        said = heard(connection)
        assert b" 408 " in said[:20]
        assert time.monotonic() - begun < SOON_S


@pytest.mark.parametrize(
    ("path", "host", "length", "status"),
    [
        (b"/api/experiments", b"evil.example", b"10", b"421"),
        (b"/api/experiments?name=%01", b"localhost", b"10", b"400"),
        (b"/api/experiments", b"localhost", b"10", b"401"),
        (b"/api/session", b"localhost", b"10", b"403"),
    ],
)
def test_a_refusal_arrives_also_where_the_body_comes_after_it(
    service: FastAPI, path: bytes, host: bytes, length: bytes, status: bytes
) -> None:
    with serving(service) as port, connected(port) as connection:
        connection.sendall(
            b"POST " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\n"
            b"Content-Type: application/yaml\r\nContent-Length: " + length + b"\r\n\r\n"
        )
        # The answer is there by now, unread. A server that hung up would take it back.
        time.sleep(0.5)
        connection.sendall(b"aaaaa")
        time.sleep(0.2)
        connection.sendall(b"aaaaa")
        time.sleep(0.2)
        assert b" " + status + b" " in connection.recv(65536)[:20]
        # And the connection serves for what comes next.
        connection.sendall(b"GET /api/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 200 " in connection.recv(65536)[:20]


def test_a_refusal_arrives_also_where_the_body_is_far_over_the_limit(
    service: FastAPI, engine: Engine
) -> None:
    token = token_of(engine, "submitter")
    with serving(service) as port, connected(port) as connection:
        connection.sendall(post(token, b"Content-Length: 8000000\r\n", b""))
        for _ in range(8):
            connection.sendall(1_000_000 * b"a")
        assert b" 413 " in connection.recv(65536)[:20]


def test_a_body_of_a_stranger_is_not_waited_for(service: FastAPI) -> None:
    with serving(service) as port:
        begun = time.monotonic()
        said = spoken(port, post("mgt_none", b"Content-Length: 1000\r\n", b"a"), wait_s=4)
        assert b" 401 " in said[:20]
        assert time.monotonic() - begun < SOON_S


def test_headers_that_never_end_are_cut_off(
    service: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_TIMEOUT_S", 1.0)
    with serving(service) as port:
        for begun_with in (b"", b"GET /api/health/live HTTP/1.1\r\nHost: localhost\r\nX-A: "):
            with connected(port) as connection:
                begun = time.monotonic()
                connection.sendall(begun_with)
                assert heard(connection) == b""
                assert time.monotonic() - begun < SOON_S
        endless = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + (64 << 10) * b"a"
        assert b" 400 " in spoken(port, endless)[:20]


def test_a_body_that_trickles_on_after_its_answer_is_cut_off(
    service: FastAPI, engine: Engine, experiment_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADERS_TIMEOUT_S", 1.0)
    token = token_of(engine, "admin")
    path = f"/api/experiments/{experiment_id}/cancel".encode()
    with serving(service) as port, connected(port) as connection:
        connection.sendall(post(token, b"Content-Length: 1000\r\n", b"a", path))
        cut = False
        for _ in range(40):
            time.sleep(0.2)
            try:
                connection.sendall(b"a")
            except OSError:
                cut = True
                break
        assert cut


def test_a_request_with_two_lengths_is_refused_and_is_the_last(
    service: FastAPI, engine: Engine
) -> None:
    token = token_of(engine, "submitter")
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    smuggled = b"0\r\n\r\nGET /api/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(service) as port:
        said = spoken(port, post(token, both, smuggled))
    assert b" 400 " in said[:20]
    assert b"both Content-Length and Transfer-Encoding" in said
    assert said.count(b"HTTP/1.1 ") == 1


def test_half_of_a_body_is_not_waited_for_without_end(
    service: FastAPI, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 such requests were kept open; the framework reads bodies of JSON without a limit."""
    monkeypatch.setenv("MITIGAUGE_BODY_TIMEOUT_S", "1")
    monkeypatch.setattr(server, "GRACE_S", 1)
    get_settings.cache_clear()
    token = token_of(engine, "admin")
    head = post(token, b"Content-Length: 1000\r\n", b"{", b"/api/trends/changes/1/accept")
    with serving(service) as port:
        open_ones = [connected(port) for _ in range(40)]
        begun = time.monotonic()
        for each in open_ones:
            each.sendall(head.replace(b"application/yaml", b"application/json"))
        for each in open_ones:
            heard(each)
            each.close()
        assert time.monotonic() - begun < SOON_S


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def post(token: str, length: bytes, body: bytes, path: bytes = b"/api/experiments") -> bytes:
    return (
        b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/yaml\r\n"
        b"Authorization: Bearer " + token.encode() + b"\r\n" + length + b"\r\n" + body
    )
