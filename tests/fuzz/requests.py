"""Requests that nobody who means well sends, as bytes on the line."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fuzz.mutations import odd_bytes

HOST = b"Host: localhost\r\n"
END = b"Connection: close\r\n\r\n"
JSON = b"Content-Type: application/json\r\n"
OURS = b"Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST
LOGIN = b"POST /api/session HTTP/1.1\r\n" + HOST + JSON + OURS
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
METHODS = (
    b"GET",
    b"HEAD",
    b"POST",
    b"PUT",
    b"DELETE",
    b"PATCH",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"BREW",
)
TARGETS = (
    b"/", b"/api/session", b"/api/experiments", b"/api/experiments/1",
    b"/api/experiments/1/cancel", b"/api/hosts/%00", b"/api/blobs/..%2f..%2fetc%2fpasswd",
    b"/%ff%fe",
    b"/api/hosts/%E2%80%AE", b"/assets/%2e%2e/%2e%2e/x", b"/api/openapi.json", b"*",
    b"//evil.example/",
    b"http://evil.example/", b"/api/profiles/case?experiment=x&case=-1&host=%F0%9F",
    b"/?" + b"a=" * 900,
    b"/api/experiments?before=%00", b"/api/trends?limit=99999999999999999999", b"/api/tables/x",
    b"/assets/", b"/assets/" + b"a" * 300, b"/" + b"a/" * 900, b"/api/series/..;/x",
)  # fmt: skip
HEADERS = (
    b"", b"Authorization: Bearer mgt_" + b"a" * 43, b"Authorization: Bearer \xff\xfe",
    b"Authorization: \xe2\x82\xac", b"Authorization: Bearer mgt_\xc3\xa9", b"Authorization:",
    b"Authorization: Basic x\r\nAuthorization: Basic x", b"Authorization: Bearer " + b"a" * 8000,
    b"Cookie: mitigauge_session=\xff\xfe; mitigauge_session=",
    b'Cookie: mitigauge_session="\\303\\251"',
    b"Cookie: mitigauge_session_80=" + b"x" * 4000, b"Cookie: =;;;=\xf0", b"Range: bytes=-1-,x",
    b"Range: bytes=" + b"0-0," * 1000, b"If-Modified-Since: yesterday", b"If-None-Match: \xff",
    b"Last-Event-ID: \xff", b"Last-Event-ID: 99999999999999999999999", b"Accept: \xff/\xff;q=x",
    b"Accept-Encoding: " + b"gzip;q=2," * 99, b"X-Mitigauge-User: root\r\nX-Mitigauge-Role: admin",
    b"X-Mitigauge-Proxy-Secret: \xe2\x82\xac", b"Upgrade: websocket\r\nConnection: upgrade",
    b"Expect: 100-continue",
    b"Upgrade: h2c\r\nHTTP2-Settings: x", b"Content-Type: \xff",
    b"Content-Type: multipart/form-data",
    b"Origin: \xff", b"Origin: http://[::1", b"Origin: http://localhost:99999999999",
    b"X-Forwarded-For: \xff\xff",
    b"Host: evil.example", b"Bad Name: x", b"\xff: x", b": x", b"X: a\x00b",
    b"Content-Encoding: gzip",
)  # fmt: skip
BODIES = (
    b"", b"{", b"[" * 4000, b'{"token":' * 900, b"\xff\xfe",
    b'{"token": "\xff"}', b'{"token": "\\ud800"}',
    b'{"key": "\\u0000"}', b'{"key": "\xc3\xa9"}', b"null", b"1e999",
    b'{"key": 1e999}', b"\x1f\x8b\x08nothing", b"\xef\xbb\xbf{}",
    b'{"token": "' + b"a" * 5000 + b'"}', b'{"key": ' + b"9" * 4000 + b"}", b"NaN",
    b'{"token": null, "key": null}',
)  # fmt: skip
HOSTS = (
    HOST, b"", b"Host: evil.example\r\n", b"Host: \xff\xfe\r\n", b"Host: [::\r\n",
    b"Host: localhost:99999\r\n",
    b"Host: localhost\r\nHost: localhost\r\n", b"Host:\r\n", b"Host: xn--\xc3\xa9\r\n",
)  # fmt: skip
# What is no request at all.
WHOLE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /\r\n", b"\r\n\r\n\r\n", b"\x00" * 400,
    b"SSH-2.0-x\r\n",
    b"GET / HTTP/9.9\r\n" + HOST + END, b"GET / HTTP/1.1\n" + HOST + END,
    b"GET /\xff HTTP/1.1\r\n" + HOST + END,
    b"GET  / HTTP/1.1\r\n" + HOST + END, GET + b" folded: x\r\n" + END,
    GET + b"X: " + b"a" * 40_000 + b"\r\n" + END,
    GET + b"X: y\r\n" * 3000 + END,
    LOGIN + b"Content-Length: -1\r\n\r\n",
    LOGIN + b"Content-Length: " + b"9" * 50 + b"\r\n\r\n",
    LOGIN + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    LOGIN + b"Transfer-Encoding: gzip, chunked\r\n\r\nx",
    LOGIN + CHUNKED + b"ZZ\r\n\r\n",
    LOGIN + CHUNKED + b"-5\r\n\r\n",
    LOGIN + CHUNKED + b"f" * 40 + b"\r\n\r\n",
    LOGIN + b"Content-Length: 900\r\n\r\n{",
    b"POST /api/experiments HTTP/1.1\r\n" + HOST + JSON + b"Content-Length: 900\r\n\r\n{",
    GET + b"\r\nGET / HTTP/1.1\r\n" + HOST + b"\r\nrubbish\xff\r\n\r\n",
    GET + b"Content-Length: 5\r\n\r\nabc",
)  # fmt: skip


def nonsense(seed: int, most: int) -> Iterator[bytes]:
    """*most* requests: those that are known to be odd, then such by chance, from *seed*."""
    chance = random.Random(seed)
    known = [*WHOLE, *(request(b"GET", b"/api/session", host=each) for each in HOSTS)]
    known += [request(b"GET", target) for target in TARGETS]
    known += [request(b"GET", path, each) for each in HEADERS for path in (b"/", b"/api/session")]
    known += [request(b"POST", b"/api/session", JSON + OURS.rstrip(), body=b) for b in BODIES]
    yield from known[:most]
    for _ in range(most - len(known)):
        one = request(
            chance.choice(METHODS), chance.choice(TARGETS), chance.choice(HEADERS),
            host=chance.choice(HOSTS) if chance.random() < 0.2 else HOST,
            body=chance.choice(BODIES), extra=chance.choice((b"", JSON, JSON + OURS)),
        )  # fmt: skip
        yield odd_bytes(chance, one) if chance.random() < 0.5 else one


def request(
    method: bytes, target: bytes, header: bytes = b"", *, host: bytes = HOST, body: bytes = b"",
    extra: bytes = b"",
) -> bytes:  # fmt: skip
    """One request, with its length where it has a body."""
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    lines = header.rstrip(b"\r\n") + b"\r\n" if header else b""
    return method + b" " + target + b" HTTP/1.1\r\n" + host + lines + extra + length + END + body
