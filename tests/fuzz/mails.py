"""Changed mails, patches and mailboxes through the one reader, in its process, as in production.

One input of the harness is a folder of :data:`FILES` files, each changed by itself: the reader
takes several at once, and what is wrong with one must not touch those beside it.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.mails.files import read_files
from mitigauge.kernels.mails.mail import LARGEST_MAIL, Mail
from mitigauge.kernels.patch import patch_in
from mitigauge.kernels.patch_files import read_patches
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.request import request_in, signature_of, why_unanswered
from tests.fuzz.mutations import odd_bytes

SHARE = 0.1
FILES = 25
SHORT = 20
# Of all files of a folder together, in the reader's processes, and here.
SECONDS = 2.0
TESTS = REPOSITORY / "tests"
SEEDS = [
    file.read_bytes()
    for folder in (TESTS / "series", TESTS / "fixtures" / "cases")
    for file in sorted(folder.rglob("*"))
    if file.suffix in {".patch", ".eml", ".mbox"}
]
BEGIN = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
HEADS = [
    b"Subject: =?utf-8?b?a?=",
    b"Subject: [PATCH v5.10 1/2] x",
    b"Subject: [net,v2,2/2] x",
    b"Subject: [PATCH 0/99999999999999] x",
    b"Subject: " + b"[" * 300,
    b"Subject: =?punycode?q?a-b?=",
    b"From: " + b"(" * 500,
    b'From: "',
    b"From: a@b, <",
    b"From: =?utf-8?q?=00=1b?= <a@b.c>",
    b"Date: 99 99 9999 99:99:99 +9999",
    b"Message-ID: <",
    b"References: <a@b> <<>>",
    b"In-Reply-To: <a@b>",
    b"Content-Type: multipart/mixed; boundary=b",
    b'Content-Type: multipart/mixed; boundary=""',
    b"Content-Type: message/rfc822",
    b"Content-Type: text/html",
    b"Content-Type: /",
    b"Content-Type: text/plain; charset=punycode",
    b"Content-Type: text/plain; charset=utf-16",
    b"Content-Type: text/plain; charset=iso-2022-jp",
    b"Content-Transfer-Encoding: base64",
    b"Content-Transfer-Encoding: quoted-printable",
    b"Precedence: bulk",
    b"Return-Path: <>",
    b"X-Developer-Signature: v=1; b=QUJD",
    b" folded",
    b": none",
    b"\xff: x",
    b"A" * 3000 + b": x",
]
LINES = [
    b"diff --git a/x b/x",
    b"diff --git a/x y b/x y",
    b'diff --git "a/x" "b/x"',
    b"--- a/x",
    b"+++ b/x",
    b"--- /dev/null",
    b"+++ /dev/null",
    b"--- a/../../x",
    b"@@ -1 +1 @@",
    b"@@ -0,0 +1,99999 @@",
    b"@@ -999999999,999999999 +1 @@",
    b"@@@ -1 -1 +1 @@@",
    b"new file mode 0120000",
    b"old mode 100644",
    b"index 1111111..2222222 160000",
    b"similarity index 100%",
    b"rename from a/b",
    b'rename to "x',
    b"GIT binary patch",
    b"Binary files a and b differ",
    b"\\ No newline at end of file",
    b"-- ",
    b"---",
    b"From x Mon Sep 17 00:00:00 2001",
    b"From the manual",
    b">From x",
    b"--b",
    b"--b--",
    b"",
    b" ",
    b"+",
    b"-",
    b"#mitigauge test",
    b"#mitigauge test base 7.2",
    b"\0",
    b"\x1b[2J",
    b"=3D=",
    b"change-id: x-1234",
]

Change = Callable[[random.Random, bytes], bytes]


def once(rng: random.Random, scratch: Path) -> str:
    """A folder; whether its last file was refused or taken."""
    folder = scratch / "mails"
    folder.mkdir()
    for number in range(FILES):
        suffix = rng.choice(["patch", "eml", "mbox"])
        (folder / f"{number:02}.{suffix}").write_bytes(_changed(rng))
    began, before = time.process_time(), _children_s()
    word = "refused"
    for sent in read_files(folder):
        word = _looked_at(sent.mail)
    took, read = time.process_time() - began, _children_s() - before
    assert took < SECONDS, f"{took:.2f} s here"
    assert read < SECONDS, f"{read:.2f} s in its processes"
    if rng.random() < 0.1:
        with suppress(MitigaugeError):
            read_patches([folder / name for name in sorted(p.name for p in folder.iterdir())[:3]])
    return word


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _looked_at(mail: Mail) -> str:
    """All that is ever asked of a mail."""
    # What ended the reader would be a limit that it ran into.
    for words in ("took more than", "needed more than", "killed", "signal", "did not end"):
        assert words not in mail.fault, mail.fault
    request_in(mail)
    why_unanswered(mail, ("robot@example.com",), asks=True)
    signature_of(mail)
    for text in (mail.subject, mail.sender.written, mail.body, *mail.attached, *mail.left_out):
        text.encode()
    with suppress(InvalidInput):
        revisions([mail])
    try:
        patch = patch_in(mail, "a mail")
    except InvalidInput:
        return "refused"
    if patch is None:
        return "refused"
    patch.text.encode()
    assert patch.files
    assert all(".." not in path.split("/") and path[0] not in "/~" for path in patch.files)
    return "taken"


def _changed(rng: random.Random) -> bytes:
    content = rng.choice(SEEDS)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
        content = rng.choice(CHANGES)(rng, content)[: LARGEST_MAIL + 9]
    return content


def _bytes(rng: random.Random, content: bytes) -> bytes:
    return odd_bytes(rng, content)


def _head(rng: random.Random, content: bytes) -> bytes:
    heads, _, body = content.partition(b"\n\n")
    lines = heads.split(b"\n")
    for _ in range(rng.choice([1, 1, 3])):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(HEADS))
    return b"\n".join(lines) + b"\n\n" + body


def _line(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 2, 5])):
        at = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0:
                lines[at : at + rng.choice([1, 1, 9])] = []
            case 1:
                lines[at:at] = [lines[at][:9999]] * rng.choice([1, 5, 300])
            case _:
                lines.insert(at, rng.choice(LINES))
        lines = lines or [b""]
    return b"\n".join(lines)


def _parts(rng: random.Random, content: bytes) -> bytes:
    """The same inside of parts, as deep as it likes."""
    heads, _, body = content.partition(b"\n\n")
    for depth in range(rng.choice([1, 2, 9, 60])):
        kind = rng.choice([b"text/plain", b"text/html", b"text/x-patch", b"x/y; name=a.patch"])
        body = b"--b%d\nContent-Type: %b\n\n%b\n--b%d--\n" % (depth, kind, body, depth)
        inner = b"Content-Type: multipart/mixed; boundary=b%d\n\n" % depth
        body = inner + body
    return heads + b"\n" + body


def _mailbox(rng: random.Random, content: bytes) -> bytes:
    others = [content, *rng.choices(SEEDS, k=rng.choice([1, 2, 8]))]
    rng.shuffle(others)
    return b"".join((BEGIN if rng.random() < 0.9 else b"From x\n") + mail for mail in others)


def _large(rng: random.Random, content: bytes) -> bytes:
    """Now and then as large as a mail may be, of one thing."""
    if rng.random() > 0.01:
        return content
    unit = rng.choice([*HEADS, *LINES, b"(", b"=?a?b?", b"a@b,"]) + rng.choice(
        [b"", b"\n", b"\r\n"]
    )
    return (rng.choice([b"", content + b"\n"]) + unit * (LARGEST_MAIL // max(1, len(unit))))[
        :LARGEST_MAIL
    ]


CHANGES: list[Change] = [_bytes, _head, _head, _line, _line, _line, _parts, _mailbox, _large]
