"""Who answers for another machine is told nothing: TLS to all that the service asks elsewhere."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import Settings
from mitigauge.reporting.deliveries.states import DeliveryState
from mitigauge.storage.files import blobs
from mitigauge.storage.files.blobs import BlobStore, blob_store
from pipelines.adapters.archive import Archive, ArchiveAway, Validators
from pipelines.adapters.mail import hand_over
from tests.lab.certificates import Authority, Issued
from tests.mail_server import mail_server

WHO = "somebody@example.org"
FEED = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>toys</title></feed>'
# Who certified the machine that answers, and for which name.
IMPOSTORS = ["another authority", "another name"]


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """The one that this process trusts."""
    ours = Authority(tmp_path / "ours")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours.ca_file))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    return ours


def issued(kind: str, authority: Authority, directory: Path) -> Issued:
    """A certificate for loopback as the operator's authority issues it, or another *kind*."""
    if kind == "another name":
        return authority.issue("mail.example.org")
    other = authority if kind == "ours" else Authority(directory / kind)
    return other.issue("127.0.0.1")


def context(shown: Issued) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(shown.certificate, shown.key)
    return tls


@contextmanager
def https(shown: Issued) -> Iterator[tuple[str, list[str]]]:
    """A server that answers everything with an empty feed; its address, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(FEED)))
            self.end_headers()
            self.wfile.write(FEED)

        do_PUT = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that hangs up on a certificate

    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context(shown).wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


def mail() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "robot@example.com", WHO, "x"
    message.set_content("a secret\n")
    return message


def test_a_mail_server_that_the_authority_names_gets_the_mail(
    authority: Authority, tmp_path: Path
) -> None:
    with mail_server(tls=context(issued("ours", authority, tmp_path))) as server:
        told = hand_over(mail(), [WHO], f"127.0.0.1:{server.port}")
        assert told[WHO].state is DeliveryState.TAKEN
        assert len(server.handler.mails) == 1


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_a_mail_server_with_another_certificate_gets_nothing(
    kind: str, authority: Authority, tmp_path: Path
) -> None:
    """The mail waits: a person sees the reason, and nobody between reads it."""
    with mail_server(tls=context(issued(kind, authority, tmp_path))) as server:
        told = hand_over(mail(), [WHO], f"127.0.0.1:{server.port}")
        assert told[WHO].state is DeliveryState.LATER
        assert "certificate verify failed" in told[WHO].said
        assert server.handler.mails == []


def test_a_mail_server_without_encryption_gets_nothing() -> None:
    """Somebody between can take the offer of STARTTLS away."""
    with mail_server() as server:
        told = hand_over(mail(), [WHO], f"127.0.0.1:{server.port}")
        assert told[WHO].state is DeliveryState.LATER
        assert "STARTTLS" in told[WHO].said
        assert server.handler.mails == []


def test_an_archive_that_the_authority_names_is_read(authority: Authority, tmp_path: Path) -> None:
    with https(issued("ours", authority, tmp_path)) as (address, asked):
        assert Archive(f"{address}/toys").new(Validators()) == ([], Validators())
        assert asked == ["/toys/new.atom"]


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_an_archive_with_another_certificate_is_asked_nothing(
    kind: str, authority: Authority, tmp_path: Path
) -> None:
    with https(issued(kind, authority, tmp_path)) as (address, asked):
        for ask in (Archive(f"{address}/toys").new, Archive(f"{address}/toys").thread):
            with pytest.raises(ArchiveAway, match=r"(?i)certificate"):
                ask(Validators() if ask.__name__ == "new" else "a@b")  # type: ignore[operator]
        assert asked == []


def bucket(address: str, monkeypatch: pytest.MonkeyPatch, name: str) -> BlobStore:
    for variable, value in {
        "ENDPOINT_URL": address, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret",
        "REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"AWS_{variable}", value)
    monkeypatch.setattr(blobs, "_PATIENCE", timedelta(seconds=2))
    return blob_store(Settings(blobs_url=f"s3://raw/{name}"))


def test_a_bucket_that_the_authority_names_is_asked(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with https(issued("ours", authority, tmp_path)) as (address, asked):
        # It is no bucket, which is found out after it was believed.
        with pytest.raises(NotReady, match="ETag"):
            bucket(address, monkeypatch, tmp_path.name).put(b"a result")
        assert len(asked) == 1


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_a_bucket_with_another_certificate_gets_nothing(
    kind: str, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with https(issued(kind, authority, tmp_path)) as (address, asked):
        with pytest.raises(NotReady, match="shows a certificate that is not trusted") as refused:
            bucket(address, monkeypatch, tmp_path.name).put(b"a result")
        assert "SSL_CERT_FILE" in refused.value.hint
        assert asked == []
