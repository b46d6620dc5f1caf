"""What a mail asks for, whatever it looks like."""

from __future__ import annotations

import base64

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.tracking.series.request import (
    FORMS,
    RequestKind,
    base_named,
    request_in,
    signature_of,
    why_unanswered,
)
from tests.series_mails import diff, raw_mail

FIX = diff("toys/one.c", "b", "c")
OWN = ("robot@example.com",)


def mail(body: str, *, subject: str = "Re: [PATCH v3 0/5] toys: Mend them", more: str = "",
         sender: str = "One <one@example.org>") -> Mail:  # fmt: skip
    return mail_of(raw_mail(subject, body, sender=sender, ident="r1", more=more))


@pytest.mark.parametrize(
    ("body", "asked", "base"),
    [
        ("#mitigauge test\n", RequestKind.TEST, ""),
        ("Hi,\n\nplease\n\n#mitigauge   test \t\n\nThanks", RequestKind.TEST, ""),
        ("#mitigauge test base 7.2.12-1\n", RequestKind.TEST, "7.2.12-1"),
        ("#mitigauge retest\n", RequestKind.TEST, ""),
        ("#mitigauge which-patch\n", RequestKind.WHICH_PATCH, ""),
        ("#mitigauge select\n", RequestKind.SELECT, ""),
        ("#mitigauge stop", RequestKind.STOP, ""),
        ("#mitigauge test\r\n", RequestKind.TEST, ""),
    ],
)
def test_a_line_of_its_own_asks(body: str, asked: RequestKind, base: str) -> None:
    found = request_in(mail(body))
    assert found is not None
    assert (found.asked, found.base, found.why, found.fix) == (asked, base, "", ())


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Please test this.",
        "> #mitigauge test\n\nNo, wait.",
        ">> #mitigauge stop",
        "one may write #mitigauge test to have it measured",
        "  #mitigauge test",
        "#mitigauges test",
        "#Mitigauge test",
    ],
)
def test_what_is_quoted_or_only_spoken_of_asks_nothing(body: str) -> None:
    assert request_in(mail(body)) is None


def test_our_own_mails_ask_nothing_when_they_are_quoted_without_marks() -> None:
    assert request_in(mail("\n".join(f"  {form}" for form, _ in FORMS))) is None


@pytest.mark.parametrize(
    "line",
    [
        "#mitigauge",
        "#mitigauge tset",
        "#mitigauge test base",
        "#mitigauge test base ../../etc",
        "#mitigauge test base 7.2 7.3",
        "#mitigauge test: git://example.org/linux.git master",
        f"#mitigauge {'x' * 5000}",
    ],
)
def test_what_is_not_understood_is_said_with_the_line(line: str) -> None:
    found = request_in(mail(f"{line}\n"))
    assert found is not None
    assert found.asked == RequestKind.UNCLEAR
    assert line[:40] in found.why
    assert len(found.line) <= 200


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("#mitigauge stop\n#mitigauge test\n", RequestKind.STOP),
        ("> #mitigauge stop\n#mitigauge test\n#mitigauge stop\n", RequestKind.TEST),
        ("#mitigauge nonsense\n#mitigauge test\n", RequestKind.UNCLEAR),
    ],
)
def test_of_two_the_first_that_is_not_quoted_counts(body: str, asked: RequestKind) -> None:
    found = request_in(mail(body))
    assert found is not None
    assert found.asked == asked


@pytest.mark.parametrize(
    "body",
    [
        f"#mitigauge test\n\n{FIX}",
        f"#mitigauge test\n\nThis should do:\n---\n{FIX}-- \n2.47.1\n",
        f"> is it slow?\n#mitigauge test\n{FIX}\n\nRegards,\nOne\n",
        f"#mitigauge test\n{FIX.replace(chr(10), chr(13) + chr(10))}",
    ],
)
def test_an_inline_diff_is_the_same_fix_whatever_stands_around_it(body: str) -> None:
    found = request_in(mail(body))
    assert found is not None
    [fix] = found.fix
    assert (found.asked, fix.text) == (RequestKind.FIX, FIX)
    assert fix.title == "a fix from one@example.org"


def test_a_fix_may_be_for_another_base() -> None:
    found = request_in(mail(f"#mitigauge test base 7.3\n{FIX}"))
    assert found is not None
    assert (found.asked, found.base, len(found.fix)) == (RequestKind.FIX, "7.3", 1)


def test_a_fix_that_is_a_patch_of_its_own_has_its_title() -> None:
    found = request_in(mail(f"#mitigauge test\n---\n{FIX}", subject="[PATCH] toys: Fix it"))
    assert found is not None
    assert [fix.title for fix in found.fix] == ["toys: Fix it"]


