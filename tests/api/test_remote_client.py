"""The command's client: to whom the token goes, and a sentence for everything that goes wrong."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from cli import source
from cli.remote import choice
from cli.remote.address import ServerAddress
from cli.remote.client import Client
from cli.remote.faults import Away, ForeignServer, Problem
from cli.remote.pieces import whole_lines
from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.settings import get_settings
from mitigauge.core.version import VERSION
from mitigauge.jobs.schemas import JobView
from tests.clients import token_of
from tests.ports import free_port
from tests.serving import serving

TOKEN = "mgt_" + 43 * "a"


@dataclass
class Answering:
    """A small HTTP server: what it answers by path, and what it was sent."""

    answers: Mapping[str, tuple[int, Mapping[str, str], bytes]]
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def answering(
    answers: Mapping[str, tuple[int, Mapping[str, str], bytes]], tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Answering, int]]:
    """A server with those answers; gives it and its port."""
    held = Answering(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.asked.append((self.path, self.headers.get("Authorization")))
            nothing: tuple[int, Mapping[str, str], bytes] = problem(404, "HTTP", "nothing there")
            status, headers, body = held.answers.get(self.path.partition("?")[0], nothing)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield held, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


def as_json(status: int, said: object) -> tuple[int, Mapping[str, str], bytes]:
    return status, {"Content-Type": "application/json"}, json.dumps(said).encode()


def problem(status: int, error: str, message: str) -> tuple[int, Mapping[str, str], bytes]:
    said = {"error": error, "message": message, "hint": "do so", "request_id": "abc123"}
    return as_json(status, said)


def live(version: str | None = VERSION) -> tuple[int, Mapping[str, str], bytes]:
    said = {"status": "alive"} | ({"version": version} if version else {})
    return as_json(200, said)


CLIENTS: list[Client] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def client_at(port: int, token: str = TOKEN, scheme: str = "http", ca_file: str = "") -> Client:
    client = Client(ServerAddress.read(f"{scheme}://127.0.0.1:{port}"), token, ca_file)
    CLIENTS.append(client)
    return client


def refused(client: Client, path: str = "/api/jobs") -> MitigaugeError:
    with pytest.raises(MitigaugeError) as error:
        client.get(path, list[JobView])
    return error.value


@pytest.mark.parametrize("token", ["", TOKEN])
def test_without_a_token_that_is_valid_it_says_how_to_get_one(service: FastAPI, token: str) -> None:
    with serving(service) as port:
        error = refused(client_at(port, token))
    assert isinstance(error, Problem)
    assert error.status == 401
    assert "`mitigauge token create NAME --role submitter`" in error.hint
    assert "MITIGAUGE_TOKEN_FILE" in error.hint
    assert f"[http://127.0.0.1:{port}, request " in error.hint


def test_the_service_is_asked_with_the_token(service: FastAPI, engine: Engine) -> None:
    with serving(service) as port:
        client = client_at(port, token_of(engine, "viewer"))
        assert client.get("/api/jobs", list[JobView]) == []
        assert client.version == VERSION
        error = refused(client, "/api/jobs/7")
        assert (error.message, error.status) == ("there is no job 7", 404)


def test_what_the_service_refuses_is_said_with_the_id_of_the_request() -> None:
    answers = {"/api/health/live": live(), "/api/jobs": problem(409, "Conflict", "it is so")}
    with answering(answers) as (_, port):
        error = refused(client_at(port))
    assert (error.message, error.status) == ("it is so", 409)
    assert error.hint == f"do so [http://127.0.0.1:{port}, request abc123]"


def test_a_refused_connection_is_said() -> None:
    port = free_port()
    error = refused(client_at(port))
    assert isinstance(error, Away)
    assert error.message.startswith(f"http://127.0.0.1:{port} does not answer: ")


def test_a_page_in_place_of_json_is_no_service_and_gets_no_token() -> None:
    page = (200, {"Content-Type": "text/html; charset=utf-8"}, b"<h1>Log in</h1>")
    with answering({"/api/health/live": page, "/api/jobs": page}) as (server, port):
        error = refused(client_at(port))
    assert "is no Mitigauge service, or a proxy stands before it" in error.message
    assert "text/html" in error.message
    assert server.asked == [("/api/health/live", None)]


def test_a_page_that_comes_later_is_said_too() -> None:
    page = (200, {"Content-Type": "text/html"}, b"<h1>Log in</h1>")
    with answering({"/api/health/live": live(), "/api/jobs": page}) as (_, port):
        assert "a proxy stands before it" in refused(client_at(port)).message


def test_no_redirect_is_followed_and_the_token_stays() -> None:
    with answering({"/api/health/live": live(), "/api/jobs": as_json(200, [])}) as (other, there):
        away = (307, {"Location": f"http://127.0.0.1:{there}/api/jobs"}, b"")
        with answering({"/api/health/live": live(), "/api/jobs": away}) as (server, port):
            error = refused(client_at(port))
        assert isinstance(error, ForeignServer)
        assert f"redirects to http://127.0.0.1:{there}/api/jobs" in error.message
        assert server.asked[-1] == ("/api/jobs", f"Bearer {TOKEN}")
        with answering({"/api/health/live": away}) as (server, port):
            refused(client_at(port))
        assert server.asked == [("/api/health/live", None)]
    assert other.asked == []


@pytest.mark.parametrize("status", [404, 405])
def test_an_older_service_without_the_route_is_told_as_one(status: int) -> None:
    answers = {
        "/api/health/live": live("0.0.9"),
        "/api/jobs": problem(status, "HTTP", "there is nothing at /api/jobs"),
    }
    with answering(answers) as (_, port):
        error = refused(client_at(port))
    assert "does not know /api/jobs: its version, 0.0.9, is older" in error.message
    assert VERSION in error.hint


@pytest.mark.parametrize(
    ("version", "remarks"), [(VERSION, 0), ("0.1.77", 0), ("0.2.0", 1), ("1.1.0", 1), (None, 1)]
)
def test_another_version_is_remarked_once(
    version: str | None, remarks: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"/api/health/live": live(version), "/api/jobs": as_json(200, [])}
    with answering(answers) as (_, port):
        client = client_at(port)
        for _ in range(2):
            client.get("/api/jobs", list[JobView])
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("some things may be missing or look different") == remarks


def test_json_of_another_form_is_not_understood_and_more_of_it_is_left_out() -> None:
    answers = {"/api/health/live": live(), "/api/jobs": as_json(200, {"jobs": []})}
    with answering(answers) as (_, port):
        assert "what this command does not understand" in refused(client_at(port)).message


def test_a_certificate_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
         "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    answers = {"/api/health/live": live(), "/api/jobs": as_json(200, [])}
    with answering(answers, tls) as (server, port):
        error = refused(client_at(port, scheme="https"))
        assert "no encrypted connection to https://127.0.0.1" in error.message
        assert "self-signed certificate" in error.message
        assert "MITIGAUGE_SERVER_CA_FILE" in error.hint
        assert server.asked == []
        known = client_at(port, scheme="https", ca_file=str(certificate))
        assert known.get("/api/jobs", list[JobView]) == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert client_at(port, scheme="https").get("/api/jobs", list[JobView]) == []
    with pytest.raises(InvalidInput, match="MITIGAUGE_SERVER_CA_FILE, /nothing, cannot be used"):
        client_at(1, scheme="https", ca_file="/nothing")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://mitigauge.example.org", "https://mitigauge.example.org"),
        ("https://mitigauge.example.org/", "https://mitigauge.example.org"),
        ("HTTPS://Example.org:8443", "https://example.org:8443"),
        ("http://localhost:8600", "http://localhost:8600"),
        ("http://[::1]:8600", "http://[::1]:8600"),
        (" http://127.0.0.1 ", "http://127.0.0.1"),
    ],
)
def test_an_address_is_read(given: str, url: str) -> None:
    assert ServerAddress.read(given).url == url


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("http://mitigauge.example.org", "would get the token unencrypted"),
        ("http://localhost.example.org", "would get the token unencrypted"),
        ("https://user:hunter2@example.org", "has a user or a password in it"),
        ("example.org", "is no address"),
        ("ftp://example.org", "is no address"),
        ("https://", "is no address"),
        ("https://example.org/api", "is no address"),
        ("https://example.org?x=1", "is no address"),
        ("https://example.org:99999", "is no address"),
    ],
)
def test_an_address_that_cannot_be_is_refused(given: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as error:
        ServerAddress.read(given)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("token", ["mgt_a b", "a\nX-Evil: 1", "mgt_é", "a\tb"])
def test_a_token_that_would_break_a_header_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput, match="no token has") as error:
        client_at(1, token)
    assert token not in str(error.value)


def test_pieces_become_whole_lines() -> None:
    pieces = ["a\nb", "", "c\n\nd", "e\n"]
    assert [*whole_lines(pieces)] == ["a\n", "bc\n", "\n", "de\n"]
    assert [*whole_lines(["a", "b"])] == ["ab"]


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch, home: Path) -> list[float]:
    """A service is given; pauses are noted in place of being made."""
    pauses: list[float] = []
    monkeypatch.setattr(source.time, "sleep", pauses.append)
    monkeypatch.setattr(source.time, "monotonic", lambda: sum(pauses))
    monkeypatch.setenv("MITIGAUGE_SERVER", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setattr(choice, "_given", choice.Options())
    get_settings.cache_clear()
    return pauses


def test_a_service_that_is_away_is_waited_for_and_not_for_ever(
    slept: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    left = [Away("away"), Away("away"), Away("away")]

    def asked(_: object) -> str:
        if left:
            raise left.pop()
        return "there"

    assert source.followed_answer(lambda _: "here", asked) == "there"
    assert slept == [0.5, 1.0, 2.0]
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("asked again for 10 minutes") == 1
    assert "the service answers again" in said
    slept.clear()
    with pytest.raises(Away):
        source.followed_answer(
            lambda _: "here", lambda client: client.get("/api/jobs", list[JobView])
        )
    assert max(slept) == source.LONGEST_PAUSE_S
    assert source.PATIENCE_S - 60 < sum(slept) <= source.PATIENCE_S


def test_what_the_service_refuses_is_not_asked_again(slept: list[float]) -> None:
    def asked(_: object) -> str:
        raise Problem(404, "NotFound", "there is none", hint="")

    with pytest.raises(Problem):
        source.followed_answer(lambda _: "here", asked)
    assert slept == []


def test_no_local_database_is_opened_where_a_service_is_given(slept: list[float]) -> None:
    with pytest.raises(choice.LocalOnly):
        source.stored()


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_a_proxy_says_of_a_service_that_starts_is_away(status: int) -> None:
    page = (status, {"Content-Type": "text/html"}, b"<h1>Bad Gateway</h1>")
    with answering({"/api/health/live": page}) as (_, port):
        assert isinstance(refused(client_at(port)), Away)


def test_a_proxy_of_the_environment_does_not_get_the_token_of_this_machines_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {"/api/health/live": live(), "/api/jobs": as_json(200, [])}
    with answering({}) as (proxy, other), answering(answers) as (_, port):
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{other}")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{other}")
        assert client_at(port).get("/api/jobs", list[JobView]) == []
        # It would be used by whoever trusts the environment.
        assert httpx2.get(f"http://127.0.0.1:{port}/").status_code == 404
    assert [authorization for _, authorization in proxy.asked] == [None]
