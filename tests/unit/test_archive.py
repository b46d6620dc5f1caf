"""List archives, and everything that one may answer."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.tracking.series.feed import Entry, NoFeed, entries
from pipelines.adapters import archive as module
from pipelines.adapters.archive import Archive, ArchiveAway, Validators, pause_s

FEED = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>toys</title>
<entry><author><name>A</name><email>One@Example.org</email></author>
<title>[PATCH v2 0/3] toys:  Mend them</title>
<link href="http://127.0.0.1/toys/20261101-v2-0%40x@example.org/"/></entry>
<entry><title>no link</title></entry>
</feed>"""

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """A server on loopback that answers every GET by *answer*."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/toys"
        finally:
            server.shutdown()
            thread.join()


def said(status: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_a_feed_has_ids_subjects_and_senders() -> None:
    assert entries(FEED.encode()) == [
        Entry("20261101-v2-0@x@example.org", "[PATCH v2 0/3] toys: Mend them", "one@example.org")
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"rubbish",
        b"<html><body>502</body></html>",
        b"<feed/>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><feed xmlns="http://www.w3.org/2005/Atom">&a;</feed>',
        FEED.encode("utf-16"),
        b'<?xml version="1.0" encoding="x-none"?><feed xmlns="http://www.w3.org/2005/Atom"/>',
        FEED.encode()[:200],
    ],
)
def test_what_is_no_feed_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(NoFeed):
        entries(content)


def test_an_archive_is_asked_whether_anything_is_new() -> None:
    asked = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append(dict(handler.headers))
        if handler.headers.get("If-None-Match") == '"1"':
            said(304)(handler)
        else:
            said(200, FEED.encode(), ETag='"1"', Last_Modified="Mon, 02 Nov 2026 10:00:00 GMT")(
                handler
            )

    with serving(answer) as url:
        first = Archive(url).new(Validators())
        assert first is not None
        found, validators = first
        assert len(found) == 1
        assert validators == Validators('"1"', "Mon, 02 Nov 2026 10:00:00 GMT")
        assert Archive(url).new(validators) is None
    assert "mitigauge" in asked[0]["User-Agent"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said(500), "answered 500"),
        (said(503, Retry_After="120"), "answered 503"),
        (said(429, Retry_After="Mon, 02 Nov 2026 10:00:00 GMT"), "answered 429"),
        (said(302, Location="http://127.0.0.1:1/elsewhere"), "answered 302"),
        (said(200, b"rubbish"), "has no feed"),
        (said(200, b"x" * (9 << 20)), "more than 8 MiB"),
        (lambda handler: handler.connection.close(), "did not answer"),
        (lambda handler: handler.wfile.write(b"rubbish\r\n\r\n"), "did not answer"),
    ],
)
def test_a_bad_answer_is_named(answer: Answer, why: str) -> None:
    with serving(answer) as url, pytest.raises(ArchiveAway, match=why):
        Archive(url).new(Validators())


def test_an_archive_that_is_not_there_is_named() -> None:
    with pytest.raises(ArchiveAway, match=r"127\.0\.0\.1:1/toys did not answer"):
        Archive("http://127.0.0.1:1/toys").new(Validators())


def test_what_it_asks_to_wait_is_kept() -> None:
    with serving(said(503, Retry_After="120")) as url, pytest.raises(ArchiveAway) as away:
        Archive(url).new(Validators())
    assert away.value.retry_after_s == 120


def test_an_answer_that_never_ends_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHOLE_S", 0.5)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b"<")
                handler.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass

    with serving(drip) as url, pytest.raises(ArchiveAway, match="takes longer"):
        Archive(url).new(Validators())


def test_a_thread_comes_unpacked() -> None:
    with serving(said(200, gzip.compress(b"From x\n"))) as url:
        assert Archive(url).thread("<a@example.org>") == b"From x\n"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"rubbish", "is no gzip"),
        (gzip.compress(b"x" * 1000)[:-9], "ends too early"),
        (b"x" * (17 << 20), "more than 16 MiB"),
    ],
)
def test_a_thread_that_is_broken_is_named(body: bytes, why: str) -> None:
    with serving(said(200, body)) as url, pytest.raises(ArchiveAway, match=why):
        Archive(url).thread("a@example.org")


def test_a_small_thread_that_unpacks_without_end_is_left() -> None:
    bomb = gzip.compress(bytes(80 << 20), 9)
    assert len(bomb) < 1 << 20
    with serving(said(200, bomb)) as url, pytest.raises(ArchiveAway, match="over 64 MiB"):
        Archive(url).thread("a@example.org")


def test_a_message_that_the_archive_does_not_have_is_named() -> None:
    with serving(said(404)) as url, pytest.raises(NotFound, match=r"thread of a@example\.org"):
        Archive(url).thread("a@example.org")


@pytest.mark.parametrize("wanted", ["", "x", "a b@c", "../../etc@x/y", "a@b?x=1", "a@b\0", "@"])
def test_what_is_no_message_id_is_asked_of_nobody(wanted: str) -> None:
    with pytest.raises(InvalidInput, match="no message-id"):
        Archive("http://127.0.0.1:1/toys").thread(wanted)


@pytest.mark.parametrize(
    "address", ["", "lore", "file:///etc/passwd", "ftp://x/y", "http://", "http://u:p@x/y"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="no address of an archive"):
        Archive(address)


@pytest.mark.parametrize("address", ["http://lore.example.org/kvm", "http://192.0.2.1/kvm"])
def test_an_archive_elsewhere_is_not_read_unencrypted(address: str) -> None:
    with pytest.raises(InvalidInput, match="unencrypted, from anybody") as refused:
        Archive(address)
    assert "https" in refused.value.hint
    assert Archive(address.replace("http:", "https:"))


def test_an_archive_that_fails_is_asked_less_and_less() -> None:
    assert pause_s(60, 0, 0, 0) == 60
    assert [pause_s(60, n, 0, 0) for n in (1, 2, 3)] == [120, 240, 480]
    assert pause_s(60, 99, 0, 0) == 3600
    assert pause_s(60, 0, 600, 0) == 600
    assert pause_s(60, 0, 10**9, 0) == 86_400
    assert 60 < pause_s(60, 0, 0, 0.5) < 66
