"""Feeds: valid Atom, the same bytes for the same rows, hostile text as text, and who may read."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from mitigauge.core.documents.atom import Feed, FeedEntry, render
from tests import postgres
from tests.api.test_series import stored as store_series
from tests.clients import token_of
from tests.regressions_made import found_regressions

KINDS = ("regressions", "experiments", "series", "weekly")
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script> ]]> &amp; \x00\x1b[31m\ufffe\u202e \"'"
NOW = datetime(2026, 11, 26, 9, 30, 5, 123, tzinfo=UTC)


def basic(password: str, user: str = "reader") -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()}


def read(client: TestClient, kind: str, query: str = "") -> ET.Element:
    answer = client.get(f"/api/feeds/{kind}.atom{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/atom+xml")
    return ET.fromstring(answer.content)


def require_valid(feed: ET.Element) -> None:
    """What RFC 4287 wants of a feed and its entries."""
    assert feed.tag == f"{ATOM}feed"
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            [found] = element.findall(f"{ATOM}{name}")
            assert found.text
        assert (element.findtext(f"{ATOM}id") or "").startswith("tag:")
        said = element.findtext(f"{ATOM}updated") or ""
        assert datetime.fromisoformat(said).tzinfo is not None
        links = [link.attrib for link in element.findall(f"{ATOM}link")]
        assert all(link["href"].startswith("http") for link in links)
        assert len([link for link in links if link["rel"] == "alternate"]) == 1
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in feed.findall(f"{ATOM}entry")]
    assert len(ids) == len(set(ids))


@pytest.fixture
def filled(engine: Engine) -> list[int]:
    numbers = postgres.filled(engine, found_regressions)
    store_series(engine)
    with engine.begin() as connection:
        connection.execute(
            text("""insert into weekly_report
            (week, version, complete, digest, data, document, made_at) values
            ('2026-W47', 1, true, 'x', '{"counts": {}, "found": {"new worse": 2}}', '{}', now())""")
        )
    return numbers


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_feed_is_a_valid_one(client: TestClient, kind: str) -> None:
    feed = read(client, kind)
    require_valid(feed)
    assert feed.findall(f"{ATOM}entry") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_feed_has_what_its_list_has(client: TestClient, filled: list[int], kind: str) -> None:
    feed = read(client, kind)
    require_valid(feed)
    listed = client.get(f"/api/{kind}").json()
    rows = listed if kind in ("series", "weekly") else listed[kind]
    assert len(feed.findall(f"{ATOM}entry")) == len(rows) > 0
    moments = [entry.findtext(f"{ATOM}updated") or "" for entry in feed.findall(f"{ATOM}entry")]
    assert moments == sorted(moments, reverse=True)


def test_filters_are_those_of_the_list(client: TestClient, filled: list[int]) -> None:
    assert len(read(client, "regressions", "?owner=nobody").findall(f"{ATOM}entry")) == 0
    some = read(client, "regressions", "?state=new&owner=")
    assert len(some.findall(f"{ATOM}entry")) == len(filled)
    assert "state=new" in (some.findtext(f"{ATOM}id") or "")
    assert len(read(client, "experiments", "?find=nothing").findall(f"{ATOM}entry")) == 0
    assert client.get("/api/feeds/regressions.atom?statee=new").status_code == 422


@pytest.mark.parametrize("kind", ["regressions", "experiments", "series"])
def test_who_has_it_is_told_so_until_something_changes(
    client: TestClient, engine: Engine, filled: list[int], kind: str
) -> None:
    url = f"/api/feeds/{kind}.atom"
    first = client.get(url)
    again = client.get(url, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    with engine.begin() as connection:
        connection.execute(text("update regression set state = 'confirmed'"))
        connection.execute(text("update experiment set name = name || 'x'"))
        connection.execute(text("update series set title = title || 'x'"))
    changed = client.get(url, headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_hostile_text_is_text() -> None:
    feed = Feed(
        HOSTILE, "/x", "/f?a=b&c=<d>", [FeedEntry("/y?a=1&b=2", HOSTILE, HOSTILE, NOW, "me")]
    )
    body = render(feed, "https://mitigauge.example.org:8443")
    assert b"<script" not in body
    root = ET.fromstring(body)
    require_valid(root)
    [entry] = root.findall(f"{ATOM}entry")
    assert "<script>alert(1)</script> ]]> &amp;" in (entry.findtext(f"{ATOM}title") or "")
    for bad in ("\x00", "\x1b", "\ufffe", "\u202e"):
        assert bad not in body.decode()
    assert entry.findtext(f"{ATOM}id") == "tag:mitigauge.example.org,2026:/y?a=1&b=2"
    assert entry.findtext(f"{ATOM}updated") == "2026-11-26T09:30:05Z"


def test_a_reader_gives_a_token_as_its_password_and_only_for_feeds(
    stranger: TestClient, engine: Engine
) -> None:
    token = token_of(engine, "viewer", "vic")
    url = "/api/feeds/regressions.atom"
    assert stranger.get(url, headers=basic(token)).status_code == 200
    unknown = stranger.get(url)
    assert unknown.status_code == 401
    assert unknown.headers["www-authenticate"].startswith("Basic realm=")
    for wrong in (
        basic("mgt_" + 43 * "a"),
        basic(""),
        {"Authorization": "Basic"},
        {"Authorization": "Basic ////"},
        {"Authorization": "Basic " + b64encode(token.encode()).decode()},
        {"Authorization": "Basic ="},
    ):
        assert stranger.get(url, headers=wrong).status_code == 401, wrong
    # Nowhere else, and not in the address.
    for other in ("/api/regressions", "/api/session"):
        answer = stranger.get(other, headers=basic(token))
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert stranger.get(f"{url}?token={token}").status_code == 401


def test_wrong_passwords_are_counted_as_wrong_tokens_are(stranger: TestClient) -> None:
    codes = [
        stranger.get("/api/feeds/series.atom", headers=basic(f"mgt_{n:043}")).status_code
        for n in range(60)
    ]
    assert codes[0] == 401
    assert codes[-1] == 429