@pytest.mark.parametrize("kind", ["text/plain", "text/x-patch", "text/x-diff"])
def test_an_attached_fix_is_taken(kind: str) -> None:
    attached = f"From: One <one@example.org>\nSubject: [PATCH] toys: Fix it\n\nWhy.\n---\n{FIX}"
    body = (
        "--b\nContent-Type: text/plain\n\n#mitigauge test\n"
        f"--b\nContent-Type: {kind}; name=fix.patch\nContent-Disposition: attachment\n"
        f"Content-Transfer-Encoding: base64\n\n{base64.encodebytes(attached.encode()).decode()}"
        "\n--b--\n"
    )
    found = request_in(mail(body, more="Content-Type: multipart/mixed; boundary=b"))
    assert found is not None
    assert [(fix.title, fix.text) for fix in found.fix] == [("toys: Fix it", FIX)]


@pytest.mark.parametrize(
    ("fix", "why"),
    [
        (diff("../etc/passwd", "a", "b"), r"touches '../etc/passwd'"),
        (FIX.replace("100644", "120000"), "symbolic link"),
        (FIX.replace("+c\n", ""), "cut off or damaged"),
        (FIX.replace(" three\n", ""), "cut off or damaged"),
        (FIX.replace("+c", "+c\0"), "NUL byte"),
        (FIX.replace("@@ -1,3 +1,3 @@", "@@ -1,1 +1,3 @@"), "other lines than it says"),
    ],
)
def test_a_bad_fix_is_refused_with_the_reason(fix: str, why: str) -> None:
    found = request_in(mail(f"#mitigauge test\n{fix}"))
    assert found is not None
    assert found.asked == RequestKind.FIX
    assert why in found.why
    assert found.fix == ()


def test_a_quoted_diff_is_no_fix() -> None:
    quoted = "".join(f"> {line}\n" for line in FIX.splitlines())
    found = request_in(mail(f"{quoted}\n#mitigauge test\n"))
    assert found is not None
    assert found.asked == RequestKind.TEST


def test_several_files_and_hunks_are_one_diff_with_empty_context_mended() -> None:
    two = FIX + diff("toys/two.c", "x", "y")
    assert diff_in(f"Hi\n\n{FIX}\nand\n\n{diff('toys/two.c', 'x', 'y')}--\nme\n").text == two
    context = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \n-a\n+b\n"
    assert diff_in(context.replace("\n \n", "\n\n")).text == context
    end = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
    assert diff_in(f"{end}Thanks\n").text == end
    assert diff_in("--- \nno\n+++ diff\n").text == ""
    with pytest.raises(InvalidInput, match="belongs to no diff"):
        diff_in("--- \nno\n+++ diff\n@@ -1 +1 @@\n")


@pytest.mark.parametrize("more", ["Content-Type: text/html", "Content-Type: text/html; charset=x"])
def test_a_mail_of_html_alone_is_not_understood(more: str) -> None:
    found = request_in(mail("<p>#mitigauge test</p>", more=more))
    assert found is not None
    assert found.asked == RequestKind.UNCLEAR
    assert "HTML" in found.why
    assert request_in(mail("<p>hello</p>", more=more)) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\xff#mitigauge test",
        b"Content-Type: text/plain; charset=utf-7\n\n#mitigauge test\n+2AA-\n",
        b"Content-Type: text/plain; charset=unicode_escape\n\n#mitigauge test \\ud800\n",
        b"Content-Type: text/plain; charset=nonsense\n\n\xff\n#mitigauge test\n",
        b"Subject: x\n\n#mitigauge \0test\x1b[2J\n",
        b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\n#mitigauge test\n" * 500,
    ],
)
def test_no_mail_is_too_wrong_to_be_looked_at(raw: bytes) -> None:
    found = request_in(mail_of(raw))
    if found is not None:
        assert "\0" not in found.line + found.why
        assert "\x1b" not in found.line + found.why
        (found.line + found.why + "".join(fix.text for fix in found.fix)).encode()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("Auto-Submitted: auto-replied", "a program"),
        ("Auto-Submitted: no\nAuto-Submitted: auto-generated (vacation)", "a program"),
        ("Precedence: junk", "a program"),
        ("Precedence: auto_reply", "a program"),
        ("Precedence: bulk", "a program"),
        ("X-Autoreply: yes", "a program"),
        ("X-Auto-Response-Suppress: All", "a program"),
        ("X-Loop: robot@example.net", "a program"),
        ("X-Auto-Reply: yes", "a program"),
        ("X-Vacation: yes", "a program"),
        ("Return-Path: <>", "a bounce"),
        ("Content-Type: multipart/report; boundary=b", "a bounce"),
    ],
)
def test_no_program_is_answered(more: str, why: str) -> None:
    sent = mail("#mitigauge test", more=more)
    assert why in why_unanswered(sent, OWN, asks=True)
    if why == "a program":
        assert request_in(sent) is None


PARTS = (
    "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>x</p>\n"
    "--b\n{}\n--b--\n"
)


