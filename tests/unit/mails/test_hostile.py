"""No mail is too wrong to be read, none takes long, and none harms those beside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails import reader
from mitigauge.kernels.mails.addresses import addresses_in
from mitigauge.kernels.mails.heads import text_of, words_of
from mitigauge.kernels.mails.mail import LARGEST_MAIL
from mitigauge.kernels.mails.mailbox import split
from mitigauge.kernels.mails.reader import mail_of, mails_of, read_all
from mitigauge.storage.files.confinement import Limits
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.request import request_in, signature_of, why_unanswered
from tests.measuring import within_processor_s
from tests.series_mails import mailbox, raw_mail

LARGE = LARGEST_MAIL - 1000
# Of processor time; the process that reads has 2 s of it.
SECONDS = 10.0


def nested(kind: bytes, depth: int) -> bytes:
    """Parts in parts."""
    heads = (b"Content-Type: %b; boundary=b%d\n\n--b%d\n" % (kind, n, n) for n in range(depth))
    return b"".join(heads) + b"\n#mitigauge test\n"


NASTY = {
    "an encoded word that is none": b"Subject: =?utf-8?b?a?=\n\nx",
    "brackets": b"From: " + b"(" * 19_000 + b"\n\nx",
    "brackets and quotes": b"From: " + b'("<' * 6000 + b"\n\nx",
    "commas": b"To: " + b"," * LARGE + b"\n\nx",
    "addresses": b"To: " + b"a@b," * 50_000 + b"\n\nx",
    "encoded words": b"Subject: " + b"=?utf-8?b?4pi6?= " * 10_000 + b"\n\nx",
    "begins of encoded words": b"Subject: " + b"=?a?b?" * 40_000 + b"\n\nx",
    "punycode": b"Content-Type: text/plain; charset=punycode\n\na-" + b"b" * LARGE,
    "punycode in a head": b"Subject: =?punycode?q?a-" + b"b" * 200_000 + b"?=\n\nx",
    "utf-7": b"Content-Type: text/plain; charset=utf-7\n\n" + b"+2AA-" * (LARGE // 5),
    "idna": b"Content-Type: text/plain; charset=idna\n\n" + b"xn--a." * (LARGE // 6),
    "escapes": b"Content-Type: text/plain; charset=unicode_escape\n\n" + b"\\ud800" * (LARGE // 6),
    "shift states": b"Content-Type: text/plain; charset=iso-2022-jp\n\n" + b"\x1b$B" * (LARGE // 3),
    "parts in parts": nested(b"multipart/mixed", 80_000)[:LARGE],
    "mails in mails": b"Content-Type: message/rfc822\n\n" * (LARGE // 31),
    "parts": b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * (LARGE // 4),
    "odd boundaries": b'Content-Type: multipart/mixed; boundary="' + b"(" * 200 + b'"\n\nx',
    "heads": b"A: b\n" * (LARGE // 5),
    "one head": b"Subject: " + b"a" * LARGE,
    "folds": b"Subject: a\n" + b" b\n" * 80_000 + b"\nx",
    "no lines": b"x" * LARGE,
    "ends of lines": b"\n" * LARGE,
    "other ends of lines": b"a: b\r" * (LARGE // 5),
    "base64": b"Content-Transfer-Encoding: base64\n\n" + b"=" * LARGE,
    "quoted-printable": b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=\n" * (LARGE // 2),
    "control characters": b"Subject: x\n\n" + b"\x01" * LARGE,
    "hunks": b"Subject: [PATCH] x\n\n" + b"@@ -1 +1 @@\n" * (LARGE // 12),
    "heads of diffs": b"Subject: [PATCH] x\n\n" + b"diff --git a/x b/x\n" * (LARGE // 20),
    "names of diffs": b"Subject: [PATCH] x\n\n--- a/" + b" 1" * (LARGE // 2) +
 b"\n+++ b\n@@ -1 +1 @@\n",
    "a date": b"Date: " + b"9" * 5000 + b"\n\nx",
    "ids": b"References: " + b"<" * 200_000 + b"\nMessage-ID: " + b"<a@b>" * 9000 + b"\n\nx",
    "no text": b"\0\xff\xfe",
    "nothing": b"",
    "begins": b"From a Mon Sep 17 00:00:00 2001\n" * 1000,
}  # fmt: skip


@pytest.mark.parametrize("raw", NASTY.values(), ids=NASTY)
def test_a_mail_of_any_shape_is_read_in_time_and_raises_nothing(raw: bytes) -> None:
    with within_processor_s(SECONDS):
        mail = mail_of(raw)
        assert not mail.fault or "256 KiB" in mail.fault or "heads" in mail.fault
        for text in (mail.subject, mail.body, *mail.attached, mail.message_id):
            text.encode()
        request_in(mail)
        why_unanswered(mail, (), asks=True)
        signature_of(mail)
        with suppress(InvalidInput):
            revisions([mail])


def test_begins_of_mailboxes_are_found_in_time() -> None:
    words = b"From " + b"a 1:00:00 " * 19 + b"\n"
    with within_processor_s(SECONDS):
        assert len(list(split(b"From x Mon Sep 17 00:00:00 2001\na: b\n\n" + words * 20_000))) == 1


def test_one_bad_mail_spoils_none_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail that ends its process, twice, is set apart; those before and behind it are read."""
    monkeypatch.setattr(reader, "PROGRAM", Path(__file__).with_name("ends_at_evil.py"))
    good = [raw_mail(f"good {number}", "text") for number in range(5)]
    found = read_all([*good[:3], raw_mail("evil", "x"), *good[3:]])
    assert [mail.subject for mail in found if not mail.fault] == [f"good {n}" for n in range(5)]
    assert found[3].fault
    assert found[3].raw


