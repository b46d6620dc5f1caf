"""Patches as text: read, named, and refused where they reach too far."""

from __future__ import annotations

import bz2
import gzip
import lzma
import mailbox
import subprocess
from email.message import EmailMessage
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.kernels.patch import MOST_PATCHES, patch_in, read_patch
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
    patch = patch_in(mail_of(MAIL.split("\n", 1)[1].encode()), "0003.patch")
    assert patch is not None
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
    with pytest.raises(InvalidInput, match="no mails or patches"):
        read_patches([tmp_path])


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("0120000", "symbolic link"), ("00000120000", "symbolic link"), ("+120000", "symbolic link"),
     (" 120000", "symbolic link"), ("2000000000000000120000", "symbolic link"),
     ("0160000", "submodule"), ("0100644", "mode"), ("100600", "mode"), ("x", "mode")],
)  # fmt: skip
@pytest.mark.parametrize(
    "head", ["new file mode {}", "old mode 100644\nnew mode {}", "deleted file mode {}",
             "index 1111111..2222222 {}"],
)  # fmt: skip
def test_a_mode_is_refused_however_it_is_written(mode: str, kind: str, head: str) -> None:
    text = DIFF.replace("index 1111111..2222222 100644", head.format(mode))
    with pytest.raises(InvalidInput, match=kind):
        read_patch(text, "evil.patch")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (diff('"a/x\\ny"'), "touches"),
        (diff("a/x\x0by"), "touches"),
        ("--- x.c\n+++ x.c\n@@ -1 +1 @@\n-a\n+b\n", "without the folder"),
        (f"{DIFF}diff --cc x\n@@@ -1 -1 +1 @@@\n", "belongs to no diff"),
        (f"*** a/x\t1\n--- b/x\t1\n***************\n*** 1 ****\n! a\n{DIFF}", "belongs to no diff"),
        (f"{DIFF}@@ -1,9 +1,9 @@\n a\n", "cut off"),
        (f"words\n@@ -1,9 +1,9 @@\n a\n\n{DIFF}", "belongs to no diff"),
        (f"{DIFF}Binary files a/x and b/x differ\n", "binary"),
        (f"{DIFF}diff --git a/x b/x\n", "belongs to no diff"),
        ("diff --git a/x y b/x z\nold mode 100644\nnew mode 100755\n", "told apart"),
    ],
)
def test_what_is_not_taken_of_a_patch_is_named(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_patch(text, "evil.patch")


def test_diffs_of_other_programs_are_taken() -> None:
    quilt = (
        "Index: linux-7.2/x.c\n" + "=" * 67 + "\n--- linux-7.2.orig/x.c\t2026-01-01 10:00:00 +0000"
        "\n+++ linux-7.2/x.c\t2026-01-01 10:00:01 +0000\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert read_patch(quilt, "quilt").files == ["x.c"]
    old = quilt.replace("\t", " ")
    assert read_patch(old, "no tabs").files == ["x.c"]
    mode = "diff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n"
    assert read_patch(mode, "mode").files == ["run me"]
    removed = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n one\n--- ../../y\n"
    assert read_patch(removed, "removed").files == ["x"]


def numbered(tag: str, body: str = DIFF, who: str = "a@example.org") -> bytes:
    return f"From: {who}\nSubject: [PATCH {tag}] {tag}\n\nWhy.\n---\n{body}".encode()


def box_of(folder: Path, *mails: bytes) -> Path:
    begin = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    (folder / "x.mbox").write_bytes(b"".join(begin + mail + b"\n" for mail in mails))
    return folder / "x.mbox"


def test_a_mailbox_gives_its_newest_revision_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    other = numbered("v2 1/2", DIFF.replace("int b", "int x"), "b@example.org")
    talk = b"From: b@example.org\nSubject: Re: nice\nIn-Reply-To: <1@x>\n\n" + DIFF.encode()
    box = box_of(tmp_path, numbered("1/2"), numbered("2/2"), numbered("v2 2/2"), talk,
                 numbered("v2 1/2"), other, numbered("v2 1/2"))  # fmt: skip
    told: list[str] = []
    assert [patch.title for patch in read_patches([box], told.append)] == ["v2 1/2", "v2 2/2"]
    assert [line.rsplit(": ", 1)[1] for line in sorted(told)] == [
        "it is of v1, and v2 is there", "it is of v1, and v2 is there",
        "it answers another mail", "it is from b@example.org, not from a@example.org",
        "it is the same patch as x.mbox, mail 5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mails", "why"),
    [
        ((numbered("1/3"), numbered("3/3")), "patch 2 of 3 of v1 is missing"),
        ((numbered("1/2"), numbered("2/2", "no diff\n")), "mail 2 has no hunk"),
        ((numbered("1/2"), numbered("2/2"), numbered("2/2", DIFF.replace("int b", "int x"))),
         "mail 3 both are patch 2"),
        ((numbered("1/2"), b"Subject: [PATCH 2/2] h\nContent-Type: text/html\n\n<p>" +
          DIFF.encode()), "its text is HTML"),
        ((numbered("1/2"), b"Subject: [PATCH 2/2] h\nContent-Type: application/pdf\n\nx"),
         "a part of type application/pdf"),
        ((numbered("1/2"), numbered("2/2", "x" * (4 << 20))), "larger than 4 MiB"),
    ],
)  # fmt: skip
def test_nothing_is_built_without_a_patch_that_was_there(
    tmp_path: Path, mails: tuple[bytes, ...], why: str
) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_patches([box_of(tmp_path, *mails)])


@pytest.mark.parametrize(
    ("line", "why"),
    [("x.patch -p0", "is not followed"), ("../x.patch", "no file below"),
     ("/etc/passwd", "no file below"), ("gone.patch", "no file below"),
     ("link.patch", "no file below")],
)  # fmt: skip
def test_a_quilt_series_that_cannot_be_followed_is_refused(
    tmp_path: Path, line: str, why: str
) -> None:
    (tmp_path / "x.patch").write_text(DIFF)
    (tmp_path / "link.patch").symlink_to("/etc/passwd")
    (tmp_path / "series").write_text(f"# ours\nx.patch -p1 # fine\n\n{line}\n")
    with pytest.raises(InvalidInput, match=why):
        read_patches([tmp_path])


def test_a_patch_may_be_attached_and_is_one_where_it_is_inline_too(tmp_path: Path) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "[PATCH] one", "series@example.org"
    mail.set_content(f"Why.\n\n{DIFF}")
    mail.add_attachment(DIFF.encode(), "application", "octet-stream", filename="one.patch")
    (tmp_path / "one.eml").write_bytes(mail.as_bytes())
    [patch] = read_patches([tmp_path])
    assert patch.text == DIFF


def test_revisions_of_a_single_patch_are_alternatives_in_a_mailbox_and_in_a_folder(
    tmp_path: Path,
) -> None:
    def single(version: str, body: str, *, title: str = "toys: Mend", more: str = "") -> bytes:
        heads = f"From: a@example.org\nSubject: [PATCH{version}] {title}\n{more}"
        return f"{heads}\nWhy.\n---\n{body}".encode()

    other = DIFF.replace("int b", "int x")
    mails = (single(" v10", other), single("", DIFF), single(" v9", DIFF))
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, mail in enumerate(mails):
        (folder / f"{number}.patch").write_bytes(mail)
    for path in (folder, box_of(tmp_path, *mails)):
        told: list[str] = []
        [patch] = read_patches([path], told.append)
        assert "int x" in patch.text
        assert [line.rsplit(": ", 1)[1] for line in told] == [
            "it is of v1, and v10 is there", "it is of v9, and v10 is there",
        ]  # fmt: skip
    # A title that changed hangs together by what it answers, or by the change-id.
    first = single("", DIFF, more="Message-ID: <1@x>\n")
    for link in ("In-Reply-To: <1@x>\n", "References: <0@x> <1@x>\n"):
        renamed = single(" v2", other, title="toys: Mend all", more=link)
        [patch] = read_patches([box_of(tmp_path, first, renamed)])
        assert "int x" in patch.text
    # From one patch to two.
    box = box_of(tmp_path, single("", DIFF), single(" v2 1/2", DIFF),
                 single(" v2 2/2", other, title="toys: More"))  # fmt: skip
    assert [patch.title for patch in read_patches([box])] == ["toys: Mend", "toys: More"]
    # Patches without numbers that are not of one title are each one.
    parts = box_of(tmp_path, first, single("", other, title="b", more="In-Reply-To: <1@x>\n"))
    assert len(read_patches([parts])) == 2


def test_a_patch_that_was_sent_twice_with_other_lines_is_refused_by_both_names(
    tmp_path: Path,
) -> None:
    mails = [
        f"From: a@x.org\nSubject: [PATCH{word}] a\n\n---\n{body}".encode()
        for word, body in (("", DIFF), (" RESEND", DIFF.replace("int b", "int x")))
    ]
    with pytest.raises(InvalidInput, match=r"mail 1 and x\.mbox, mail 2 both are patch 1 of v1"):
        read_patches([box_of(tmp_path, *mails)])


def titled(version: str, body: str = DIFF) -> bytes:
    return f"From: a@x.org\nSubject: [PATCH {version}] toys: Mend\n\n---\n{body}".encode()


def test_an_older_revision_that_is_damaged_stops_nothing_and_a_newer_one_does(
    tmp_path: Path,
) -> None:
    torn = DIFF.replace(" int c;", "int c;")
    assert len(read_patches([box_of(tmp_path, titled("v1", torn), titled("v2"))])) == 1
    with pytest.raises(InvalidInput, match=r"mail 2: the hunk .* is cut off or damaged"):
        read_patches([box_of(tmp_path, titled("v1"), titled("v2", torn))])
    cover = b"From: a@example.org\nSubject: [PATCH v2 0/2] toys\n\nHello.\n"
    with pytest.raises(InvalidInput, match="patch 1, 2 of 2 of v2 is missing"):
        read_patches([box_of(tmp_path, numbered("1/2"), numbered("2/2"), cover)])


def test_a_version_that_cannot_be_read_is_named_where_it_must_be_compared(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="mail 2 is of v2b, which is no version"):
        read_patches([box_of(tmp_path, titled("v2"), titled("v2b"))])
    told: list[str] = []
    assert len(read_patches([box_of(tmp_path, titled("v2"), titled("v2.1"))], told.append)) == 1
    assert told == ["left out: x.mbox, mail 1: it is of v2, and v2.1 is there"]


def test_packed_files_are_unpacked_or_named(tmp_path: Path) -> None:
    plain = box_of(tmp_path, numbered("1/2"), numbered("2/2")).read_bytes()
    for pack, end in ((gzip.compress, "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")):
        file = tmp_path / f"x.mbox.{end}"
        file.write_bytes(pack(plain))
        assert len(read_patches([file])) == 2
        file.write_bytes(pack(plain)[:-9])
        with pytest.raises(InvalidInput, match=r"cut off|damaged"):
            read_patches([file])
        file.unlink()
    bomb = tmp_path / "bomb.mbox.gz"
    bomb.write_bytes(gzip.compress(b"\n" * (65 << 20)))
    with pytest.raises(InvalidInput, match="more than 64 MiB"):
        read_patches([bomb])
    bomb.write_bytes(b"\x28\xb5\x2f\xfd" + plain)
    with pytest.raises(InvalidInput, match="it is zstd"):
        read_patches([bomb])
    bomb.write_bytes(plain.decode().encode("utf-16"))
    with pytest.raises(InvalidInput, match="it is UTF-16"):
        read_patches([bomb])


def test_patches_of_a_folder_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 9, 2, 1):
        (tmp_path / f"{number}.patch").write_text(DIFF)
    assert [p.title for p in read_patches([tmp_path])] == [
        "1.patch", "2.patch", "9.patch", "10.patch"]  # fmt: skip


