"""Author, subject and patch of any mail are what `git mailinfo` reads of it.

Mails are made by hypothesis: heads, charsets, encodings, subjects with prefixes, and bodies with
everything that may stand around a patch. Where ours differs, it is said why. Text that says
format=flowed is in a test of its own: git leaves it wrapped.
"""

from __future__ import annotations

import base64
import quopri
import subprocess
from dataclasses import dataclass
from email.header import Header
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mitigauge.kernels.diff import diff_in
from mitigauge.kernels.mails.mail import Mail
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.kernels.mails.subject import patch_subject, title_of
from mitigauge.kernels.patch import patch_in
from tests.series_mails import diff


@dataclass(frozen=True)
class GitInfo:
    """What git says of a mail."""

    author: str
    email: str
    subject: str
    patch: str


def git_info(folder: Path, raw: bytes, charset: str) -> GitInfo:
    """What git says; its patch in *charset*, as git leaves it.

    Ours is in UTF-8, as the kernel's files are: a program that sent it otherwise changed it.
    """
    done = subprocess.run(
        ["git", "mailinfo", "-b", folder / "message", folder / "patch"],
        # As `git mailsplit` gives it each mail.
        input=raw.replace(b"\r\n", b"\n"), capture_output=True, check=True,
    )  # fmt: skip
    heads = dict(line.split(": ", 1) for line in done.stdout.decode().splitlines() if ": " in line)
    patch = (folder / "patch").read_bytes().decode(charset)
    return GitInfo(heads.get("Author", ""), heads.get("Email", ""), heads.get("Subject", ""), patch)


NAMES = st.sampled_from(
    ["Ada Kern", "Łucja Żółć", "Kern, Ada", "O'Neill (work)", "ada", "Jürgen Groß", "山田 太郎"]
)
TITLES = st.sampled_from(
    [
        "fork: call c()", "x86/bugs: Clear the history: twice", "Łódź: mend", "a  b", "mm: [x] y",
        "[net] mm: x", "über: größer als je zuvor, und noch viel länger als eine Zeile im Kopf ist",
        "fork: PATCH it", "Re-add: c()", "fix #1, 50%",
    ]
)  # fmt: skip
PREFIXES = st.sampled_from(
    ["[PATCH] ", "[PATCH v2 1/2] ", "[PATCH 1/2]: ", "[PATCH]", "[PATCH RFC net-next v3 02/10]  ",
     "[RFC][PATCH] ", " [PATCH] : ", "[PATCH]\t"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["Why.\n", "Why.\n\nMore.\n", "Größe, 50 %.\n", "", "a = b\n\n", "From here on.\n",
     "Signed-off-by: Ada Kern <ada@example.org>\n"]
)  # fmt: skip
BETWEEN = st.sampled_from(["---\n", "---\n kernel/fork.c | 2 +-\n\n", "---\nv2: words\n\n"])
# Whoever sends a mail for another names them so. Git takes them for the author; what may run here
# is decided by who sent it.
OTHER = "From: Bo Kern <bo@example.org>\n\n"
IN_BODY = st.sampled_from(["", "", OTHER])
SCISSORS = st.sampled_from(["", "", "Hello.\n\n-- >8 --\n"])
DIFFS = st.lists(
    st.sampled_from(
        [
            diff("kernel/fork.c", "b();", "c();"),
            diff("kernel/exit.c", "ł", "ü = \"=3D\""),
            "diff --git a/mm/x.c b/mm/x.c\nindex 1111111..2222222 100644\n--- a/mm/x.c\n"
            "+++ b/mm/x.c\n@@ -1,4 +1,4 @@\n a\n-b\n+c\n d\n\n",
            "diff --git a/mm/y.c b/mm/y.c\nnew file mode 100644\nindex 0000000..2222222\n"
            "--- /dev/null\n+++ b/mm/y.c\n@@ -0,0 +1 @@\n+" + "x" * 200 + "\n",
        ]
    ),
    min_size=1, max_size=2, unique=True,
)  # fmt: skip
ENDS = st.sampled_from(["", "\n", "\n\n", "-- \n2.47.1\n", "-- \n2.47.1\n\n", "\nbase-commit: 1\n"])
WAYS = st.sampled_from(["8bit", "quoted-printable", "base64"])
CHARSETS = st.sampled_from(["utf-8", "utf-8", "iso-8859-1", "iso-8859-2"])
LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n"])
STRUCTURES = st.sampled_from(["plain", "plain", "mixed", "alternative"])


def encoded_head(text: str, charset: str, *, raw: bool) -> str:
    """*text* in a head: as it is where *raw*, which programs write in UTF-8, else in words."""
    if text.isascii() or raw:
        return text
    return Header(text, charset).encode(maxlinelen=70)


def encoded_body(text: str, way: str, charset: str) -> bytes:
    content = text.encode(charset)
    if way == "base64":
        return base64.encodebytes(content)
    return quopri.encodestring(content) if way == "quoted-printable" else content


@st.composite
def mails(draw: st.DrawFn) -> tuple[bytes, str]:
    """A mail and its charset."""
    name, title, prefix = draw(NAMES), draw(TITLES), draw(PREFIXES)
    body = draw(IN_BODY) + draw(SCISSORS) + draw(WORDS) + draw(BETWEEN)
    body += "".join(draw(DIFFS)) + draw(ENDS)
    charset, way, end = draw(CHARSETS), draw(WAYS), draw(LINE_ENDS)
    try:
        (body + name + title).encode(charset)
    except UnicodeEncodeError:
        charset = "utf-8"
    raw_heads = draw(st.booleans())
    shown = f'"{name}"' if set(name) & set(",()") else name
    if not name.isascii() and not raw_heads:
        shown = encoded_head(name, charset, raw=False)
    heads = [
        f"From: {shown} <ada@example.org>",
        "Date: Mon, 3 Nov 2025 10:00:01 +0000",
        "Message-ID: <m1@example.org>",
        f"Subject: {prefix}{encoded_head(title, charset, raw=raw_heads)}",
        "MIME-Version: 1.0",
    ]
    kind = [f"Content-Type: text/plain; charset={charset}", f"Content-Transfer-Encoding: {way}"]
    content = encoded_body(body, way, charset)
    structure = draw(STRUCTURES)
    if structure != "plain":
        part = ("\n".join(kind) + "\n\n").encode() + content
        kind = [f'Content-Type: multipart/{structure}; boundary="BB"']
        content = b"--BB\n" + part + b"\n--BB--\n"
    whole = "\n".join([*heads, *kind]).encode("utf-8") + b"\n\n" + content
    return (whole.replace(b"\n", end.encode()) if way != "8bit" else whole), charset


def title_as_git_has_it(mail: Mail) -> str:
    subject = patch_subject(mail.subject)
    return subject.title if subject else title_of(mail.subject)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=mails())
def test_a_mail_says_what_git_reads_of_it(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[bytes, str]
) -> None:
    raw, charset = made
    git, mail = git_info(tmp_path_factory.mktemp("mail"), raw, charset), mail_of(raw)
    assert not mail.fault
    if git.email != "bo@example.org":
        assert (mail.sender.address, mail.sender.name) == (git.email, git.author)
    assert mail.sender.address == "ada@example.org"
    patch = patch_in(mail, "a mail")
    assert patch is not None
    # Git keeps words around a diff, which both leave alone when it is applied.
    assert patch.text == diff_in(git.patch).text
    # Git's `-b` keeps brackets that are not of the patch; ours keeps none before a title.
    assert title_as_git_has_it(mail) == title_of(git.subject)
