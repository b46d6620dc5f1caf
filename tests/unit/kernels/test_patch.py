"""Patches as text: read, named, and refused where they reach too far."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.kernels.patch import MOST_PATCHES, read_patch
from mitigauge.kernels.patch_files import read_patches

DIFF = """\
diff --git a/kernel/fork.c b/kernel/fork.c
index 1111111..2222222 100644
--- a/kernel/fork.c
+++ b/kernel/fork.c
@@ -1,2 +1,3 @@
 int a;
+int b;
 int c;
"""
MAIL = f"""\
From 0123456789 Mon Sep 17 00:00:00 2001
From: Series <series@example.org>
Subject: [PATCH v2 3/9] fork: count what is
 counted

Why it is so.
---
 kernel/fork.c | 1 +

{DIFF}--
2.47
"""


def diff(old: str, new: str | None = None) -> str:
    return DIFF.replace("kernel/fork.c", "X").replace("a/X", old).replace("b/X", new or old)


def test_a_mail_has_its_title_and_its_files() -> None:
    patch = read_patch(MAIL, "0003.patch")
    assert patch.title == "fork: count what is counted"
    assert patch.files == ["kernel/fork.c"]


def test_a_bare_diff_is_called_after_its_file() -> None:
    assert read_patch(DIFF, "fix.diff").title == "fix.diff"


@pytest.mark.parametrize(
    "text",
    [
        diff("a/../../etc/passwd"),
        diff("a//etc/passwd"),
        diff("/etc/passwd"),
        diff("a/.git/hooks/post-checkout"),
        diff('"a/with quotes"'),
        "diff --git a/x b/x\nrename from x\nrename to ../../x\n@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_what_reaches_out_of_the_tree_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="touches"):
        read_patch(text, "evil.patch")


@pytest.mark.parametrize(("mode", "kind"), [("120000", "symbolic link"), ("160000", "submodule")])
def test_links_and_submodules_are_refused(mode: str, kind: str) -> None:
    text = DIFF.replace("index 1111111..2222222 100644", f"new file mode {mode}")
    with pytest.raises(InvalidInput, match=kind):
        read_patch(text, "evil.patch")


def test_a_mail_that_is_no_patch_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no hunk"):
        read_patch("From: x\nSubject: Re: nice\n\nLooks good.\n", "reply")


def test_a_binary_diff_is_refused() -> None:
    with pytest.raises(InvalidInput, match="binary"):
        read_patch("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\n", "b")


def test_a_folder_gives_its_patches_in_order_without_the_cover_letter(tmp_path: Path) -> None:
    for name in ("0002-b.patch", "0001-a.patch"):
        (tmp_path / name).write_text(DIFF)
    (tmp_path / "0000-cover-letter.patch").write_text("Subject: [PATCH 0/2] hello\n")
    assert [patch.title for patch in read_patches([tmp_path])] == ["0001-a.patch", "0002-b.patch"]


@pytest.mark.parametrize("encoding", ["7bit", "quoted-printable", "base64"])
def test_a_mailbox_gives_its_patches_whatever_their_encoding(tmp_path: Path, encoding: str) -> None:
    box = mailbox.mbox(tmp_path / "series.mbox")
    for subject, body in (
        ("[PATCH 0/1] cover", "hello\n"),
        ("[PATCH 1/1] one", f"Why.\n---\n\n{DIFF}"),
    ):
        mail = EmailMessage()
        mail["Subject"], mail["From"] = subject, "series@example.org"
        mail.set_content(body, cte=encoding)
        box.add(mail)
    box.close()
    [patch] = read_patches([tmp_path / "series.mbox"])
    assert patch.title == "one"
    assert patch.files == ["kernel/fork.c"]


def test_too_many_patches_are_refused(tmp_path: Path) -> None:
    for number in range(MOST_PATCHES + 1):
        (tmp_path / f"{number:04}.patch").write_text(DIFF)
    with pytest.raises(InvalidInput, match=f"{MOST_PATCHES + 1} patches"):
        read_patches([tmp_path])


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not there"):
        read_patches([tmp_path / "missing.patch"])
    with pytest.raises(InvalidInput, match=r"no \*\.patch"):
        read_patches([tmp_path])