def one_file(old: str, new: str, git: str = "", heads: str = "") -> str:
    line = f"diff --git {git or f'{old} {new}'}\n" if git != "-" else ""
    return f"{line}{heads}--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"


MODES = "old mode 100644\nnew mode 100755\n"
MOVED = "similarity index 90%\nrename from {}\nrename to {}\n"


@pytest.mark.parametrize(
    ("text", "files"),
    [
        (one_file("tools/arch/x86/lib/inat.c", "tools/arch/x86/lib/inat.c"),
         ["tools/arch/x86/lib/inat.c"]),
        (one_file("fs/pipe.c", "fs/pipe.c", "-"), ["fs/pipe.c"]),
        (one_file("Makefile", "Makefile"), ["Makefile"]),
        (one_file("i/fs/pipe.c", "w/fs/pipe.c"), ["fs/pipe.c"]),
        (one_file("c/fs/pipe.c", "o/fs/pipe.c", "-"), ["fs/pipe.c"]),
        (one_file("linux/fs/pipe.c", "linux/fs/pipe.c", "-"), ["fs/pipe.c"]),
        (one_file("kernel.orig/fs/pipe.c", "kernel/fs/pipe.c", "-"), ["fs/pipe.c"]),
        (one_file("fs/pipe.c.orig", "fs/pipe.c", "-"), ["fs/pipe.c"]),
        (one_file("/dev/null", "tools/new.c", "tools/new.c tools/new.c",
                  "new file mode 100644\n"), ["tools/new.c"]),
        (one_file("fs/a.c", "fs/b.c", "", MOVED.format("fs/a.c", "fs/b.c")),
         ["fs/a.c", "fs/b.c"]),
        (one_file("kernel/a.c", "lib/a.c", "", MOVED.format("kernel/a.c", "lib/a.c")),
         ["kernel/a.c", "lib/a.c"]),
        (one_file("a/fs/a b.c\t", "b/fs/c d.c\t", "a/fs/a b.c b/fs/c d.c",
                  MOVED.format("fs/a b.c", "fs/c d.c")), ["fs/a b.c", "fs/c d.c"]),
        (one_file("tools/run me\t", "tools/run me\t", "tools/run me tools/run me"),
         ["tools/run me"]),
        ("diff --git tools/run me tools/run me\n" + MODES, ["tools/run me"]),
        ("diff --git a/tools/run b/tools/run\n" + MODES, ["tools/run"]),
        (one_file('"a/fs/\\303\\244.c"', '"b/fs/\\303\\244.c"'), ["fs/ä.c"]),
        (one_file('"fs/\\303\\244.c"', '"fs/\\303\\244.c"'), ["fs/ä.c"]),
        (one_file('"a/fs/q\\".c"', '"b/fs/q\\".c"'), ['fs/q".c']),
    ],
)  # fmt: skip
def test_names_are_those_of_the_tree_with_and_without_folders_before_them(
    tmp_path: Path, text: str, files: list[str]
) -> None:
    patch = read_patch(text, "x.patch")
    assert patch.files == files
    was = tmp_path / (files[0] if "/dev/null" not in text else "other")
    was.parent.mkdir(parents=True, exist_ok=True)
    was.write_text("a\n" if "/dev/null" not in text else "")
    if "/dev/null" in text:
        patch = read_patch(text.replace("-1 +1", "-0,0 +1").replace("-a\n", ""), "x.patch")
    subprocess.run(["git", "apply", "-p1"], cwd=tmp_path, input=patch.text.encode(), check=True)
    now = tmp_path / files[-1]
    assert now.read_text() == "b\n" if "@@" in text else now.stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (one_file("src/fs/pipe.c", "src/fs/pipe.c"), "both names are the same, without a/ and b/"),
        (one_file("kernel/a.c", "lib/a.c", "-"), "two files, without a/ and b/"),
        (one_file("a/fs/a.c", "b/fs/b.c", "-"), "its heads name two files"),
        (one_file("a/fs/a.c", "b/fs/b.c", "", MOVED.format("fs/x.c", "fs/b.c")),
         "other heads name other files"),
        (one_file("a/fs/a.c", "b/fs/a.c") + one_file("mm/a.c", "mm/a.c"),
         "some have a/ and b/, and some have not"),
        (one_file('"a/fs/\\377.c"', '"b/fs/\\377.c"'), "it is not UTF-8"),
        (one_file('"a/fs/\\n.c"', '"b/fs/\\n.c"'), "touches"),
        (one_file('"a/../\\"x.c"', '"b/../\\"x.c"'), "touches"),
        (one_file('"a/x', '"b/x'), r"touches|told apart"),
    ],
)  # fmt: skip
def test_names_that_may_be_another_file_s_are_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_patch(text, "x.patch")


def test_revisions_that_are_given_one_by_one_are_applied_and_told_of(tmp_path: Path) -> None:
    paths = [tmp_path / "one.patch", tmp_path / "two.patch"]
    for path, version in zip(paths, ("v1", "v2"), strict=True):
        path.write_bytes(titled(version))
    told: list[str] = []
    assert len(read_patches(paths, told.append)) == 2
    assert told == [
        "note: one.patch is v1 and two.patch v2 of 'toys: Mend': both are applied, as they were "
        "given one by one"
    ]