def test_a_mail_that_takes_its_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PROGRAM", Path(__file__).with_name("ends_at_evil.py"))
    monkeypatch.setattr(reader, "LIMITS", Limits(1.0, 300 << 20, 1 << 20, 20.0))
    assert "processor time" in mail_of(raw_mail("slow", "x")).fault
    assert "memory" in mail_of(raw_mail("large", "x")).fault
    assert "more than 1048576 bytes" in mail_of(raw_mail("loud", "x")).fault


def test_mails_that_are_too_large_are_not_read_and_those_behind_are() -> None:
    [large, small] = mails_of(mailbox([raw_mail("large", "x" * LARGEST_MAIL), raw_mail("s", "x")]))
    assert "larger than 4 MiB" in large.fault
    assert small.subject == "s"


def test_what_is_not_read_of_a_mail_is_named() -> None:
    deep = mail_of(nested(b"multipart/mixed", 20))
    assert "parts that lie more than 8 deep" in deep.left_out
    many = mail_of(b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\ntext\n" * 500)
    assert "its parts after the first 100" in many.left_out
    assert "texts after the first 10" in many.left_out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"Two, One" <a@x.org>, b@x.org', [("Two, One", "a@x.org"), ("", "b@x.org")]),
        ("One (of (two)) <A@X.org>", [("One", "a@x.org")]),
        ("a@x.org (One)", [("One", "a@x.org")]),
        ("team: a@x.org, b@x.org;", [("", "a@x.org"), ("", "b@x.org")]),
        (r'"Q \" it" <a@x.org>', [('Q " it', "a@x.org")]),
        ("<b> One <a@x.org>", [("<b> One", "a@x.org")]),
        ("nobody", []),
        ("a@x.org <evil", []),
    ],
)
def test_addresses(text: str, found: list[tuple[str, str]]) -> None:
    assert addresses_in(text) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("=?utf-8?q?gr=C3=B6=C3=9Fe?= x", "größe x"),
        ("=?UTF-8?B?w4Q=?= =?utf-8?b?w5Y=?=", "ÄÖ"),
        # One character, cut in two.
        ("=?utf-8?b?4pg=?= =?utf-8?b?ug==?=", "\N{WHITE SMILING FACE}"),
        ("a =?iso-8859-1?q?=E4?= b", "a ä b"),
        ("=?utf-8?b?a?= rest", "=?utf-8?b?a?= rest"),
        ("=?nonsense?q?a_b?=", "a b"),
    ],
)
def test_encoded_words(text: str, said: str) -> None:
    assert words_of(text) == said


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "unicode_escape", "zlib", "x"])
def test_a_charset_of_no_mail_is_not_asked(charset: str) -> None:
    assert text_of(b"a-\\ud800+2AA-", charset) == "a-\\ud800+2AA-"


def test_a_diff_of_4_mib_is_taken_in_time() -> None:
    lines = 90_000
    head = f"--- a/x\n+++ b/x\n@@ -1,{lines} +1,{lines} @@\n"
    text = head + f"-{'a' * 20}\n" * lines + f"+{'b' * 20}\n" * lines
    with within_processor_s(SECONDS):
        assert diff_in(text).text == text
    with pytest.raises(InvalidInput, match="more than 200,000 lines"):
        diff_in(text + "\n" * 200_000)
