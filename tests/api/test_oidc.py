"""Single sign-on before a provider that does wrong: who gets in, who does not, and what they read.

The provider is made here, with keys of its own; tests/api/test_oidc_provider.py has a real one.
"""

from __future__ import annotations

import hmac
import json
import logging
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote_plus, urlsplit

import httpx2
import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from sqlalchemy import Engine, text

from api.app import create_app
from api.oidc_provider import ANSWER_LIMIT, KEPT_S, Provider
from mitigauge.access import oidc_people
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.storage.database.engine import transaction
from tests.api.test_access import PROXY, PROXY_SECRET, settings
from tests.audit_entries import entries
from tests.clients import bearer, client_of, token_of
from tests.oidc_made import (
    CLIENT,
    HERE,
    KEY,
    SECRET,
    Answer,
    MadeProvider,
    as_json,
    made_provider,
    new_key,
    settings_of,
)

START, BACK = "/api/session/oidc", "/api/session/oidc/callback"
COOKIE, BEGUN = "mitigauge_session_8600", "mitigauge_session_8600_oidc"
DESCRIPTION = "/.well-known/openid-configuration"


@pytest.fixture
def provider() -> Iterator[MadeProvider]:
    with made_provider() as provider:
        yield provider


@pytest.fixture
def browser(
    provider: MadeProvider, engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    with (
        settings(monkeypatch, **settings_of(provider.issuer)),
        client_of(create_app(engine)) as client,
    ):
        client.follow_redirects = False
        yield client


def sent_to(browser: TestClient, provider: MadeProvider, page: str = "/hosts") -> dict[str, str]:
    """What the browser brings to the provider when a log-in begins."""
    answer = browser.get(f"{START}?next={quote(page, safe='')}")
    assert answer.status_code == 303, answer.text
    address = urlsplit(answer.headers["location"])
    asked = {name: value[0] for name, value in parse_qs(address.query).items()}
    provider.nonce, provider.challenge = asked["nonce"], asked["code_challenge"]
    return asked


def come_back(browser: TestClient, **query: str) -> httpx2.Response:
    return browser.get(BACK, params={"code": "good", **query})


def log_in(browser: TestClient, provider: MadeProvider, page: str = "/hosts") -> httpx2.Response:
    return come_back(browser, state=sent_to(browser, provider, page)["state"])


def refused(answer: httpx2.Response, status: int, why: str) -> str:
    """The hint of a refusal that opens no session."""
    assert answer.status_code == status, answer.text
    assert why in answer.json()["message"], answer.text
    assert answer.json()["hint"]
    assert COOKIE not in answer.headers.get("set-cookie", "")
    assert "Traceback" not in answer.text
    assert SECRET not in answer.text
    return str(answer.json()["hint"])


def run(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


def test_a_log_in_asks_the_provider_for_what_it_needs_and_no_more(
    browser: TestClient, provider: MadeProvider
) -> None:
    asked = sent_to(browser, provider)
    assert asked["response_type"] == "code"
    assert asked["client_id"] == CLIENT
    assert asked["redirect_uri"] == HERE + BACK
    assert asked["code_challenge_method"] == "S256"
    assert asked["scope"] == "openid profile email"
    assert len({asked[name] for name in ("state", "nonce", "code_challenge")}) == 3


def test_a_person_gets_a_session_for_an_hour_and_the_page_that_was_wanted(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    answer = log_in(browser, provider, "/experiments/1?metrics=all")
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == f"{HERE}/experiments/1?metrics=all"
    shown = browser.get("/api/session").json()
    assert (shown["subject"], shown["role"], shown["means"]) == (
        "oidc:alice", "submitter", "session",
    )  # fmt: skip
    [entry] = entries(engine, "session.begin")
    assert (entry.actor, entry.after["role"]) == ("oidc:alice", "submitter")
    run(engine, "update browser_session set expires_at = expires_at - interval '59 minutes'")
    assert browser.get("/api/session").status_code == 200
    run(engine, "update browser_session set expires_at = expires_at - interval '1 minute'")
    ended = browser.get("/api/session")
    assert ended.status_code == 401
    assert ended.json()["hint"].startswith("Log in again: by single sign-on")


def test_its_cookies_are_for_this_services_pages_alone(
    browser: TestClient, provider: MadeProvider
) -> None:
    begun = browser.get(START).headers["set-cookie"]
    for part in ("HttpOnly", "Max-Age=600", "Path=/api/session/oidc", "SameSite=lax"):
        assert part in begun
    session, gone = log_in(browser, provider).headers.get_list("set-cookie")
    for part in (COOKIE, "HttpOnly", "Max-Age=3600", "SameSite=strict"):
        assert part in session
    assert f'{BEGUN}=""' in gone
    assert "Secure" not in begun + session


def test_behind_tls_its_cookies_stay_encrypted(
    provider: MadeProvider, engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"PUBLIC_URL": "https://mitigauge.example.org", "ALLOWED_HOSTS": "mitigauge.example.org"}
    with settings(monkeypatch, **settings_of(provider.issuer, **own)):
        client = client_of(create_app(engine))
        client.follow_redirects = False
        client.base_url = httpx2.URL("https://mitigauge.example.org")
        with client as browser:
            assert "Secure" in browser.get(START).headers["set-cookie"]
            session, _ = log_in(browser, provider).headers.get_list("set-cookie")
            assert session.startswith("mitigauge_session=")
            assert "Secure" in session


def test_a_log_in_under_another_name_of_ours_goes_to_the_one_that_comes_back(
    browser: TestClient, provider: MadeProvider
) -> None:
    elsewhere = {"Host": "127.0.0.1:8600"}
    answer = browser.get(f"{START}?next=/hosts", headers=elsewhere)
    moved = answer.headers["location"]
    assert (answer.status_code, moved) == (303, f"{HERE}{START}?moved=1&next=%2Fhosts")
    assert "set-cookie" not in answer.headers
    # A proxy that puts a name of its own in its place would make that an endless circle.
    hint = refused(browser.get(moved, headers=elsewhere), 409, f"log-ins begin at {HERE}")
    assert "Host header" in hint
    refused(browser.get(START, headers={"Host": "evil.example"}), 421, "not known as")


@pytest.mark.parametrize("page", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_nobody_is_sent_to_another_sites_page(
    page: str, browser: TestClient, provider: MadeProvider
) -> None:
    assert log_in(browser, provider, page).headers["location"] == f"{HERE}/"


# What comes back from the provider.


def test_a_log_in_that_another_browser_began_is_refused(
    browser: TestClient, provider: MadeProvider
) -> None:
    """A link with a stranger's code and state would log the victim in as the stranger."""
    state = sent_to(browser, provider)["state"]
    browser.cookies.clear()
    refused(come_back(browser, state=state), 401, "this browser began no log-in")
    assert provider.times_asked("/token") == 0


@pytest.mark.parametrize("state", ["", "x" * 64, "é"])
def test_another_state_is_refused(state: str, browser: TestClient, provider: MadeProvider) -> None:
    sent_to(browser, provider)
    refused(come_back(browser, state=state), 401, "not to the log-in that this browser began last")
    assert provider.times_asked("/token") == 0


def test_a_cookie_of_ones_own_making_is_refused(
    browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    sealed = browser.cookies[BEGUN]
    browser.cookies.clear()
    browser.cookies.set(BEGUN, sealed[:-1] + ("0" if sealed[-1] != "0" else "1"))
    refused(come_back(browser, state=state), 401, "this browser began no log-in")


def test_a_log_in_comes_back_once(browser: TestClient, provider: MadeProvider) -> None:
    state = sent_to(browser, provider)["state"]
    begun = browser.cookies[BEGUN]
    assert come_back(browser, state=state).status_code == 303
    browser.cookies.clear()
    browser.cookies.set(BEGUN, begun)
    refused(come_back(browser, state=state), 401, "this log-in has ended already")
    assert provider.times_asked("/token") == 1


def test_a_log_in_that_failed_is_not_tried_twice(
    browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    refused(come_back(browser, state=state, code="old"), 401, "refuses this log-in's code")
    refused(come_back(browser, state=state), 401, "this log-in has ended already")


def test_a_log_in_ends_within_ten_minutes(
    browser: TestClient, provider: MadeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = sent_to(browser, provider)["state"]
    # A browser that keeps the cookie for longer than it was told.
    begun = browser.cookies[BEGUN]
    browser.cookies.clear()
    browser.cookies.set(BEGUN, begun)
    now = time.time()
    monkeypatch.setattr("api.oidc.time.time", lambda: now + 601)
    refused(come_back(browser, state=state), 401, "within the last 10 minutes")


def test_notes_of_ended_log_ins_go_when_their_time_is_over(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    log_in(browser, provider)
    run(engine, "update used_log_in set until = now()")
    log_in(browser, provider)
    with engine.connect() as connection:
        assert connection.scalar(text("select count(*) from used_log_in")) == 1


def test_what_the_provider_says_is_wrong_is_shown_cleaned(
    browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    said = {"error": "access_denied", "error_description": "no\u202e <b>\x85entry" + "y" * 900}
    answer = browser.get(BACK, params={"state": state, **said})
    refused(answer, 401, f"{provider.issuer} let nobody in: 'access_denied', 'no")
    assert "\u202e" not in answer.json()["message"]
    assert "\x85" not in answer.json()["message"]
    assert len(answer.json()["message"]) < 600
    assert answer.headers["content-type"] == "application/json"


def test_a_person_reads_a_refusal_as_a_page_in_which_nothing_of_it_runs(
    browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    said = {"state": state, "error": "<script>alert(1)</script>", "error_description": "\"'&"}
    page = {"Accept": "text/html,application/xhtml+xml;q=0.9"}
    answer = browser.get(BACK, params=said, headers=page)
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>Not logged in</h1>" in answer.text
    assert "<script" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    provider.answers[DESCRIPTION] = Answer(b"", 500)
    asked: Provider = browser.app.state.oidc
    asked._metadata.value = None
    away = browser.get(START, headers=page)
    assert away.status_code == 503
    assert f"single sign-on by {provider.issuer} does not work now" in away.text
    for _ in range(10):
        browser.get(BACK, headers=page)
    assert int(browser.get(BACK, headers=page).headers["retry-after"]) > 0


@pytest.mark.parametrize("code", ["", "é", "x" * 4001])
def test_a_code_that_is_none_is_refused(
    code: str, browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    refused(come_back(browser, state=state, code=code), 401, "has no code")
    assert provider.times_asked("/token") == 0


def test_an_answer_of_another_provider_is_refused(
    browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    answer = come_back(browser, state=state, iss="https://evil.example")
    refused(answer, 401, "comes from another provider")
    state = sent_to(browser, provider)["state"]
    assert come_back(browser, state=state, iss=provider.issuer).status_code == 303


def test_answers_to_no_log_in_are_counted_as_wrong_keys(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    for _ in range(10):
        refused(come_back(browser, state="x"), 401, "began no log-in")
    slowed = come_back(browser, state="x")
    assert slowed.status_code == 429
    assert slowed.headers["retry-after"]
    assert browser.get("/api/session", headers=bearer(token_of(engine, "viewer"))).is_success


def test_wrong_tokens_of_an_address_keep_nobody_there_from_logging_in(
    browser: TestClient, provider: MadeProvider
) -> None:
    for _ in range(30):
        browser.get("/api/session", headers=bearer("mgt_" + 43 * "x"))
        come_back(browser, state="x")
    assert browser.get("/api/session", headers=bearer("mgt_" + 43 * "x")).status_code == 429
    state = sent_to(browser, provider)["state"]
    assert come_back(browser, state=state).status_code == 303


def test_log_ins_that_the_provider_refuses_are_slowed(
    browser: TestClient, provider: MadeProvider
) -> None:
    for _ in range(10):
        state = sent_to(browser, provider)["state"]
        refused(come_back(browser, state=state, code=""), 401, "has no code")
    state = sent_to(browser, provider)["state"]
    assert come_back(browser, state=state).status_code == 429


# ID tokens that were not made for this log-in, or by somebody else.


def part(document: object) -> str:
    return urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def unsigned(provider: MadeProvider) -> str:
    return f"{part({'alg': 'none'})}.{part(provider.says())}."


def unsigned_in_other_letters(provider: MadeProvider) -> str:
    return f"{part({'alg': 'NoNe', 'kid': 'first'})}.{part(provider.says())}."


def by_a_shared_secret(provider: MadeProvider, secret: bytes) -> str:
    text = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(provider.says())}"
    seal = hmac.digest(secret, text.encode(), "sha256")
    return f"{text}.{urlsafe_b64encode(seal).decode().rstrip('=')}"


def by_the_public_key(provider: MadeProvider) -> str:
    """As if the public key, which everybody has, were a shared secret."""
    return by_a_shared_secret(provider, KEY.as_pem(private=False))


def by_our_secret(provider: MadeProvider) -> str:
    return by_a_shared_secret(provider, SECRET.encode())


def by_another_key_of_that_name(provider: MadeProvider) -> str:
    return jwt.encode({"alg": "RS256", "kid": "first"}, provider.says(), new_key("first"))


def by_a_key_of_its_own(provider: MadeProvider) -> str:
    """Whose public half is in the token's header."""
    key = new_key("mine")
    header = {"alg": "RS256", "jwk": key.as_dict(private=False)}
    return jwt.encode(header, provider.says(), key)


def changed(provider: MadeProvider) -> str:
    head, _, seal = jwt.encode({"alg": "RS256", "kid": "first"}, provider.says(), KEY).split(".")
    return f"{head}.{part(provider.says() | {'groups': ['kernel-admins']})}.{seal}"


def no_token(provider: MadeProvider) -> str:
    return "nothing"


def too_deep(provider: MadeProvider) -> str:
    return f"{urlsafe_b64encode(b'[' * 90_000).decode().rstrip('=')}.e30.e30"


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        unsigned_in_other_letters,
        by_the_public_key,
        by_our_secret,
        by_another_key_of_that_name,
        by_a_key_of_its_own,
        changed,
        no_token,
        too_deep,
    ],
)
def test_a_forged_id_token_lets_nobody_in(
    forge: Any, browser: TestClient, provider: MadeProvider
) -> None:
    state = sent_to(browser, provider)["state"]
    provider.id_token = forge(provider)
    refused(come_back(browser, state=state), 401, f"the ID token of {provider.issuer} is refused")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"aud": "another", "azp": CLIENT},
        {"aud": [CLIENT, "another"]},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": timedelta(minutes=-2)},
        {"iat": timedelta(minutes=20)},
        {"sub": None},
    ],
)
def test_an_id_token_that_is_not_for_this_log_in_is_refused(
    claims: dict[str, object], browser: TestClient, provider: MadeProvider
) -> None:
    # From now: tests may have been collected an hour ago.
    provider.claims = {
        name: int(time.time() + value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in claims.items()
    }
    refused(log_in(browser, provider), 401, f"the ID token of {provider.issuer} is refused")


def test_a_clock_that_is_a_minute_off_is_no_fault(
    browser: TestClient, provider: MadeProvider
) -> None:
    now = int(time.time())
    for claims in ({"exp": now - 40, "iat": now - 340}, {"iat": now + 50, "exp": now + 350}):
        provider.claims = claims
        assert log_in(browser, provider).status_code == 303


@pytest.mark.parametrize("tokens", [{"access_token": "x"}, {"id_token": 5, "access_token": "x"}])
def test_without_an_id_token_nobody_gets_in(
    tokens: dict[str, object], browser: TestClient, provider: MadeProvider
) -> None:
    provider.answers["/token"] = as_json(tokens)
    refused(log_in(browser, provider), 401, "the provider sent none")


# Keys.


def test_new_keys_of_the_provider_are_read_once(
    browser: TestClient, provider: MadeProvider
) -> None:
    assert log_in(browser, provider).status_code == 303
    assert log_in(browser, provider).status_code == 303
    assert provider.times_asked("/keys") == 1
    provider.key = new_key("second")
    refused(log_in(browser, provider), 401, "No key for kid")
    assert provider.times_asked("/keys") == 2
    provider.published = [KEY, provider.key]
    assert log_in(browser, provider).status_code == 303
    assert provider.times_asked("/keys") == 3
    assert provider.times_asked(DESCRIPTION) == 1


def test_a_key_that_was_taken_back_counts_no_more_after_some_minutes(
    browser: TestClient, provider: MadeProvider
) -> None:
    assert log_in(browser, provider).status_code == 303
    provider.published = [new_key("second")]
    asked: Provider = browser.app.state.oidc
    asked._now = lambda: time.monotonic() + KEPT_S + 1
    refused(log_in(browser, provider), 401, "No key for kid")
    assert provider.times_asked(DESCRIPTION) == 2


def test_keys_that_cannot_be_read_are_no_hindrance(
    browser: TestClient, provider: MadeProvider
) -> None:
    odd = [{"kty": "ML-DSA", "kid": "new"}, {"kty": "RSA"}, {"kty": "EC", "crv": "P-1"}, 5, {}]
    provider.answers["/keys"] = as_json({"keys": [*odd, KEY.as_dict(private=False)]})
    assert log_in(browser, provider).status_code == 303
    asked: Provider = browser.app.state.oidc
    asked._keys.value = None
    provider.answers["/keys"] = as_json({"keys": odd})
    refused(log_in(browser, provider), 503, "it names no key that can be read")


# Providers on a bad day.


def away(browser: TestClient, provider: MadeProvider, why: str) -> str:
    """The hint where nobody can begin to log in."""
    answer = browser.get(START)
    hint = refused(answer, 503, f"single sign-on by {provider.issuer} does not work now")
    assert why in answer.json()["message"]
    assert "set-cookie" not in answer.headers
    return hint


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(b"", 500), "it answered 500"),
        (Answer(b"", 404), "it answered 404"),
        (Answer(b"{}", 302, {"Location": "/keys"}), "redirects, which is not followed"),
        (Answer(b"<html>"), "is no JSON object"),
        (Answer(b"[]"), "is no JSON object"),
        (Answer(b"[" * 500_000), "is no JSON object"),
        (Answer(b" " * (ANSWER_LIMIT + 1)), "more than 1 MiB"),
        (Answer(b"{}", 200, {"Content-Encoding": "gzip"}), "packs its answers"),
        (as_json({"issuer": "https://evil.example"}), "of the issuer 'https://evil.example'"),
        (as_json({}), "of the issuer None"),
    ],
)
def test_a_provider_that_cannot_be_used_is_named(
    answer: Answer, why: str, browser: TestClient, provider: MadeProvider
) -> None:
    provider.answers[DESCRIPTION] = answer
    away(browser, provider, why)
    del provider.answers[DESCRIPTION]
    assert log_in(browser, provider).status_code == 303


@pytest.mark.parametrize(
    "name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]
)
@pytest.mark.parametrize("url", ["http://login.example.org/", "file:///etc/passwd", 5, None])
def test_what_is_not_encrypted_is_not_asked(
    name: str, url: object, browser: TestClient, provider: MadeProvider
) -> None:
    provider.description = {name: url}
    away(browser, provider, f"its {name} is {url!r}")


def test_a_provider_that_is_slow_is_waited_for_ten_seconds_in_all(
    browser: TestClient, provider: MadeProvider
) -> None:
    asked: Provider = browser.app.state.oidc
    assert asked._whole_s == 10
    asked._whole_s = 0.5
    provider.answers[DESCRIPTION] = Answer(b"{}", after_s=20)
    began = time.monotonic()
    assert "log in with a token meanwhile" in away(browser, provider, "did not answer within")
    assert time.monotonic() - began < 5


def test_the_service_begins_and_answers_while_the_provider_is_away(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made_provider() as gone:
        pass
    with (
        settings(monkeypatch, **settings_of(gone.issuer)),
        client_of(create_app(engine)) as browser,
    ):
        away(browser, gone, "failed")
        assert browser.get("/api/session/ways").json() == {"single_sign_on": "single sign-on"}
        assert browser.get("/api/session", headers=bearer(token_of(engine, "viewer"))).is_success


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(b"", 500), "500"),
        (Answer(b"<html>"), "no JSON object with tokens"),
        (Answer(b"[]"), "no JSON object with tokens"),
        (Answer(b"[" * 500_000), "no JSON object with tokens"),
        (Answer(b" " * (ANSWER_LIMIT + 1)), "more than 1 MiB"),
        (as_json({"id_token": "x", "access_token": "x"}, 302), "redirects"),
        (as_json({"error": "invalid_client"}, 401), "does not take this service for its client"),
    ],
)
def test_a_provider_that_answers_a_code_with_nonsense_is_named(
    answer: Answer, why: str, browser: TestClient, provider: MadeProvider
) -> None:
    provider.answers["/token"] = answer
    back = log_in(browser, provider)
    refused(back, 503, f"single sign-on by {provider.issuer} does not work now")
    assert why in back.json()["message"]


def test_our_secret_is_sent_as_the_provider_wants_it(
    browser: TestClient, provider: MadeProvider
) -> None:
    log_in(browser, provider)
    _, form, headers = next(each for each in provider.asked if each[0] == "/token")
    # RFC 6749, 2.3.1: each part is encoded before both are.
    basic = b64decode(headers["Authorization"].removeprefix("Basic ")).decode()
    assert [unquote_plus(each) for each in basic.split(":")] == [CLIENT, SECRET]
    assert "client_secret" not in form
    asked: Provider = browser.app.state.oidc
    asked._metadata.value = None
    provider.description = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    log_in(browser, provider)
    _, form, headers = [each for each in provider.asked if each[0] == "/token"][-1]
    assert form["client_secret"] == SECRET
    assert "Authorization" not in headers


def test_groups_are_asked_for_where_the_provider_offers_that(
    browser: TestClient, provider: MadeProvider
) -> None:
    provider.description = {"scopes_supported": ["openid", "email", "groups"]}
    assert sent_to(browser, provider)["scope"] == "openid email groups"


# Who is who.


def test_groups_may_stand_where_the_provider_is_asked_for_the_person(
    browser: TestClient, provider: MadeProvider
) -> None:
    provider.description = {"userinfo_endpoint": provider.issuer + "/me"}
    provider.claims = {"groups": None}
    assert log_in(browser, provider).status_code == 303
    assert browser.get("/api/session").json()["role"] == "approver"
    # A name, too, where the token has none.
    provider.claims = {"sub": "number-5", "preferred_username": None}
    provider.answers["/me"] = as_json({"sub": "number-5", "preferred_username": "carol"})
    assert log_in(browser, provider).status_code == 303
    assert browser.get("/api/session").json()["subject"] == "oidc:carol"
    provider.claims = {"groups": None}
    provider.answers["/me"] = as_json({"sub": "number-2", "groups": ["kernel-admins"]})
    refused(log_in(browser, provider), 401, "describes another person than it names")


def test_who_is_in_no_group_is_refused_and_the_log_says_so(
    browser: TestClient, provider: MadeProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.claims = {"preferred_username": "bob", "groups": ["cooks"]}
    with caplog.at_level(logging.WARNING):
        hint = refused(log_in(browser, provider), 403, "bob is in no group that may use")
    assert "MITIGAUGE_OIDC_ROLES" in hint
    assert "a log-in was refused" in caplog.text
    assert browser.get("/api/session").status_code == 401


def test_a_group_that_was_taken_away_takes_its_right_from_every_session(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    provider.claims = {"groups": ["kernel-admins", "kernel-team"]}
    log_in(browser, provider)
    first = browser.cookies[COOKIE]
    assert browser.get("/api/session").json()["role"] == "admin"
    provider.claims = {"groups": ["kernel-team"]}
    log_in(browser, provider)
    assert browser.cookies[COOKIE] != first
    for secret in (browser.cookies[COOKIE], first):
        browser.cookies.clear()
        browser.cookies.set(COOKIE, secret)
        assert browser.get("/api/session").json()["role"] == "submitter"
    provider.claims = {"groups": []}
    for _ in range(2):
        refused(log_in(browser, provider), 403, "in no group")
    assert browser.get("/api/session").status_code == 401
    [ended] = entries(engine, "session.end")
    assert (ended.actor, ended.subject) == ("oidc:alice", "all of oidc:alice")


def test_two_people_of_one_name_are_two(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    subjects = []
    for sub in ("number-1", "number-2", "number-1", "number-3"):
        provider.claims = {"sub": sub}
        log_in(browser, provider)
        subjects.append(browser.get("/api/session").json()["subject"])
    assert subjects == ["oidc:alice", "oidc:alice-2", "oidc:alice", "oidc:alice-3"]
    # Somebody whose name is that of another with a number.
    provider.claims = {"sub": "number-4", "preferred_username": "alice-2"}
    log_in(browser, provider)
    assert browser.get("/api/session").json()["subject"] == "oidc:alice-2-2"


def test_whoever_is_renamed_stays_who_they_are(browser: TestClient, provider: MadeProvider) -> None:
    log_in(browser, provider)
    provider.claims = {"preferred_username": "alice.smith"}
    log_in(browser, provider)
    assert browser.get("/api/session").json()["subject"] == "oidc:alice"


def test_a_person_is_no_namesake_of_a_token_or_of_the_operator(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    token_of(engine, "admin", "alice")
    for name in ("alice", "operator"):
        provider.claims = {"sub": name, "preferred_username": name}
        log_in(browser, provider)
        assert browser.get("/api/session").json()["subject"] == f"oidc:{name}"


def test_with_a_proxy_beside_it_each_is_known_in_its_own_way(
    provider: MadeProvider, engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home / "proxy-secret"
    file.write_text(PROXY_SECRET)
    both = settings_of(provider.issuer, PROXY_SECRET_FILE=str(file))
    with settings(monkeypatch, **both), client_of(create_app(engine)) as browser:
        browser.follow_redirects = False
        provider.claims = {"preferred_username": "bob"}
        assert log_in(browser, provider).status_code == 303
        assert browser.get("/api/session").json()["subject"] == "oidc:bob"
        shown = browser.get("/api/session", headers=PROXY).json()
        assert (shown["subject"], shown["role"]) == ("proxy:bob", "viewer")
        shown = browser.get("/api/session", headers=bearer(token_of(engine, "admin", "bob"))).json()
        assert (shown["subject"], shown["role"]) == ("bob", "admin")


def test_another_sites_page_changes_nothing_with_such_a_session(
    browser: TestClient, provider: MadeProvider
) -> None:
    log_in(browser, provider)
    evil = {"Origin": "https://evil.example", "Content-Type": "application/json"}
    assert browser.delete("/api/session", headers=evil).status_code == 403
    ours = evil | {"Origin": HERE}
    assert browser.delete("/api/session", headers=ours).status_code == 204
    assert browser.get("/api/session").status_code == 401


def test_the_page_learns_what_the_button_is_called(
    provider: MadeProvider, engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client_of(create_app(engine)) as browser:
        assert browser.get("/api/session/ways").json() == {"single_sign_on": ""}
        refused(browser.get(START), 404, "single sign-on is not set up here")
        refused(browser.get(BACK), 404, "single sign-on is not set up here")
    named = settings_of(provider.issuer, OIDC_NAME="Example SSO")
    with settings(monkeypatch, **named), client_of(create_app(engine)) as browser:
        assert browser.get("/api/session/ways").json() == {"single_sign_on": "Example SSO"}


def test_an_address_by_which_the_service_is_not_known_is_refused_at_the_start(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = settings_of("https://login.example.org", PUBLIC_URL="https://mitigauge.example.org")
    with settings(monkeypatch, **said), pytest.raises(InvalidInput) as why:
        create_app(engine)
    assert "MITIGAUGE_PUBLIC_URL is 'https://mitigauge.example.org'" in why.value.message
    assert "MITIGAUGE_ALLOWED_HOSTS" in why.value.hint


def test_half_a_configuration_is_refused_at_the_start(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        settings(monkeypatch, **settings_of("https://login.example.org", OIDC_CLIENT_SECRET="")),
        pytest.raises(InvalidInput, match="MITIGAUGE_OIDC_CLIENT_SECRET is missing"),
    ):
        create_app(engine)


def test_an_admin_ends_a_persons_sessions_at_once(
    browser: TestClient, provider: MadeProvider, engine: Engine
) -> None:
    log_in(browser, provider)
    provider.claims = {"sub": "number-2"}
    log_in(browser, provider)
    with transaction(engine) as session:
        oidc_people.end_sessions(session, "oidc:alice")
    assert browser.get("/api/session").json()["subject"] == "oidc:alice-2"
    with transaction(engine) as session:
        oidc_people.end_sessions(session, "oidc:alice-2")
    assert browser.get("/api/session").status_code == 401
    assert [entry.subject for entry in entries(engine, "session.end")] == [
        "all of oidc:alice",
        "all of oidc:alice-2",
    ]
    with transaction(engine) as session, pytest.raises(NotFound, match="stored as 'oidc:bob'"):
        oidc_people.end_sessions(session, "oidc:bob")