@pytest.mark.parametrize(
    "part",
    [
        "Content-Type: message/rfc822\n\nFrom: two@example.org\nSubject: x\n\n#mitigauge test\n",
        "Content-Type: text/plain\nContent-Disposition: attachment; filename=log.txt\n\n"
        "#mitigauge test\n",
    ],
)
def test_what_came_with_a_mail_is_not_its_senders_word(part: str) -> None:
    """It is told that only plain text is read."""
    heads = b"From: One <one@example.org>\nSubject: x\nMessage-ID: <m@x>\n"
    found = request_in(mail_of(heads + PARTS.format(part).encode()))
    assert found is not None
    assert (found.asked, "plain text" in found.why) == (RequestKind.UNCLEAR, True)


def test_git_s_own_from_above_a_text_ends_nothing() -> None:
    found = request_in(mail("From: Two <two@example.org>\n\nText.\n\n#mitigauge test\n"))
    assert found is not None
    assert found.asked == RequestKind.TEST


def test_neither_we_nor_nobody_is_answered() -> None:
    own = mail("#mitigauge test", sender="Robot <Robot@example.com>")
    assert "our own" in why_unanswered(own, OWN, asks=True)
    nobody = mail("#mitigauge test", sender="nobody")
    assert "no sender" in why_unanswered(nobody, OWN, asks=True)
    daemon = mail("#mitigauge test", sender="MAILER-DAEMON@example.net")
    assert "a bounce" in why_unanswered(daemon, OWN, asks=True)


@pytest.mark.parametrize("precedence", ["bulk\nList-Id: <toys.example.org>", "list"])
def test_a_person_may_ask_through_a_list(precedence: str) -> None:
    of_list = mail("#mitigauge test", more=f"Precedence: {precedence}\nAuto-Submitted: no")
    assert request_in(of_list) is not None
    assert why_unanswered(of_list, OWN, asks=True) == ""
    assert "a list's" in why_unanswered(of_list, OWN, asks=False)


def test_what_is_signed_is_known_whatever_heads_are_around_it() -> None:
    value = "v=1; a=ed25519-sha256; h=from:subject; bh=AAAA;\n b=QUJDREVG\n R0hJ"
    one = mail("x", more=f"X-Developer-Signature: {value}")
    again = mail_of(one.raw.replace(b"r1@", b"r2@").replace(b"\n R0hJ", b"R0hJ"))
    twice = mail("x", more=f"X-Developer-Signature: {value}\nX-Developer-Signature: {value}")
    other = mail("x", more=f"X-Developer-Signature: {value.replace('QUJD', 'AAAA')}")
    assert len(signature_of(one)) == 64
    assert signature_of(again) == signature_of(twice) == signature_of(one)
    assert signature_of(other) != signature_of(one)
    assert signature_of(mail("x")) == ""


@pytest.mark.parametrize("said", ["7.2", "linux-source-7.2", "7.2.12-1"])
def test_a_base_has_three_names(said: str) -> None:
    assert base_named(said, {"linux-source-7.2": "7.2.12-1"}) == "linux-source-7.2"


def test_another_base_is_none() -> None:
    assert base_named("7.3", {"linux-source-7.2": "7.2.12-1", "linux-source-6.1": ""}) is None


@pytest.mark.parametrize(
    "above",
    [
        "Hello\n-- \n",
        "See below.\n-----Original Message-----\nFrom: One\n\n",
        "----- Original Message -----\n",
        "---------- Forwarded message ----------\nFrom: One\n",
        "---------- Forwarded message ---------\n",
        "-------- Forwarded Message --------\n",
        "FYI\n\nBegin forwarded message:\n\n",
        "Write this:\n```\n",
        "Write this:\n```text\n```js\n",
        "Write this:\n~~~~\n~~~\n",
        "  ```\n",
        "-- \r\n",
        "--\n",
        "--  \n",
        "--\u00a0\n",
        "-----Ursprüngliche Nachricht-----\nVon: Two <two@example.org>\n\n",
        "-----Message d'origine-----\n",
        "-------- Weitergeleitete Nachricht --------\n",
        "----- Forwarded message from Two <two@example.org> -----\n",
        "________________________________\n",
        "From: Two <two@example.org>\nSent: Monday, 30 November 2026\nTo: One\n\n",
        "*Von:* Two <two@example.org>\n*Gesendet:* Montag\n\n",
        "De : Two <two@example.org>\nEnvoyé : lundi\n\n",
        "```\r\n",
    ],
)
def test_what_is_below_a_senders_own_words_or_in_a_fence_asks_nothing(above: str) -> None:
    assert request_in(mail(f"{above}#mitigauge stop\n")) is None
    # Above it the same line asks.
    found = request_in(mail(f"#mitigauge stop\n{above}#mitigauge test\n"))
    assert found is not None
    assert found.asked == RequestKind.STOP


@pytest.mark.parametrize(
    "above",
    ["```\nint a;\n```\n", "~~~ c\n```\n~~~~\n", "---\n", "-- >8 --\n", "> -- \n", "    ```\n",
     "``\n", "> ```\n", "I began: forwarded message: none\n"],
)  # fmt: skip
def test_a_line_behind_a_fence_or_beside_other_marks_asks(above: str) -> None:
    found = request_in(mail(f"{above}#mitigauge stop\n"))
    assert found is not None
    assert found.asked == RequestKind.STOP
