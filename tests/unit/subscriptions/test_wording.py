"""What a digest says in each form: hostile text stays text, and the signature can be checked."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from mitigauge.access.secret import stored_form
from mitigauge.reporting.letters.weekly.mail import addressed
from mitigauge.reporting.subscriptions.lines import DigestLine
from mitigauge.reporting.subscriptions.signature import new_salt, secret_of, signed_heads
from mitigauge.reporting.subscriptions.wording import Told, body_of, mail_of, text_of
from tests.unit.docs.pages import blocks, page

NOW = datetime(2026, 11, 26, 9, 30, tzinfo=UTC)
BASE = "https://mitigauge.example.org"
HOSTILE = "<!channel> @all [x](http://evil.example) *b* `c` </a> & | a\x1b[31m\nFrom: me\u202e"


def told(*titles: str, base: str = BASE, left_out: int = 0) -> Told:
    lines = [
        DigestLine(id=number, at=NOW, about="regression", title=title, said="new → assigned",
                   path=f"/regressions/{number}")
        for number, title in enumerate(titles, 1)
    ]  # fmt: skip
    return Told(7, "alice", NOW, lines, left_out, base)


def test_json_has_everything_for_programs() -> None:
    body = json.loads(body_of(told("Regression 1", HOSTILE, left_out=3)))
    assert (body["id"], body["left_out"]) == (7, 3)
    first, second = body["notices"]
    assert first == {
        "id": 1, "at": "2026-11-26T09:30:00+00:00", "about": "regression",
        "title": "Regression 1", "said": "new → assigned", "url": f"{BASE}/regressions/1",
    }  # fmt: skip
    assert second["title"] == HOSTILE
    assert json.loads(body_of(told("x", base="")))["notices"][0]["url"] == ""


def test_without_an_address_of_the_dashboard_there_are_no_links() -> None:
    assert b"http" not in body_of(told("Regression 1", base=""))
    assert "http" not in text_of(told("Regression 1", base=""))


def test_a_mail_says_what_it_is_who_wanted_it_and_how_it_ends() -> None:
    mail = mail_of(
        told("Regression 1"), sender=addressed("M <m@example.org>"), to=addressed("a@example.org")
    )
    assert mail["Subject"] == "[Mitigauge] Regression 1: new → assigned"
    assert mail["List-Unsubscribe"] == f"<{BASE}/?tab=subscriptions>"
    assert mail["Auto-Submitted"] == "auto-generated"
    text = mail.get_content()
    assert f"  {BASE}/regressions/1" in text
    assert "alice subscribed to this" in text
    again = mail_of(
        told("Regression 1"), sender=addressed("M <m@example.org>"), to=addressed("a@example.org")
    )
    assert mail.as_bytes() == again.as_bytes()


def test_of_several_things_the_subject_says_how_many() -> None:
    mail = mail_of(
        told("a", "b", left_out=8), sender=addressed("m@example.org"), to=addressed("a@example.org")
    )
    assert mail["Subject"] == "[Mitigauge] 10 things you wanted to hear of"
    assert "and 8 more." in mail.get_content()


def test_hostile_text_makes_no_head_of_a_mail_and_no_line_of_its_own() -> None:
    mail = mail_of(
        told(HOSTILE), sender=addressed("m@example.org"), to=addressed("a@example.org")
    )  # fmt: skip
    assert "\n" not in mail["Subject"]
    assert mail.get_all("From") == [mail["From"]]
    assert not any(line.startswith("From: me") for line in mail.get_content().splitlines())


def test_the_code_of_the_page_takes_what_is_genuine_and_nothing_else(home: Path) -> None:
    [code] = [b.text for b in blocks(page("docs/trends.md")) if b.language == "python"]
    said: dict[str, Any] = {}
    exec(code, said)
    read, secret, body = said["read"], secret_of(new_salt()), body_of(told(HOSTILE))
    now = datetime.now(UTC)
    heads = signed_heads([secret_of("another"), secret], "digest_7", body, now)
    assert heads["webhook-id"] == "digest_7"
    assert heads["webhook-signature"].count("v1,") == 2
    assert read(secret, heads, body) == json.loads(body)
    later = str(int(now.timestamp()) + 1)
    for key, changed, content in (
        (secret, heads, body + b" "),
        (secret_of("x"), heads, body),
        (secret, heads | {"webhook-timestamp": later}, body),
        (secret, heads | {"webhook-id": "digest_8"}, body),
        (secret, signed_heads([secret], "digest_7", body, now - timedelta(hours=1)), body),
        (secret, {}, body),
    ):
        with pytest.raises(WebhookVerificationError):
            read(key, changed, content)


def test_a_secret_is_that_of_before_in_the_form_of_standard_webhooks(home: Path) -> None:
    before = stored_form("webhook", "a-salt")
    assert base64.b64decode(secret_of("a-salt").removeprefix("whsec_")).hex() == before


def test_a_secret_follows_from_its_salt_and_the_installations_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    salt = new_salt()
    assert secret_of(salt) == secret_of(salt) != secret_of(new_salt())
    before = secret_of(salt)
    (home / "access-key").write_bytes(bytes(32))
    from mitigauge.access import secret as keys

    keys._key.cache_clear()
    assert secret_of(salt) != before
    keys._key.cache_clear()
